package worker

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/calls/rpctrace"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/internal/loglimit"
	"github.com/rocwire/rocwire/internal/pagewatch"
	"github.com/rocwire/rocwire/wire"
	"github.com/rocwire/rocwire/worker/confine"
	"github.com/rocwire/rocwire/worker/quota"
)

// Descriptors of a session process.
const (
	controlFD = 3
	// FirstFile is the descriptor of the first of its seat's files in a session process.
	FirstFile = 4
)

// Opened is a backend's runtime in a session process.
type Opened struct {
	Runtime       hip.Runtime
	Name          string // for the client: "sim" or "rocm"
	ChecksHandles bool   // the runtime answers an error to a handle that is none
	// Faults sets who is told, at once and from any goroutine, when a stream or a device's context fails. May be nil.
	Faults func(report func(device int32, s hip.Stream, code hip.Error, detail string))
	// Output sets who takes what kernels print, for standard output or standard error, from any goroutine and before the runtime tells anybody
	// that the kernel has ended. May be nil.
	Output func(write func(stderr bool, text []byte))
	// Settle has Output's write given what kernels that have ended have printed. It is called before the client is told of anything. May be nil:
	// Output keeps its promise by itself.
	Settle func()
	// GivesUp sets who is told, on a goroutine of its own, when the runtime has given up this process: nothing may be asked of it any more, and what was
	// may never return; with the reason. May be nil: it never does, or ends the process.
	GivesUp func(told func(reason string))
	// Untranslated is how often kernel code stayed slow, see smi.SessionTotals. May be nil: it never does.
	Untranslated func() uint64
	// Ended is called when the client has gone, before the process ends. May be nil.
	Ended func()
}

// Session is what a backend needs to know to open a runtime for a client.
type Session struct {
	ID     uint64
	Hello  *wire.Hello
	Offer  *hiprpc.Offer // of the Hello
	Broker hip.Broker    // of what sessions share; to be asked once the session is served
	Cards  []int         // of those that the backend serves, the ones that the client may use, by position; nil: all
}

// SessionProcess says how a session process works.
type SessionProcess struct {
	// Prepare does what can be done before there is a client, so that a warm process is quick. May be nil.
	Prepare func() error
	// Open opens the runtime.
	Open    func(Session) (Opened, error)
	Version string
	Log     *slog.Logger
}

// Run is the main function of a session process: it waits for a client on descriptor 3, serves it until it goes, and returns. The caller
// then exits the process, whatever still runs in it.
func (p *SessionProcess) Run() error {
	unix.CloseOnExec(controlFD)
	p.Log = loglimit.Logger(p.Log)
	defer loglimit.Flush(p.Log)
	ctl, err := controlFrom(os.NewFile(controlFD, "control"))
	if err != nil {
		return err
	}
	if p.Prepare != nil {
		if err := p.Prepare(); err != nil {
			return err
		}
	}
	pagewatch.Prepare()
	// Everything from here on happens within the boundary, and nothing before has had to do with a client.
	entered, err := confine.Enter()
	if err != nil {
		return err
	}
	if err := ctl.send([]byte{msgReady, byte(entered)}, -1); err != nil {
		return nil // the parent is gone
	}
	buf := make([]byte, maxControl+1)
	msg, fd, err := ctl.receive(buf)
	if err == nil && msg[0] == msgPages && fd >= 0 {
		pagewatch.UsePagemap(fd)
		msg, fd, err = ctl.receive(buf)
	}
	memory := notShared
	if err == nil {
		memory, msg, fd, err = ctl.takeMemory(msg, fd, buf)
	}
	if err != nil {
		return nil // the parent has ended, or does not need this process
	}
	var st start
	if msg[0] != msgStart || fd < 0 || st.decode(msg[1:]) != nil {
		return fmt.Errorf("%w: start", errControl)
	}
	hello, err := wire.ParseHello(st.Hello)
	if err != nil {
		_ = unix.Close(fd)
		return err
	}
	hello.Protocol = st.Version
	offer, err := hiprpc.ParseOffer(hello.Details)
	if err != nil {
		_ = unix.Close(fd)
		return err
	}
	if hungUp(fd) { // it cannot come back either: it never heard of a session
		_ = unix.Close(fd)
		_ = ctl.send(encodeEnd(errLeft.Error()), -1)
		return nil
	}
	hup, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, FirstFile)
	if err != nil {
		_ = unix.Close(fd)
		return err
	}
	if len(st.First) > 0 {
		return p.serveV1(ctl, fd, hup, Session{ID: st.Session, Hello: hello, Offer: offer, Cards: st.Cards}, &st)
	}
	if memory.FD >= 0 { // there is nothing to cut, and bytes are sent in less time than it takes to say what they are
		st.Park, st.Modules = 0, false
	}
	opt := wire.ServerOptions{Protocol: hello.Protocol, HelloSum: st.HelloSum, Heartbeat: hello.Heartbeat(), Park: st.Park, Alone: true}
	tellParked(&opt, ctl)
	conn, err := connectionOn(fd, memory, st.Security, opt)
	if err != nil {
		_ = unix.Close(hup)
		return err
	}
	go watchHangup(hup, conn, 0)
	go endHanging(conn, ctl, p.Log)
	return p.serve(ctl, conn, Session{ID: st.Session, Hello: hello, Offer: offer, Cards: st.Cards}, &st)
}

