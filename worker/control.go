package worker

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/wire"
)

// Parent and session process speak over a SOCK_SEQPACKET pair: one datagram is one message, its first byte the kind.
const (
	msgStart   = 1  // parent → session: serve this client; carries the client's socket
	msgReady   = 2  // session → parent: warm, waiting for a client; carries confine.Entered, one byte
	msgReport  = 3  // session → parent: counters, about once a second
	msgEnd     = 4  // session → parent: the session is over, last message
	msgStop    = 5  // parent → session: end; carries the reason for the client
	msgLimits  = 6  // parent → session: its quotas from now on
	msgSlow    = 7  // session → parent: the slowest calls since the last one, as rpcstats.AppendSlow writes them
	msgSpans   = 8  // session → parent: spans of traced calls, as rpctrace.AppendRecords writes them
	msgShare   = 9  // session → parent: a shareRequest; carries what is published
	msgShared  = 10 // parent → session: the shareReply; carries what was fetched
	msgMemory  = 11 // parent → session, right before msgStart: its client shares memory; carries that
	msgPages   = 12 // parent → session, the first: its own page map, which it cannot open; comes along
	msgResume  = 13 // parent → session: a resumption; carries the client's socket
	msgParked  = 14 // session → parent: whether the client's connection is cut, and why or for how long it was
	msgCards   = 15 // session → parent: a question about cards of a client of the earlier protocol
	msgTold    = 16 // parent → session: the answer
	msgChannel = 17 // parent → session, right after msgMemory: how descriptors are passed to its client; carries that
	msgJudged  = 18 // session → parent: what has become of a resumption
	msgJoint   = 19 // session → parent: a jointRequest
	msgJointly = 20 // parent → session: the jointReply
	msgTrim    = 21 // parent → session: give back what is kept of a joint account and not used
)

// maxControl bounds a message in bytes, both ways. The largest is msgStart with a Hello.
const maxControl = 96 << 10

var errControl = errors.New("worker: malformed control message")

// control is one end of the pair. Reads from one goroutine; writes from any.
type control struct {
	c *net.UnixConn
}

// controlPair makes a connected pair: the parent's end and the file that the session process inherits.
func controlPair() (*control, *os.File, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("worker: control socket: %w", err)
	}
	theirs := os.NewFile(uintptr(fds[1]), "control")
	ours, err := controlFrom(os.NewFile(uintptr(fds[0]), "control"))
	if err != nil {
		_ = theirs.Close()
		return nil, nil, err
	}
	return ours, theirs, nil
}

// controlFrom takes over f.
func controlFrom(f *os.File) (*control, error) {
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		return nil, fmt.Errorf("worker: control socket: %w", err)
	}
	u, ok := c.(*net.UnixConn)
	if !ok {
		_ = c.Close()
		return nil, fmt.Errorf("worker: control socket is a %T", c)
	}
	return &control{c: u}, nil
}

// send writes one message and, where fd is not negative, passes that descriptor along.
func (c *control) send(msg []byte, fd int) error {
	if len(msg) == 0 || len(msg) > maxControl {
		return fmt.Errorf("%w: %d bytes", errControl, len(msg))
	}
	var oob []byte
	if fd >= 0 {
		oob = unix.UnixRights(fd)
	}
	_, _, err := c.c.WriteMsgUnix(msg, oob, nil)
	return err
}

// orderTime is how long a process may take to make room for an order.
const orderTime = 2 * time.Second

// order sends a message to a process that may not read.
func (c *control) order(msg []byte) error { return c.orderFD(msg, -1) }

// orderFD is order with a descriptor, -1 for none.
func (c *control) orderFD(msg []byte, fd int) error {
	_ = c.c.SetWriteDeadline(time.Now().Add(orderTime))
	defer func() { _ = c.c.SetWriteDeadline(time.Time{}) }()
	return c.send(msg, fd)
}

// controlBuffers are for messages as they come: a session that says nothing keeps none.
var controlBuffers = sync.Pool{New: func() any { b := make([]byte, maxControl+1); return &b }}

