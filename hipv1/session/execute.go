package session

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipv1"
)

// execute does what a call says and returns what its reply has behind the code.
func (s *Session) execute(c *call) (any, hip.Error) {
	if c.h.Op >= hipv1.OpMalloc {
		s.place.decide(s.Placer, c.h.Op, s.dialect)
	}
	switch c.h.Op >> 8 {
	case 0: // INIT, SHUTDOWN, PING
		return nil, hip.Success
	case 1:
		return s.aboutDevice(c)
	case 2:
		switch c.h.Op & 0xf0 {
		case 0x00, 0x80:
			return s.memory(c)
		case 0x10:
			return s.copy(c)
		case 0x40, 0x50:
			return s.shared(c)
		case 0x60, 0x70:
			return s.hostMemory(c)
		}
		return s.filled(c)
	case 3:
		return s.ofStream(c)
	case 4:
		return s.ofEvent(c)
	case 5:
		return s.ofModule(c)
	case 6:
		if c.h.Op >= hipv1.OpGraphAddMemcpyNode {
			return s.ofNode(c)
		}
		return s.ofError(c)
	case 7:
		return s.seven(c)
	}
	return nil, hip.ErrorNotSupported
}

// seven is the operations that came last: versions, occupancy, graphs, batches.
func (s *Session) seven(c *call) (any, hip.Error) {
	switch q := c.body.(type) {
	case nil:
		return &hipv1.VersionReply{Version: version}, hip.Success
	case *hipv1.OccupancyMaxPotentialBlockSizeRequest:
		return s.bestBlock(q)
	case *hipv1.OccupancyMaxActiveBlocksPerSMRequest:
		return s.activeBlocks(q)
	case *hipv1.LoadAndGetFunction:
		return s.loadAndGet(c, q)
	case *hipv1.MallocBatchRequest:
		return s.mallocBatch(c, q)
	case *hipv1.HandleBatchRequest:
		return s.handleBatch(c, q)
	case *hipv1.MemPtrGetInfoRequest:
		n, code := s.Runtime.MemPtrGetInfo(s.thread(), hip.Ptr(q.Ptr))
		return &hipv1.MemPtrGetInfoReply{Size: n}, code
	}
	return s.ofGraph(c)
}

// version is that of HIP, whose structs the replies have: 6.4.
const version = 60443483

func (s *Session) ofError(c *call) (any, hip.Error) {
	switch c.h.Op {
	case hipv1.OpGetLastError:
		code := s.heard()
		s.last, s.failed = hip.Success, hip.Success
		return nil, code
	case hipv1.OpPeekAtLastError:
		return nil, s.heard()
	}
	q := c.body.(*hipv1.ErrorStringRequest)
	v := new(hipv1.ErrorStringReply)
	text := hip.Error(q.ErrorCode).Text()
	if c.h.Op == hipv1.OpGetErrorName {
		text = hip.Error(q.ErrorCode).Name()
	}
	hipv1.PutText(v.ErrorString[:], text)
	return v, hip.Success
}

// heard is the client's last error.
func (s *Session) heard() hip.Error {
	if s.failed != hip.Success {
		return s.failed
	}
	return s.last
}