// serve is one session, from the Welcome to its end.
func (p *SessionProcess) serve(ctl *control, conn *wire.ServerConn, sess Session, st *start) error {
	b := newBroker(ctl)
	sess.Broker = b
	log := p.Log.With("session", sess.ID)
	w := wire.Welcome{Version: p.Version, Session: sess.ID, HeartbeatMS: uint32(sess.Hello.Heartbeat() / time.Millisecond)}
	opened, err := p.Open(sess)
	if err != nil {
		log.Error("the runtime does not open", "error", err)
		w.Code, w.Error = int32(hip.ErrorNoDevice), err.Error()
		var code hip.Error
		if errors.As(err, &code) && code != hip.Success {
			w.Code = int32(code)
		}
		err = conn.Welcome(w)
		conn.Close("")
		return err
	}
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1) // for who reads, see wire.ServerOptions.Alone; the runtime has taken what it needs
	s := newSession(opened.Runtime, conn, log)
	s.nearOn(conn)
	s.account(st.HostMemory)
	within := s.limit()
	defer within.Close()
	b.bound(within, st)
	if st.Trace {
		s.trace = newTracer(sess.Hello)
	}
	s.parks = st.Park > 0
	if st.Modules {
		s.contents = b
	}
	s.handles.own = opened.ChecksHandles
	if opened.Output != nil {
		opened.Output(s.output)
	}
	s.settle, s.untranslated = opened.Settle, opened.Untranslated
	if opened.Faults != nil {
		opened.Faults(func(device int32, st hip.Stream, code hip.Error, detail string) {
			s.fault(s.fails.life.Load(), 0, device, st, code, detail)
		})
	}
	if opened.GivesUp != nil {
		opened.GivesUp(func(reason string) {
			s.givenUp(reason)
			conn.Close(reason)
			p.exit(ctl, reason)
		})
	}
	w.Backend = opened.Name
	if err := s.agree(&w, sess.Offer, sess.Hello.Features); err != nil {
		return err
	}
	if err := conn.Welcome(w); err != nil {
		return nil // the client went away before it was welcomed
	}
	r := newReporter(ctl, conn.Stats, s)
	s.client = r.client
	stop := make(chan struct{})
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		r.run(stop)
	}()
	go func() { // the parent says that it is over, or does so by closing its end, or by dying
		reason := orders(ctl, within, b, &orderTakers{conn: conn})
		b.stop()
		conn.Close(reason)
		time.Sleep(time.Second)
		p.exit(ctl, reason) // the line itself hangs
	}()
	err = conn.Serve(s)
	s.end()
	if opened.Ended != nil {
		opened.Ended()
	}
	reason := byClient
	if err != nil {
		reason = said(err)
		log.Warn("session ended", "reason", reason)
	} else {
		log.Debug("session ended")
	}
	close(stop)
	select {
	case <-finished:
	case <-time.After(time.Second):
	}
	_ = ctl.send(encodeEnd(reason), -1)
	return nil
}

// exit ends the process, whatever runs in it.
func (p *SessionProcess) exit(ctl *control, reason string) {
	loglimit.Flush(p.Log)
	_ = ctl.send(encodeEnd(reason), -1)
	os.Exit(0)
}

// orderTakers are who takes some orders; nil where they make no sense.
type orderTakers struct {
	conn  *wire.ServerConn // resumptions
	cards *v1Cards         // what is known of cards
}