// next waits for a message and gives it to take, whose it is until take returns.
func (c *control) next(take func(msg []byte, fd int) error) error {
	raw, err := c.c.SyscallConn()
	if err != nil {
		return err
	}
	var first [1]byte
	if err := raw.Read(func(fd uintptr) bool {
		_, _, err := unix.Recvfrom(int(fd), first[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		return !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR)
	}); err != nil {
		return err
	}
	buf := controlBuffers.Get().(*[]byte)
	defer controlBuffers.Put(buf)
	msg, fd, err := c.receive(*buf)
	if err != nil {
		return err
	}
	return take(msg, fd)
}

// receive reads one message into buf (maxControl+1 bytes) and the descriptor that came with it, -1 for none.
func (c *control) receive(buf []byte) (msg []byte, fd int, err error) {
	oob := make([]byte, unix.CmsgSpace(4*4))
	n, oobn, flags, _, err := c.c.ReadMsgUnix(buf, oob)
	if err != nil {
		return nil, -1, err
	}
	fd, err = oneDescriptor(oob[:oobn])
	switch {
	case err != nil:
	case n == 0: // how a sequenced-packet socket says that the other end is closed
		err = net.ErrClosed
	case n > maxControl || flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0:
		err = fmt.Errorf("%w: too long", errControl)
	}
	if err != nil {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
		return nil, -1, err
	}
	return buf[:n], fd, nil
}

// oneDescriptor takes the first descriptor out of a control message's ancillary data and closes any other.
func oneDescriptor(oob []byte) (int, error) {
	if len(oob) == 0 {
		return -1, nil
	}
	cmsgs, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return -1, fmt.Errorf("%w: %w", errControl, err)
	}
	first := -1
	for i := range cmsgs {
		fds, err := unix.ParseUnixRights(&cmsgs[i])
		if err != nil {
			continue
		}
		for _, fd := range fds {
			if first < 0 {
				first = fd
				unix.CloseOnExec(fd)
			} else {
				_ = unix.Close(fd)
			}
		}
	}
	return first, nil
}

func (c *control) close() error { return c.c.Close() }

// start is the content of msgStart.
type start struct {
	Session uint64
	Version uint16 // of the client's frames
	InitID  uint32 // request id of its INIT
	Hello   []byte // MessagePack
	Limits  []limit
	Joint   uint8 // which quotas the session shares with others: jointMemory, jointCompute
	Trace   bool  // somebody wants to know of traced calls
	Modules bool  // the worker keeps modules by what they are
	Cards   []int // of those that are served, the ones that the client may use; nil: all
	// HostMemory is how much of it the session may take, in bytes; 0: no limit.
	HostMemory uint64
	// Security is of wire.Handover: as secret as what the client sends, so it goes no other way.
	Security []byte
	HelloSum uint32        // wire.Hello.Sum
	Park     time.Duration // how long the session waits for a client whose connection was cut
	First    []byte        // of a client of the earlier protocol (hipv1): the header of the message that is to be executed first
}

func (s *start) encode() []byte {
	e := wire.Enc{B: make([]byte, 0, 64+len(s.Hello)+len(s.Security)+maxLimit*len(s.Limits)+4*len(s.Cards))}
	e.U8(msgStart)
	e.U64(s.Session)
	e.U16(s.Version)
	e.U32(s.InitID)
	e.Bytes(s.Hello)
	appendLimits(&e, s.Limits)
	e.U8(s.Joint)
	e.Bool(s.Trace)
	e.U64(s.HostMemory)
	e.Bytes(s.Security)
	e.U32(s.HelloSum)
	e.Bool(s.Modules)
	appendCards(&e, s.Cards)
	e.I64(int64(s.Park))
	e.Bytes(s.First)
	return e.B
}

// decode reads what encode wrote behind the kind.
func (s *start) decode(b []byte) error {
	d := wire.NewDec(b)
	s.Session, s.Version, s.InitID, s.Hello = d.U64(), d.U16(), d.U32(), d.Bytes()
	s.Limits = decodeLimits(&d)
	s.Joint = d.U8()
	s.Trace = d.Bool()
	s.HostMemory = d.U64()
	if s.Security = d.Bytes(); len(s.Security) == 0 {
		s.Security = nil
	}
	s.HelloSum = d.U32()
	s.Modules = d.Bool()
	s.Cards = decodeCards(&d)
	s.Park = time.Duration(d.I64())
	if s.First = d.Bytes(); len(s.First) == 0 {
		s.First = nil
	}
	if !d.Done() {
		return fmt.Errorf("%w: start", errControl)
	}
	return nil
}
