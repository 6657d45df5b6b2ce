package rocm

import "github.com/rocwire/rocwire/hip"

// For the library no stream blocks, see nullStreams.

// StreamCreateWithPriority is hipStreamCreateWithPriority.
func (r *Runtime) StreamCreateWithPriority(t hip.Thread, flags uint32, priority int32) (hip.Stream, hip.Error) {
	s, err := r.streamCreateWithPriority(t, flags|hip.StreamNonBlocking, priority)
	if err == hip.Success && flags&hip.StreamNonBlocking == 0 {
		r.nulls.add(t.Device, s)
	}
	return s, err
}

// StreamGetFlags is hipStreamGetFlags.
func (r *Runtime) StreamGetFlags(t hip.Thread, s hip.Stream) (uint32, hip.Error) {
	flags, err := r.streamGetFlags(t, s)
	if p := r.nulls.find(t, s); err == hip.Success && p.of != nil {
		flags &^= hip.StreamNonBlocking
	}
	return flags, err
}

// ExtStreamCreateWithCUMask is hipExtStreamCreateWithCUMask. All such streams block, in the library, too.
func (r *Runtime) ExtStreamCreateWithCUMask(t hip.Thread, mask []uint32) (hip.Stream, hip.Error) {
	s, err := r.extStreamCreateWithCUMask(t, mask)
	if err == hip.Success {
		r.nulls.add(t.Device, s)
	}
	return s, err
}