// orders follows what the parent says until the session is to end, and gives the reason for that.
func orders(ctl *control, within *quota.Runtime, b *broker, to *orderTakers) (reason string) {
	buf := make([]byte, maxControl+1)
	for {
		msg, fd, err := ctl.receive(buf)
		if err == nil && msg[0] == msgShared {
			var a shareReply
			if a.decode(msg[1:]) == nil {
				a.Shared.FD = fd
				b.answer(a.ID, a)
			}
			continue
		}
		switch {
		case err == nil && msg[0] == msgResume && fd >= 0:
			var r resumption
			if to.conn == nil || r.decode(msg[1:]) != nil {
				_ = unix.Close(fd)
				continue
			}
			go r.resume(to.conn, fd, ctl)
		case err == nil && msg[0] == msgTold && to.cards != nil:
			to.cards.told(msg)
		case err == nil && msg[0] == msgJointly && b.account != nil:
			var a jointReply
			if a.decode(msg[1:]) == nil {
				b.account.answer(a.ID, a)
			}
		case err == nil && msg[0] == msgTrim && b.account != nil:
			go b.account.trim(within)
		case err == nil && msg[0] == msgLimits:
			d := wire.NewDec(msg[1:])
			if list := decodeLimits(&d); d.Done() {
				setLimits(within, b.cards, list)
			}
		case err == nil && msg[0] == msgStop:
			return string(msg[1:])
		default:
			return "the worker stops"
		}
	}
}

// agree completes the Welcome by what the session and its client, who offers and wants something, have in common.
func (s *session) agree(w *wire.Welcome, offer *hiprpc.Offer, wanted []string) (err error) {
	var chosen hiprpc.Chosen
	s.span, chosen.Unit = s.choose(offer, wanted)
	chosen.Range, chosen.Known = s.span, s.known()
	w.Features = wire.GrantFeatures(wanted, s.features())
	s.times.told = w.HasFeature(rpcstats.Feature)
	s.functions = w.HasFeature(hiprpc.FeatureFunctions)
	w.Details, err = chosen.Append(nil)
	return err
}

// choose takes the first range that the client has and the runtime can have, too: all of it, or of a client that is alone in its range a part. It
// also gives the unit in which the client places, 0 for that of pages.
func (s *session) choose(o *hiprpc.Offer, features []string) (hip.Span, uint64) {
	if s.placer == nil {
		return hip.Span{}, 0
	}
	unit := s.placer.Unit()
	switch {
	case unit == 0 || unit != hip.Granule && !slices.Contains(features, FeatureUnits):
		s.placer = nil
		return hip.Span{}, 0
	case unit == hip.Granule:
		unit = 0
	}
	for _, part := range []bool{false, true} {
		for _, r := range o.Ranges {
			if r.Base%hip.Granule != 0 || r.Size%(2*hip.Granule) != 0 || r.Size == 0 || part && o.Parts != 0 {
				continue
			}
			own := hiprpc.OwnSpan(r, o.Part, o.Parts)
			if own.Size == 0 {
				continue
			}
			if got, code := s.placer.ReserveRange(r, own, part); code == hip.Success {
				return got, unit
			}
		}
	}
	return hip.Span{}, 0
}

// Features that a session may have.
const (
	// FeatureDirect: device memory is sent from where it lies, so a copy from the device may have any size.
	FeatureDirect = "direct"
	// FeatureParts: the session can be one of several that share a range of addresses.
	FeatureParts = "parts"
	// FeatureUnits: the client can place memory in units larger than a page, and the runtime places its own outside of the range.
	FeatureUnits = "units"
	// FeatureClaims: host memory may have its own addresses on the worker, too.
	FeatureClaims = "claims"
)

func (s *session) features() []string {
	list := []string{wire.FeatureTiming, rpcstats.Feature, wire.FeaturePacked, FeatureParts, FeatureUnits, FeatureClaims, hiprpc.FeatureFunctions, wire.FeatureIntegrity}
	if s.trace != nil {
		list = append(list, rpctrace.Feature)
	}
	if s.direct != nil {
		list = append(list, FeatureDirect)
	}
	if s.parks {
		list = append(list, wire.FeatureResume)
	}
	if s.contents != nil {
		list = append(list, hiprpc.FeatureContent)
	}
	if s.near != nil {
		list = append(list, hiprpc.FeatureNear)
	}
	return list
}
