package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/rocwire/rocwire/internal/cutproxy"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/wire"
)

// stranger is whom those come from who are refused: the address of the others must not be penalised for them.
const stranger = "127.0.0.77"

// silence is for how long a worker that is in order may leave all questions unanswered, however busy the machine is.
const silence = time.Minute

// trouble does what happens to a worker, again and again, each at its own pace.
type trouble struct {
	w      *server
	fleet  *fleet
	proxy  *cutproxy.Proxy
	counts *counts
	fail   func(error)
}

// every does something until ctx is done.
func (x *trouble) every(ctx context.Context, d time.Duration, do func(context.Context) error) {
	for t := time.NewTicker(d); ; {
		select {
		case <-ctx.Done():
			t.Stop()
			return
		case <-t.C:
		}
		// What was begun is finished: a question that is given up says nothing of the worker.
		switch err := do(context.WithoutCancel(ctx)); {
		case err == nil:
		case late(err): // the worker gives a question up after some seconds, which a machine with more to do than it can may take
			if x.counts.late.Add(1); time.Since(x.counts.when()) > silence {
				x.fail(fmt.Errorf("no question was answered for %v: %w", silence, err))
			}
		default:
			x.fail(err)
		}
	}
}

// late reports whether a question was not answered in time.
func late(err error) bool {
	return errors.Is(err, smi.ErrTimeout) || errors.Is(err, context.DeadlineExceeded)
}

// cut cuts the connections through the proxy at a byte by chance, or all now.
func (x *trouble) cut(context.Context) error {
	if rand.IntN(30) == 0 {
		x.proxy.CutAll()
	} else {
		x.proxy.Arm(rand.IntN(2), 1+rand.IntN(20000), rand.IntN(2) == 0)
	}
	x.counts.cuts.Add(1)
	return nil
}

// killing kills so often that kills of them are spread evenly over length; 0: once each time. What finds nobody, or takes long, is made up for.
func (x *trouble) killing(kills int, length time.Duration) func(context.Context) error {
	begin := time.Now()
	return func(ctx context.Context) error {
		for tries := 0; ; tries++ {
			due := int64(float64(kills) * min(1, float64(time.Since(begin))/(0.9*float64(length)))) // the last tenth is for those that were missed
			if kills > 0 && x.counts.kills() >= due || tries == 10 || kills == 0 && tries == 1 {
				return nil
			}
			if err := x.kill(ctx); err != nil {
				return err
			}
		}
	}
}

// kill kills a process of clients, a session by the operator's command, or a session's process.
func (x *trouble) kill(ctx context.Context) error {
	how := rand.IntN(3)
	if how == 0 {
		if p := x.fleet.victim(); p != nil && p.cmd.Process.Signal(syscall.SIGKILL) == nil {
			x.counts.clientKills.Add(1)
		}
		return nil
	}
	list, err := x.w.smi.Sessions(ctx)
	if err != nil {
		return fmt.Errorf("asking for sessions: %w", err)
	}
	var victims []smi.Session
	for _, s := range list.Sessions {
		if s.PID > 1 && x.fleet.isVictim(int(s.Client.PID)) { // with many clients most wait for their process
			victims = append(victims, s)
		}
	}
	if len(victims) == 0 {
		return nil
	}
	s := victims[rand.IntN(len(victims))]
	if how == 1 {
		switch err := x.w.smi.KillSession(ctx, s.ID); {
		case err == nil, strings.Contains(err.Error(), "is killed, but does not end"): // within the time that the command waits; that all end is seen at the end
			x.counts.sessionKills.Add(1)
		case !strings.Contains(err.Error(), "no session") && !strings.Contains(err.Error(), "begins or ends"): // it has ended meanwhile
			return fmt.Errorf("killing session %s: %w", s.ID, err)
		}
		return nil
	}
	if isSession(int(s.PID), x.w) && syscall.Kill(int(s.PID), syscall.SIGKILL) == nil {
		x.counts.processKills.Add(1)
	}
	return nil
}

// isSession makes sure that a process is still one of the worker's.
func isSession(pid int, w *server) bool {
	for _, p := range below(w.cmd.Process.Pid) {
		if p == pid {
			return true
		}
	}
	return false
}

func (x *trouble) scrape(ctx context.Context) error {
	_, err := x.w.goroutines(ctx)
	x.counts.scrapes.Add(1)
	return err
}

// ask asks what smi-remote asks.
func (x *trouble) ask(ctx context.Context) error {
	_, err1 := x.w.smi.Snapshot(ctx)
	_, err2 := x.w.smi.Calls(ctx)
	_, err3 := x.w.smi.Server(ctx)
	x.counts.questions.Add(3)
	if err1 == nil || err2 == nil || err3 == nil {
		x.counts.answered.Store(time.Now().UnixNano())
	}
	return errors.Join(err1, err2, err3)
}

// intrude comes with a wrong token, or with something that is no Hello.
func (x *trouble) intrude(ctx context.Context) error {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(stranger)}, Timeout: 10 * time.Second}
	conn, err := d.DialContext(ctx, "tcp", x.w.address)
	if err != nil {
		return nil // its address is penalised
	}
	if rand.IntN(2) == 0 {
		b := make([]byte, 64)
		for i := range b {
			b[i] = byte(rand.Uint32())
		}
		_, _ = conn.Write(b)
		x.counts.badFrames.Add(1)
		return conn.Close()
	}
	c, err := wire.NewClient(ctx, conn, wire.Options{NoShare: true, Hello: wire.Hello{Purpose: "hip", Token: fmt.Sprintf("rocwire_%032x", rand.Uint64())}})
	if err == nil {
		return errors.Join(errors.New("a wrong token was taken"), c.Close())
	}
	x.counts.tokensRefused.Add(1)
	return nil
}
