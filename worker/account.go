package worker

import (
	"runtime/debug"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/wire"
	"github.com/rocwire/rocwire/worker/hostmem"
)

// goBase is what Go's heap has beside what the account knows: the program, buffers, statistics.
const goBase = 48 << 20

// account limits the host memory of the session to so many bytes. Before anything is served.
func (s *session) account(limit uint64) {
	if limit == 0 {
		return
	}
	s.mem = hostmem.New(limit)
	s.mostQueued = int64(hostmem.Queue(limit))
	s.handles.Books, s.handles.Cost = s.mem, hostmem.Cost
	s.stage.limit = int(min(hostmem.Staging(limit), uint64(s.stage.limit)))
	debug.SetMemoryLimit(int64(limit + goBase)) // garbage is memory, too: collect it rather than grow
}

// takes takes n bytes of host memory, and replies with an error if there is no room.
func (s *session) takes(r *wire.Request, n uint64) bool {
	if !s.mem.Take(n) {
		s.reply(r, hip.ErrorOutOfMemory, nil)
		return false
	}
	return true
}

// staged is memory for a copy on a stream. There is none if the session is over, or if the copy is larger than all memory for copies, which it replies.
func (s *session) staged(r *wire.Request, device int32, st hip.Stream, n uint64) []byte {
	if n > uint64(s.stage.limit)-stagingCost {
		s.reply(r, hip.ErrorOutOfMemory, nil)
		return nil
	}
	return s.stage.take(s.streamDevice(device, st), int(n))
}

// readAll reads the whole bulk, which the caller has accounted for.
func readAll(r *wire.Request) ([]byte, error) {
	b := make([]byte, r.BulkLen)
	return b, r.ReadBulk(b)
}

// graphSize is what is kept of an operation of an executable graph.
func graphSize(op *hip.GraphOp) uint64 {
	n := uint64(hostmem.GraphOp) + 4*uint64(len(op.After)) + 64*uint64(len(op.Batch))
	if op.Kernel != nil {
		n += 2 * uint64(len(op.Kernel.Args)) // the client's, and the runtime's
	}
	return n
}

// readGraph reads a graph, or changes of one, with room for what is made of it: operations as count finds them announced, and their arguments. The
// caller gives the room back. False: the request is answered, or the connection is gone.
func (s *session) readGraph(r *wire.Request, count func([]byte) uint64) (b []byte, room uint64, ok bool) {
	room = 3 * uint64(r.BulkLen)
	if !s.takes(r, room) {
		return nil, 0, false
	}
	b, err := readAll(r)
	if err != nil {
		s.mem.Give(room)
		return nil, 0, false
	}
	n := count(b) * hostmem.GraphOp
	if !s.takes(r, n) {
		s.mem.Give(room)
		return nil, 0, false
	}
	return b, room + n, true
}
