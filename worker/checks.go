package worker

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/wire"
	"github.com/rocwire/rocwire/worker/hostmem"
)

// What generated dispatch asks before it calls the runtime, beside devices and handles.

// listed replies with an error if a list of n elements is more than a reply may hold.
func (s *session) listed(r *wire.Request, n uint64) bool {
	if n > hiprpc.MaxList {
		s.reply(r, hip.ErrorInvalidValue, nil)
		return false
	}
	return true
}

// room replies with an error if the session holds as many objects of a kind as it may, or there is no memory for another one.
func (s *session) room(r *wire.Request, k hip.HandleKind) bool {
	if s.handles.Full(k) || !s.mem.Fits(hostmem.Cost(k)) {
		s.reply(r, hip.ErrorOutOfMemory, nil)
		return false
	}
	return true
}

// checkDrvResource judges a texture's resource. Addresses are the runtime's to judge, and so is no array at all: whether its devices
// know images comes first. Whether they know arrays with levels comes before which one it is: one that is none is no array.
func (s *session) checkDrvResource(d *hip.DrvResourceDesc) hip.Error {
	return s.checkArray(hip.ResourceType(d.ResType), &d.Res[0]) // the same numbers
}

// checkResource is the same for the runtime API's description.
func (s *session) checkResource(d *hip.ResourceDesc) hip.Error {
	return s.checkArray(d.ResType, &d.Res[0])
}

func (s *session) checkArray(of hip.ResourceType, h *uint64) hip.Error {
	switch of {
	case hip.ResourceTypeArray:
		if *h != 0 {
			return s.handles.check(hip.HandleArray, *h)
		}
	case hip.ResourceTypeMipmappedArray:
		if s.handles.check(hip.HandleMipmappedArray, *h) != hip.Success {
			*h = 0
		}
	case hip.ResourceTypeLinear, hip.ResourceTypePitch2D:
	default:
		return hip.ErrorInvalidValue // a library takes it for what it knows
	}
	return hip.Success
}
