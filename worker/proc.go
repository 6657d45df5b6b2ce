package worker

import (
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/wire"
	"github.com/rocwire/rocwire/worker/cgroup"
	"github.com/rocwire/rocwire/worker/confine"
)

var errStopping = errors.New("worker: stopping")

// proc is a session process as the parent knows it.
type proc struct {
	cmd    *exec.Cmd
	group  *cgroup.Group // nil where there are none
	seat   Seat          // nil if the backend has none
	ctl    *control
	shares *shares // of all session processes
	cards  func(rec *sessionRecord, msg []byte) ([]byte, error)
	joint  func(p *proc, rec *sessionRecord, msg []byte) error
	log    *slog.Logger
	up     func(confine.Entered)
	gone   chan struct{} // closed when the process has been waited for

	ready          chan struct{} // closed by the first msgReady
	readyOnce      sync.Once
	lastHeard      atomic.Int64  // unix nanoseconds of the last message
	ended          atomic.Bool   // msgEnd came
	host           atomic.Uint64 // bytes of this machine's memory that it may have; 0 as long as nobody has said
	pressed        atomic.Bool   // room is being made for it
	pressedJointly atomic.Bool   // likewise, in its joint account
	overran        atomic.Bool   // it had more when that was looked at last
	trims          trims

	mu      sync.Mutex
	session *sessionRecord // nil while the process is idle
}

func (p *proc) pid() int { return p.cmd.Process.Pid }

// kill ends the process at once, wherever it stands, and all it may have started.
func (p *proc) kill() {
	p.group.Kill()
	_ = p.cmd.Process.Kill()
}

// serve hands a client's socket to the process, and what is shared with the client. The descriptors stay the caller's.
func (p *proc) serve(rec *sessionRecord, st *start, fd int, memory wire.Memory) error {
	p.mu.Lock()
	p.session = rec
	p.mu.Unlock()
	p.lastHeard.Store(time.Now().UnixNano())
	var err error
	if memory.FD >= 0 {
		err = p.ctl.sendMemory(memory)
	}
	if err == nil {
		err = p.ctl.send(st.encode(), fd)
	}
	if err != nil {
		p.mu.Lock()
		p.session = nil
		p.mu.Unlock()
		return fmt.Errorf("worker: hand over: %w", err)
	}
	return nil
}

func (p *proc) record() *sessionRecord {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.session
}

// listen reads what the process reports until it is gone. The process may run anything by then: a message that is not well-formed ends it.
func (p *proc) listen() {
	for p.ctl.next(func(msg []byte, fd int) error {
		err := p.take(msg, fd)
		if err != nil {
			p.log.Error("session process sent nonsense and is killed", "pid", p.pid(), "error", err)
			p.kill()
		}
		return err
	}) == nil {
	}
	_ = p.ctl.close()
	p.waitOrKill(2 * time.Second)
}

// take does what a message says, and takes the descriptor that came along, -1 for none.
func (p *proc) take(msg []byte, fd int) error {
	if msg[0] == msgShare && p.record() != nil {
		p.lastHeard.Store(time.Now().UnixNano())
		return p.shares.serve(p, msg, fd)
	}
	if fd >= 0 { // nothing else has something to pass
		_ = unix.Close(fd)
	}
	if rec := p.record(); msg[0] == msgCards && rec != nil {
		p.lastHeard.Store(time.Now().UnixNano())
		answer, err := p.cards(rec, msg)
		if err != nil {
			return err
		}
		return p.ctl.order(answer)
	}
	if rec := p.record(); msg[0] == msgJoint && rec != nil {
		p.lastHeard.Store(time.Now().UnixNano())
		return p.joint(p, rec, msg)
	}
	return p.message(msg)
}

func (p *proc) message(msg []byte) error {
	p.lastHeard.Store(time.Now().UnixNano())
	switch msg[0] {
	case msgReady:
		if len(msg) != 2 {
			return fmt.Errorf("%w: ready", errControl)
		}
		p.readyOnce.Do(func() {
			p.up(confine.Entered(msg[1]))
			close(p.ready)
		})
		return nil
	case msgReport, msgSlow, msgSpans, msgParked, msgJudged, msgEnd:
		rec := p.record()
		if rec == nil {
			return fmt.Errorf("%w: report without a session", errControl)
		}
		switch msg[0] {
		case msgReport:
			return rec.report(msg)
		case msgSlow:
			return rec.slow(msg)
		case msgSpans:
			return rec.traced(msg)
		case msgParked:
			return rec.parkedNow(msg)
		case msgJudged:
			return rec.judged(msg)
		}
		p.ended.Store(true)
		return rec.end(msg)
	}
	return fmt.Errorf("%w: kind %d", errControl, msg[0])
}

// waitOrKill gives a process that has closed its control socket a moment to exit.
func (p *proc) waitOrKill(grace time.Duration) {
	t := time.AfterFunc(grace, p.kill)
	defer t.Stop()
	_ = p.cmd.Wait()
	close(p.gone)
}

// stalled says whether the process serves somebody and has said nothing for so long.
func (p *proc) stalled(limit time.Duration) bool {
	return p.record() != nil && time.Since(time.Unix(0, p.lastHeard.Load())) > limit
}
