package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"github.com/rocwire/rocwire/worker/cgroup"
	"github.com/rocwire/rocwire/worker/confine"
)

// spawner starts session processes from one thread that lives as long as the parent: PR_SET_PDEATHSIG means the death of the thread
// that forked, not of its process. The thread is confined, and session processes are born so.
type spawner struct {
	boundary *confine.Boundary
	requests chan spawnRequest
	done     chan struct{}
}

type spawnRequest struct {
	make  func() *exec.Cmd
	group *cgroup.Group
	reply chan spawned
}

// spawned is a session process, and what is to be called when it is gone.
type spawned struct {
	cmd     *exec.Cmd
	release func()
	err     error
}

func newSpawner(cfg *Config) (*spawner, error) {
	if len(cfg.Command) == 0 {
		return nil, errors.New("worker: no command for session processes")
	}
	b, err := confine.New(cfg.Confine, cfg.Backend.Needs, cfg.Command[0])
	if err != nil {
		return nil, err
	}
	s := &spawner{boundary: b, requests: make(chan spawnRequest), done: make(chan struct{})}
	confined := make(chan error, 1)
	go s.run(confined)
	if err := <-confined; err != nil {
		b.End()
		return nil, err
	}
	return s, nil
}

func (s *spawner) run(confined chan<- error) {
	runtime.LockOSThread() // and never unlocked: the thread ends with this goroutine, which ends with the parent
	defer s.boundary.Close()
	layOutFromBelow()
	err := s.boundary.Thread()
	confined <- err
	if err != nil {
		return
	}
	for {
		select {
		case r := <-s.requests:
			var p spawned
			p.cmd, p.release, p.err = s.boundary.Start(r.make, r.group)
			r.reply <- p
		case <-s.done:
			return
		}
	}
}

// close ends the thread, and with it every process it started that is still there.
func (s *spawner) close() {
	close(s.done)
	s.boundary.End()
}

// logGrace is how long the log of a process that is gone is still read: a child of its own, where it can have one, would keep it open.
const logGrace = time.Second

// started is a session process that was started.
type started struct {
	cmd     *exec.Cmd
	group   *cgroup.Group
	release func() // to be called when the process is gone
}

// start runs command with theirs as descriptor 3 and files from 4 on. A start whose turn has not come is given up when ctx is done.
func (s *spawner) start(ctx context.Context, command []string, theirs *os.File, files []*os.File) (p started, err error) {
	if p.group, err = s.boundary.Group(); err != nil {
		return p, err
	}
	defer func() {
		if err != nil {
			p.group.Remove()
		}
	}()
	r := spawnRequest{group: p.group, reply: make(chan spawned, 1)}
	r.make = func() *exec.Cmd {
		cmd := exec.Command(command[0], command[1:]...)
		log := &sessionLog{to: os.Stderr, cmd: cmd}
		cmd.Stdout, cmd.Stderr = log, log // a pipe: standard output is for scripts to read, and the parent's log for people
		cmd.WaitDelay = logGrace
		cmd.ExtraFiles = append([]*os.File{theirs}, files...)
		// A group of its own: Ctrl-C reaches the parent, and the parent ends the sessions in order.
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
		return cmd
	}
	select {
	case s.requests <- r:
	case <-ctx.Done():
		return p, context.Cause(ctx)
	case <-s.done:
		return p, errStopping
	}
	got := <-r.reply
	if got.err != nil {
		return p, fmt.Errorf("worker: session process: %w", got.err)
	}
	p.cmd = got.cmd
	log := p.cmd.Stderr.(*sessionLog)
	p.release = func() {
		p.group.Remove() // with what it may have started
		got.release()    // nobody is that user any more
		log.end()
	}
	return p, nil
}
