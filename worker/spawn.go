package worker

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// spawner starts session processes from one thread that lives as long as the parent: PR_SET_PDEATHSIG means the death of the thread
// that forked, not of its process.
type spawner struct {
	requests chan spawnRequest
	done     chan struct{}
}

type spawnRequest struct {
	cmd   *exec.Cmd
	reply chan error
}

func newSpawner() *spawner {
	s := &spawner{requests: make(chan spawnRequest), done: make(chan struct{})}
	go s.run()
	return s
}

func (s *spawner) run() {
	runtime.LockOSThread() // and never unlocked: the thread ends with this goroutine, which ends with the parent
	for {
		select {
		case r := <-s.requests:
			r.reply <- r.cmd.Start()
		case <-s.done:
			return
		}
	}
}

// close ends the thread, and with it every process it started that is still there.
func (s *spawner) close() { close(s.done) }

// start runs command with theirs as descriptor 3 and files from 4 on.
func (s *spawner) start(command []string, theirs *os.File, files []*os.File) (*exec.Cmd, error) {
	if len(command) == 0 {
		return nil, fmt.Errorf("worker: no command for session processes")
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr // standard output is the parent's, for scripts to read
	cmd.ExtraFiles = append([]*os.File{theirs}, files...)
	// A group of its own: Ctrl-C reaches the parent, and the parent ends the sessions in order.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	r := spawnRequest{cmd, make(chan error, 1)}
	select {
	case s.requests <- r:
	case <-s.done:
		return nil, errStopping
	}
	if err := <-r.reply; err != nil {
		return nil, fmt.Errorf("worker: session process: %w", err)
	}
	return cmd, nil
}
