package hipv1

import (
	"encoding/binary"
	"errors"
)

// MaxArgs bounds the arguments of a launch, and the parameters that a function is described by.
const MaxArgs = 64

// KernelArg says where in a launch's data an argument is.
type KernelArg struct {
	Size   uint32
	Offset uint32
}

// ParamDesc describes a parameter in April's dialect.
type ParamDesc struct {
	Offset    uint32
	Size      uint32
	IsPointer uint8
	_         [3]uint8
}

// Launch is the request of a launch in any dialect. Every argument lies within Data.
type Launch struct {
	LaunchKernelRequest
	Args []KernelArg
	Data []byte
}

// Whole reports whether the data is the kernel's argument segment as it lies in memory, and not one argument after the other.
func (l *Launch) Whole() bool { return l.LaunchFlags == 1 }

// Arg is the bytes of an argument.
func (l *Launch) Arg(i int) []byte {
	a := l.Args[i]
	return l.Data[a.Offset:][:a.Size]
}

// parseLaunch reads a launch by its dialect. Where that is not known, it takes the form in which everything fits to the byte, if there is one only.
func parseLaunch(d Dialect, b []byte) (any, int, error) {
	var l *Launch
	var err error
	switch d {
	case February:
		l, err = launchOf(launchEarlier, b)
	case April:
		l, err = launchOf(launchApril, b)
	default:
		early, err1 := launchOf(launchEarlier, b)
		late, err2 := launchOf(launchApril, b)
		is, isn := err1 == nil && early.exact(), err2 == nil && late.exact()
		switch {
		case is && isn:
			err = violation("a launch that can be read in two ways")
		case is:
			l = early
		case isn:
			l = late
		default:
			err = errors.Join(violation("a launch in whose %d bytes its arguments do not lie", len(b)), err1, err2)
		}
	}
	if err != nil {
		return nil, 0, err
	}
	return l, len(b), nil
}

// launchOf reads a launch whose fixed part has so many bytes.
func launchOf(size int, b []byte) (*Launch, error) {
	if len(b) < size {
		return nil, violation("a launch of %d bytes", len(b))
	}
	var all [launchApril]byte
	copy(all[:], b[:size])
	l := new(Launch)
	if _, err := binary.Decode(all[:], le, &l.LaunchKernelRequest); err != nil {
		return nil, err
	}
	if l.NumArgs > MaxArgs {
		return nil, violation("a launch with %d arguments", l.NumArgs)
	}
	rest := b[size:]
	if len(rest) < 8*int(l.NumArgs) {
		return nil, violation("a launch of %d bytes with %d arguments", len(b), l.NumArgs)
	}
	l.Args = make([]KernelArg, l.NumArgs)
	for i := range l.Args {
		l.Args[i] = KernelArg{le.Uint32(rest[8*i:]), le.Uint32(rest[8*i+4:])}
	}
	l.Data = rest[8*len(l.Args):]
	for i, a := range l.Args {
		if uint64(a.Offset)+uint64(a.Size) > uint64(len(l.Data)) {
			return nil, violation("argument %d has %d bytes at %#x of a launch with %d", i, a.Size, a.Offset, len(l.Data))
		}
	}
	return l, nil
}

// exact reports whether the arguments end where the data does.
func (l *Launch) exact() bool {
	end := uint64(0)
	for _, a := range l.Args {
		end = max(end, uint64(a.Offset)+uint64(a.Size))
	}
	return end == uint64(len(l.Data))
}
