package worker

import (
	"errors"
	"fmt"
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
	id, err := rec.comes(from)
	if err != nil {
		return err
	}
	r := resumption{id: id, hello: packed, sum: hello.Sum, security: security}
	if err := p.ctl.orderFD(r.encode(), int(f.Fd())); err != nil {
		_ = rec.came(id)
		return s.dying(rec)
	}
	return conn.Close() // the process has its own descriptor
}

// mostComers bounds those who want to resume one session and of whom its process has not yet said what has become.
const mostComers = 64

var errComers = errors.New("too many want to go on with this session at once")

// comes notes who wants to resume the session, and gives that a number.
func (r *sessionRecord) comes(from caller) (id uint32, err error) {
	from.session = r.name()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.comers) >= mostComers {
		return 0, errComers
	}
	if r.comers == nil {
		r.comers = map[uint32]caller{}
	}
	r.lastComer++
	r.comers[r.lastComer] = from
	return r.lastComer, nil
}

// came is who that was, nil if there was nobody.
func (r *sessionRecord) came(id uint32) *caller {
	r.mu.Lock()
	defer r.mu.Unlock()
	from, ok := r.comers[id]
	if !ok {
		return nil
	}
	delete(r.comers, id)
	return &from
}

// judged takes in a msgJudged.
func (r *sessionRecord) judged(msg []byte) error {
	d := wire.NewDec(msg[1:])
	id, refusal := d.U32(), d.Str()
	if !d.Done() || len(refusal) > maxParkedText {
		return fmt.Errorf("%w: judged", errControl)
	}
	from := r.came(id)
	if from == nil {
		return fmt.Errorf("%w: judged, and nobody has come", errControl)
	}
	if refusal == "" {
		r.mu.Lock()
		r.where = from.peer.String()
		r.mu.Unlock()
	}
	if r.onJudged != nil {
		r.onJudged(*from, printable(refusal, maxParkedText))
	}
	return nil
}

// logJudged says in the log and the record what has become of somebody who wanted to resume a session.
func (s *Server) logJudged(from caller, refusal string) {
	if refusal == "" {
		s.audit(audit.Resume, from, "", nil)
		return
	}
	s.refused(from, &wire.Hello{Purpose: PurposeHIP}, errors.New(refusal))
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
	id       uint32 // for the answer
	hello    []byte // MessagePack, of a wire.Hello with nothing but what is to be resumed
	sum      uint32 // wire.Hello.Sum of the one that came
	security []byte // as in start
}

func (r *resumption) encode() []byte {
	e := wire.Enc{B: make([]byte, 0, 20+len(r.hello)+len(r.security))}
	e.U8(msgResume)
	e.U32(r.id)
	e.Bytes(r.hello)
	e.U32(r.sum)
	e.Bytes(r.security)
	return e.B
}

// decode reads what encode wrote behind the kind.
func (r *resumption) decode(b []byte) error {
	d := wire.NewDec(b)
	r.id, r.hello, r.sum, r.security = d.U32(), append([]byte(nil), d.Bytes()...), d.U32(), append([]byte(nil), d.Bytes()...)
	if !d.Done() {
		return fmt.Errorf("%w: resumption", errControl)
	}
	return nil
}

// resume has the connection go on over the socket fd, which it takes over, and tells the parent what has become of that.
func (r *resumption) resume(conn *wire.ServerConn, fd int, ctl *control) {
	judged := func(refusal string) {
		e := wire.Enc{}
		e.U8(msgJudged)
		e.U32(r.id)
		e.Str(refusal[:min(len(refusal), maxParkedText)])
		_ = ctl.send(e.B, -1)
	}
	hello, err := wire.ParseHello(r.hello)
	hup := -1
	if err == nil {
		hello.Sum = r.sum
		hup, err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, FirstFile)
	}
	if err != nil {
		_ = unix.Close(fd)
		judged(said(err))
		return
	}
	watched := false
	err = conn.ResumeFD(fd, r.security, hello, func(cuts uint64) {
		watched = true
		judged("")
		go watchHangup(hup, conn, cuts)
	})
	if !watched {
		_ = unix.Close(hup)
		judged(said(err))
	}
}

// said is what an error says beside the addresses of its connection, which are known, or were another's.
func said(err error) string {
	e := (*wire.Error)(nil)
	switch {
	case !errors.As(err, &e):
		return err.Error()
	case e.Reason == "":
		return e.Kind.Error()
	case e.Kind == wire.ErrLost, e.Kind == wire.ErrRefused: // of a session that has ended, or was not resumed
		return e.Reason
	}
	return fmt.Sprintf("%v: %s", e.Kind, e.Reason)
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

// logPark says in the log what has become of a session's connection.
func (s *Server) logPark(rec *sessionRecord) func(parked bool, text string) {
	return func(parked bool, text string) {
		if parked {
			s.cfg.Log.Warn("session parked", "session", rec.id, "for", s.cfg.Park, "reason", text)
			return
		}
		s.cfg.Log.Info("session resumed", "session", rec.id, "after", text)
	}
}
