package worker

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/internal/poll"
)

// Regions of host memory on a runtime whose device memory this process cannot reach: what is compared and written is copied, on streams of their own,
// which wait for nothing that the client does.

// regionPiece is how much of a region is compared at once, a multiple of hiprpc.Block.
const regionPiece = stagingUnit

// manyRuns is how many runs of changed bytes are written one by one. More are written together with what lies between them, if nothing else can write there.
const manyRuns = 64

// clearRegion makes new memory zero.
func (s *session) clearRegion(t hip.Thread, addr hip.Ptr, size uint64) hip.Error {
	st, code := s.host.streams.On(s.rt, t)
	if code == hip.Success {
		code = s.rt.MemsetAsync(t, addr, 0, size, st)
	}
	if code == hip.Success {
		code = s.settled(t, st)
	}
	return code
}

// settled waits for one of the session's own streams. It is asked about: what AMD's library waits for may come by the line that waits.
func (s *session) settled(t hip.Thread, st hip.Stream) (code hip.Error) {
	poll.Until(func() bool { code = s.rt.StreamQuery(t, st); return code != hip.ErrorNotReady })
	return code
}

// moveRegion copies between a region and staging memory, and waits for it.
func (s *session) moveRegion(x *hostRegion, dst, src hip.Ptr, n int, kind hip.MemcpyKind) hip.Error {
	t := hip.Thread{Device: x.device}
	st, code := s.host.streams.On(s.rt, t)
	if code == hip.Success {
		code = s.rt.MemcpyAsync(t, dst, src, uint64(n), kind, st)
	}
	if code == hip.Success {
		code = s.settled(t, st)
	}
	return code
}

// pullRegion is the difference between one piece of a region's device memory and its twin, and the offset after it.
func (s *session) pullRegion(x *hostRegion, addr hip.Ptr, from int) ([]byte, int, hip.Error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.size == 0 || from > x.size {
		return nil, 0, hip.ErrorInvalidValue
	}
	if from == x.size {
		return nil, from, hip.Success
	}
	if from%hiprpc.Block != 0 {
		return nil, 0, hip.ErrorInvalidValue
	}
	buf := s.stage.take(x.device, min(x.size-from, regionPiece))
	if buf == nil {
		return nil, 0, hip.ErrorUnknown // the session is over
	}
	defer s.stage.give(buf)
	if code := s.moveRegion(x, addressOf(buf), addr+hip.Ptr(from), len(buf), hip.MemcpyDeviceToHost); code != hip.Success {
		return nil, 0, code
	}
	diff, n := hiprpc.AppendDiff(nil, buf, x.twin[from:from+len(buf)], 0, hiprpc.MaxDiff)
	return diff, from + n, hip.Success
}

// pushRegion writes a difference to a region's device memory and to its twin. Only changed bytes are written: kernels may write others.
func (s *session) pushRegion(x *hostRegion, addr hip.Ptr, diff []byte, from int) hip.Error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if hiprpc.CheckDiff(diff, x.size, from) != nil {
		return hip.ErrorInvalidValue
	}
	runs, lo, hi, bytes := 0, x.size, 0, 0
	_ = hiprpc.DiffRuns(diff, x.size, from, func(off int, data []byte) { // it was checked
		lo, hi = min(lo, off), off+len(data)
		runs, bytes = runs+1, bytes+len(data)
	})
	if runs == 0 {
		return hip.Success
	}
	code := hip.Success
	if runs > manyRuns && s.nothingRuns() {
		code = s.mergeRegion(x, addr, diff, from, lo, hi)
	} else {
		code = s.writeRuns(x, addr, diff, from, bytes)
	}
	if code != hip.Success {
		return code
	}
	if hiprpc.ApplyDiff(x.twin, x.twin, diff, from) != nil {
		return hip.ErrorInvalidValue
	}
	return hip.Success
}

// writeRuns writes every run of changed bytes for itself.
func (s *session) writeRuns(x *hostRegion, addr hip.Ptr, diff []byte, from, bytes int) hip.Error {
	t := hip.Thread{Device: x.device}
	st, code := s.host.streams.On(s.rt, t)
	if code != hip.Success {
		return code
	}
	buf := s.stage.take(x.device, bytes)
	if buf == nil {
		return hip.ErrorUnknown // the session is over
	}
	defer s.stage.give(buf)
	at := 0
	_ = hiprpc.DiffRuns(diff, x.size, from, func(off int, data []byte) { // it was checked
		if code == hip.Success {
			n := copy(buf[at:], data)
			code = s.rt.MemcpyAsync(t, addr+hip.Ptr(off), addressOf(buf[at:]), uint64(n), hip.MemcpyHostToDevice, st)
			at += n
		}
	})
	if e := s.settled(t, st); code == hip.Success {
		code = e
	}
	return code
}

// mergeRegion writes all from the first changed byte to the last, with what is there now between them.
func (s *session) mergeRegion(x *hostRegion, addr hip.Ptr, diff []byte, from, lo, hi int) hip.Error {
	for ; lo < hi; lo += regionPiece {
		if code := s.mergePiece(x, addr, diff, from, lo, min(hi, lo+regionPiece)); code != hip.Success {
			return code
		}
	}
	return hip.Success
}

func (s *session) mergePiece(x *hostRegion, addr hip.Ptr, diff []byte, from, lo, hi int) hip.Error {
	buf := s.stage.take(x.device, hi-lo)
	if buf == nil {
		return hip.ErrorUnknown // the session is over
	}
	defer s.stage.give(buf)
	if code := s.moveRegion(x, addressOf(buf), addr+hip.Ptr(lo), len(buf), hip.MemcpyDeviceToHost); code != hip.Success {
		return code
	}
	changed := false
	_ = hiprpc.DiffRuns(diff, x.size, from, func(off int, data []byte) { // it was checked
		if first, end := max(off, lo), min(off+len(data), hi); first < end {
			copy(buf[first-lo:], data[first-off:end-off])
			changed = true
		}
	})
	if !changed {
		return hip.Success
	}
	return s.moveRegion(x, addr+hip.Ptr(lo), addressOf(buf), len(buf), hip.MemcpyHostToDevice)
}

// nothingRuns says that no device has anything to do. It is asked on the line: what comes later is not there yet. A stream that was destroyed may have.
func (s *session) nothingRuns() bool {
	if s.handles.Lost(hip.HandleStream) {
		return false
	}
	for d := range s.devices {
		if s.rt.StreamQuery(hip.Thread{Device: d}, hip.StreamNull) != hip.Success {
			return false
		}
	}
	for _, h := range s.handles.List(hip.HandleStream) {
		if s.rt.StreamQuery(hip.Thread{Device: s.streamDevice(0, hip.Stream(h))}, hip.Stream(h)) != hip.Success {
			return false
		}
	}
	return true
}
