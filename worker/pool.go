package worker

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/rocwire/rocwire/worker/confine"
)

// pool starts session processes and keeps a few ready, so that a client does not wait for a program to start.
type pool struct {
	spawn   *spawner
	command []string
	seat    func() (Seat, error)
	warm    int

	patience time.Duration // for a process to come up

	log     *slog.Logger
	onStart func(*proc)                                          // told before anybody gets the process
	onGone  func(*proc)                                          // told when it is gone
	cards   func(rec *sessionRecord, msg []byte) ([]byte, error) // answers a msgCards
	joint   func(p *proc, rec *sessionRecord, msg []byte) error  // answers a msgJoint
	shares  shares                                               // of the processes
	told    sync.Once                                            // what the boundary is

	mu      sync.Mutex
	idle    []*proc
	all     map[*proc]struct{}
	filling bool
	closed  bool
	wg      sync.WaitGroup // one for each process
}

// Errors of a session process that is not to be had.
var (
	errDied = errors.New("worker: a session process does not come up")
	errLate = errors.New("worker: a session process has not come up in time")
)

// coolDown is the pause after a session process that could not be started or died before it served anybody.
const coolDown = time.Second

// get returns a process that is ready and serves nobody yet; the caller gives it a client or kills it. When ctx is done nobody waits for it any more, and
// get returns why.
func (p *pool) get(ctx context.Context) (*proc, error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, errStopping
	}
	for len(p.idle) > 0 {
		x := p.idle[0]
		p.idle = p.idle[1:]
		select {
		case <-x.gone:
			continue
		default:
		}
		p.mu.Unlock()
		go p.fill()
		return p.await(ctx, x)
	}
	p.mu.Unlock()
	defer func() { go p.fill() }()
	x, err := p.start(ctx)
	if err != nil {
		return nil, err
	}
	return p.await(ctx, x)
}

// await waits until a process is ready. With an error it is not the caller's any more.
func (p *pool) await(ctx context.Context, x *proc) (*proc, error) {
	select {
	case <-x.ready: // the usual case costs no timer
		return x, nil
	default:
	}
	select {
	case <-x.ready:
		return x, nil
	case <-x.gone:
		return nil, errDied
	case <-ctx.Done():
		err := context.Cause(ctx)
		if errors.Is(err, errLate) {
			x.kill()
		} else {
			p.giveBack(x)
		}
		return nil, err
	}
}

// giveBack takes a process that was meant for a client who has left.
func (p *pool) giveBack(x *proc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.idle) >= p.warm {
		x.kill()
		return
	}
	p.idle = append(p.idle, x)
}

// start makes one process, unless ctx is done before its turn comes.
func (p *pool) start(ctx context.Context) (*proc, error) {
	ours, theirs, err := controlPair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		_ = ours.close()
		return nil, errStopping
	}
	p.wg.Add(1)
	p.mu.Unlock()
	got, seat, err := p.startProcess(ctx, theirs)
	if err != nil {
		p.wg.Done()
		_ = ours.close()
		return nil, err
	}
	x := &proc{cmd: got.cmd, group: got.group, seat: seat, ctl: ours, shares: &p.shares, cards: p.cards, joint: p.joint, log: p.log, up: p.up, gone: make(chan struct{}), ready: make(chan struct{})}
	x.lastHeard.Store(time.Now().UnixNano())
	p.onStart(x)
	x.givePagemap()
	p.mu.Lock()
	p.all[x] = struct{}{}
	closed := p.closed
	p.mu.Unlock()
	if closed {
		x.kill()
	}
	go func() {
		defer p.wg.Done()
		x.listen()
		if rec := x.record(); rec != nil && x.group.OutOfMemory() {
			rec.stop("its process needed more memory than it may have")
		}
		got.release()
		if seat != nil {
			seat.Close()
		}
		p.shares.forget(x)
		p.mu.Lock()
		delete(p.all, x)
		p.mu.Unlock()
		p.onGone(x)
	}()
	return x, nil
}

// startProcess starts a process with its seat, if the backend has any.
func (p *pool) startProcess(ctx context.Context, theirs *os.File) (got started, seat Seat, err error) {
	if p.seat == nil {
		got, err = p.spawn.start(ctx, p.command, theirs, nil)
		return got, nil, err
	}
	if seat, err = p.seat(); err != nil {
		return got, nil, err
	}
	if got, err = p.spawn.start(ctx, p.command, theirs, seat.Files()); err != nil {
		seat.Close()
		return got, nil, err
	}
	seat.Started(got.cmd.Process.Pid)
	return got, seat, nil
}

// fill keeps the number of idle processes.
func (p *pool) fill() {
	p.mu.Lock()
	if p.filling || p.closed {
		p.mu.Unlock()
		return
	}
	p.filling = true
	for len(p.idle) < p.warm && !p.closed {
		p.mu.Unlock()
		ctx, stop := context.WithTimeoutCause(context.Background(), p.patience, errLate)
		x, err := p.start(ctx)
		if err == nil {
			x, err = p.await(ctx, x)
		}
		stop()
		if err != nil {
			p.log.Error("session process does not start", "error", err)
			time.Sleep(coolDown)
			p.mu.Lock()
			break // the next client tries again
		}
		p.mu.Lock()
		p.idle = append(p.idle, x)
	}
	p.filling = false
	p.mu.Unlock()
}

// each calls f for every process there is.
func (p *pool) each(f func(*proc)) {
	p.mu.Lock()
	all := make([]*proc, 0, len(p.all))
	for x := range p.all {
		all = append(all, x)
	}
	p.mu.Unlock()
	for _, x := range all {
		f(x)
	}
}

// close asks every process to end, kills those that have not after grace, and waits for all.
func (p *pool) close(grace time.Duration) {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.each(func(x *proc) { _ = x.ctl.c.CloseWrite() }) // it reads the end and stops; its last report still comes
	t := time.AfterFunc(grace, func() { p.each((*proc).kill) })
	p.wg.Wait()
	t.Stop()
	p.spawn.close()
}

// up tells once what the boundary of session processes is, as the first that comes up has found it.
func (p *pool) up(e confine.Entered) {
	p.told.Do(func() {
		boundary, missing := p.spawn.boundary.Summary(e)
		switch {
		case boundary == "":
			p.log.Warn("sessions are not confined")
		case missing == "":
			p.log.Info("sessions are confined", "by", boundary)
		default:
			p.log.Warn("sessions are confined in part", "by", boundary, "without", missing)
		}
	})
}
