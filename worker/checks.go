package worker

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/wire"
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

// room replies with an error if the session holds as many objects of a kind as it may.
func (s *session) room(r *wire.Request, k hip.HandleKind) bool {
	if s.handles.Full(k) {
		s.reply(r, hip.ErrorOutOfMemory, nil)
		return false
	}
	return true
}

// checkDrvResource judges the handle in a texture's resource. Addresses are the runtime's to judge, and so is no array at all: whether
// its devices know images comes first.
func (s *session) checkDrvResource(d *hip.DrvResourceDesc) hip.Error {
	if d.Res[0] == 0 {
		return hip.Success
	}
	switch hip.ResourceType(d.ResType) { // the same numbers
	case hip.ResourceTypeArray:
		return s.handles.check(hip.HandleArray, d.Res[0])
	case hip.ResourceTypeMipmappedArray:
		return s.handles.check(hip.HandleMipmappedArray, d.Res[0])
	}
	return hip.Success
}

// checkResource is the same for the runtime API's description.
func (s *session) checkResource(d *hip.ResourceDesc) hip.Error {
	if d.Res[0] == 0 {
		return hip.Success
	}
	switch d.ResType {
	case hip.ResourceTypeArray:
		return s.handles.check(hip.HandleArray, d.Res[0])
	case hip.ResourceTypeMipmappedArray:
		return s.handles.check(hip.HandleMipmappedArray, d.Res[0])
	}
	return hip.Success
}
