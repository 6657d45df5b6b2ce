package worker

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/wire"
	"github.com/rocwire/rocwire/worker/audit"
)

// A session whose connection was cut waits for its client: it is parked. The client comes with another connection, whose Hello names the session. The
// parent sees to it that it is the same client, as far as somebody vouches for that, and gives the socket to the session's process. That alone knows
// the secret, and decides.

// DefaultPark is how long hip-worker has a session wait, unless it is told otherwise.
const DefaultPark = 60 * time.Second

var errNoSession = errors.New("there is no such session")

// resume brings a client back to its session. Unless it fails, conn is the session's process's.
func (s *Server) resume(conn net.Conn, from caller, hello *wire.Hello) error {
	s.mu.Lock()
	rec := s.sessions[hello.Resume.Session]
	s.mu.Unlock()
	if rec == nil {
		return s.dead.why(hello.Resume.Session, from.who.Key())
	}
	if rec.who.Key() != from.who.Key() {
		return errNoSession // who comes as somebody else does not learn that there is one
	}
	p := s.serving(rec)
	if p == nil {
		return s.dying(rec)
	}
	packed, err := (&wire.Hello{Resume: hello.Resume}).Append(nil)
	if err != nil {
		return err
	}
	f, security, err := wire.Handover(conn)
	if err != nil {
		return err
	}
	defer f.Close()
	r := resumption{hello: packed, sum: hello.Sum, security: security}
	if err := p.ctl.orderFD(r.encode(), int(f.Fd())); err != nil {
		return s.dying(rec)
	}
	return conn.Close() // the process has its own descriptor
}

// serving is the process that serves a session, nil if there is none.
func (s *Server) serving(rec *sessionRecord) (p *proc) {
	s.pool.each(func(x *proc) {
		if x.record() == rec {
			p = x
		}
	})
	return p
}

// resumption is the content of msgResume.
type resumption struct {
	hello    []byte // MessagePack, of a wire.Hello with nothing but what is to be resumed
	sum      uint32 // wire.Hello.Sum of the one that came
	security []byte // as in start
}

func (r *resumption) encode() []byte {
	e := wire.Enc{B: make([]byte, 0, 16+len(r.hello)+len(r.security))}
	e.U8(msgResume)
	e.Bytes(r.hello)
	e.U32(r.sum)
	e.Bytes(r.security)
	return e.B
}

// decode reads what encode wrote behind the kind.
func (r *resumption) decode(b []byte) error {
	d := wire.NewDec(b)
	r.hello, r.sum, r.security = append([]byte(nil), d.Bytes()...), d.U32(), append([]byte(nil), d.Bytes()...)
	if !d.Done() {
		return fmt.Errorf("%w: resumption", errControl)
	}
	return nil
}

// resume has the connection go on over the socket fd, which it takes over.
func (r *resumption) resume(conn *wire.ServerConn, fd int, log *slog.Logger) {
	hello, err := wire.ParseHello(r.hello)
	hup := -1
	if err == nil {
		hello.Sum = r.sum
		hup, err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, FirstFile)
	}
	if err != nil {
		_ = unix.Close(fd)
		return
	}
	watched := false
	err = conn.ResumeFD(fd, r.security, hello, func(cuts uint64) {
		watched = true
		go watchHangup(hup, conn, cuts)
	})
	if !watched {
		_ = unix.Close(hup)
	}
	if err != nil {
		log.Warn("resumption refused", "error", err)
	}
}

// tellParked has the parent told when the connection is cut, and when it goes on.
func tellParked(opt *wire.ServerOptions, ctl *control) {
	tell := func(parked, closed bool, text string) {
		e := wire.Enc{}
		e.U8(msgParked)
		e.Bool(parked)
		e.Bool(closed)
		e.Str(text[:min(len(text), maxParkedText)])
		_ = ctl.send(e.B, -1) // a parent that is gone needs to know no more
	}
	opt.OnCut = func(err error, closed bool) { tell(true, closed, err.Error()) }
	opt.OnResumed = func(after time.Duration) { tell(false, false, after.Round(time.Millisecond).String()) }
}

const maxParkedText = 1 << 10

// parkedNow takes in a msgParked.
func (r *sessionRecord) parkedNow(msg []byte) error {
	d := wire.NewDec(msg[1:])
	parked, closed, text := d.Bool(), d.Bool(), d.Str()
	if !d.Done() || len(text) > maxParkedText {
		return fmt.Errorf("%w: parked", errControl)
	}
	r.mu.Lock()
	was := r.parked
	r.parked, r.closed, r.parkedAt = parked, closed, time.Now()
	r.mu.Unlock()
	if was != parked && r.onPark != nil {
		r.onPark(parked, printable(text, maxParkedText))
	}
	return nil
}

// logPark says in the log, and resumptions in the record, what has become of a session's connection.
func (s *Server) logPark(rec *sessionRecord) func(parked bool, text string) {
	return func(parked bool, text string) {
		if parked {
			s.cfg.Log.Warn("session parked", "session", rec.id, "for", s.cfg.Park, "reason", text)
			return
		}
		s.cfg.Log.Info("session resumed", "session", rec.id, "after", text)
		s.audit(audit.Resume, rec.from(), "", nil)
	}
}
