package session

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/graph"
	"github.com/rocwire/rocwire/hipv1"
)

// Session is one client's.
type Session struct {
	Config
	in      *bufio.Reader
	out     []byte // a reply
	buf     []byte // of copies, once there was one
	dialect hipv1.Dialect
	broken  error // what ends the session after the reply

	device  int32
	devices int32
	flags   map[int32]uint32 // by device, as SET_DEVICE_FLAGS said
	failed  hip.Error        // of a call without a reply, that the client has not heard of
	last    hip.Error        // for GET_LAST_ERROR

	given     uint64 // the last name
	streams   table[stream]
	events    table[event]
	modules   table[*module]
	functions table[*function]
	pools     table[hip.MemPool]
	poolNames map[hip.MemPool]uint64
	current   map[int32]hip.MemPool // by device, as DEVICE_SET_MEM_POOL said
	own       map[int32]hip.Stream  // by device: hipStreamPerThread
	execs     map[graph.ID]uint64   // what an executable graph has of the account
	nodes     uint64                // that are in the account
	mem       regions
	place     placing
	cache     cache
	graphs    *graph.Space
	captures  *graph.Captures
}

// New makes a session. The runtime's devices must be those that the client may use.
func New(c Config) *Session {
	c.defaults()
	s := &Session{
		Config: c, in: bufio.NewReaderSize(c.Conn, 64<<10), flags: map[int32]uint32{}, poolNames: map[hip.MemPool]uint64{}, current: map[int32]hip.MemPool{},
		own: map[int32]hip.Stream{}, execs: map[graph.ID]uint64{},
	}
	if n, code := c.Runtime.GetDeviceCount(); code == hip.Success {
		s.devices = n
	}
	s.graphs = graph.NewSpace(graph.Hooks{Free: func(device int32, p hip.Ptr) {
		s.mem.remove(uint64(p))
		_ = c.Runtime.Free(hip.Thread{Device: device, ID: threadID}, p) // nobody is left to hear of it
	}})
	s.captures = graph.NewCaptures(s.graphs, func() hip.Runtime { return c.Runtime }, func() {})
	return s
}

// threadID is that of a client's calls: it has one thread.
const threadID = 1

func (s *Session) thread() hip.Thread { return hip.Thread{Device: s.device, ID: threadID} }

// Serve executes what the client sends until it ends the session or goes away; any other end is an error that says why. first is the header of a
// message that was read already, nil if none was.
func (s *Session) Serve(first *hipv1.Header) error {
	for {
		h, err := s.next(first)
		first = nil
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		err = s.message(h)
		if h.Op == hipv1.OpShutdown { // who says so need not wait for the answer
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// next reads a header; io.EOF is the client's end.
func (s *Session) next(first *hipv1.Header) (hipv1.Header, error) {
	if first != nil {
		return *first, nil
	}
	var b [hipv1.HeaderSize]byte
	if _, err := io.ReadFull(s.in, b[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return hipv1.Header{}, errors.New("the client has gone in the middle of a message")
		}
		return hipv1.Header{}, err
	}
	h, err := hipv1.ParseHeader(b[:])
	if err == nil && h.Flags&hipv1.FlagResponse != 0 {
		err = fmt.Errorf("%w: a response from a client, to %v", hipv1.ErrProtocol, h.Op)
	}
	return h, err
}

// message executes one message.
func (s *Session) message(h hipv1.Header) error {
	begin := time.Now()
	s.Began(h.Op)
	c, code, err := s.read(h)
	var v any
	switch {
	case err != nil:
		code = hip.ErrorInvalidValue
	case code == hip.Success && h.Op.SMI():
		return s.aboutCards(c, begin)
	case code == hip.Success:
		v, code = s.execute(c)
		err, s.broken = s.broken, nil
	}
	if err == nil && c.in.N > 0 {
		err = s.skip(c)
	}
	code = s.judge(h, code)
	s.Ended(h.Op, code, time.Since(begin))
	if !h.NoReply() && c.sent == nil {
		if werr := s.reply(h, int32(code), v); err == nil {
			err = werr
		}
	}
	if c.sent != nil && err == nil {
		err = c.sent()
	}
	return err
}

// judge keeps what the client is not told now, and gives it what it was not told before.
func (s *Session) judge(h hipv1.Header, code hip.Error) hip.Error {
	switch {
	case h.Op == hipv1.OpGetLastError || h.Op == hipv1.OpPeekAtLastError:
		return code
	case code == hip.Success && !h.NoReply() && tells(h.Op):
		code, s.failed = s.failed, hip.Success
	}
	if code == hip.Success || code == hip.ErrorNotReady {
		return code
	}
	s.last = code
	if h.NoReply() {
		s.Log.Warn("call without a reply failed", "op", h.Op.String(), "error", code.Error())
		if s.failed == hip.Success {
			s.failed = code
		}
	}
	return code
}

// tells reports whether the answer to a call is also one to those before it that got none.
func tells(op hipv1.Op) bool {
	switch op {
	case hipv1.OpDeviceSynchronize, hipv1.OpStreamSynchronize, hipv1.OpStreamQuery, hipv1.OpEventSynchronize, hipv1.OpEventQuery, hipv1.OpEventElapsedTime:
		return true
	}
	return false
}

// reply sends a reply.
func (s *Session) reply(h hipv1.Header, code int32, v any) error {
	if code != 0 {
		v = nil
	}
	s.out = hipv1.AppendReply(s.out[:0], h, s.dialect, code, v, 0)
	return s.write(s.out)
}

// write sends bytes, and does not wait for ever for a client that does not read.
func (s *Session) write(b []byte) error {
	if err := s.Conn.SetWriteDeadline(time.Now().Add(s.Stall)); err != nil {
		return err
	}
	_, err := s.Conn.Write(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("the client has not read a reply for %v", s.Stall)
	}
	return err
}
