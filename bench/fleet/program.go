package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// program is one that is measured while it serves.
type program struct {
	process
	cmd  *exec.Cmd
	done chan error

	mu  sync.Mutex
	log []byte // its end
}

// start starts one of those that were built; each is told what it says. It is killed when ctx is done.
func (b *bench) start(ctx context.Context, each func(line []byte), name string, args ...string) (*program, error) {
	e := &program{cmd: exec.CommandContext(ctx, filepath.Join(b.bin, name), args...), done: make(chan error, 1)}
	e.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	e.cmd.Env = []string{"ROCWIRE_CONFIG=/dev/null"}
	errs, err := e.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := e.cmd.Start(); err != nil {
		return nil, err
	}
	e.pid = e.cmd.Process.Pid
	go func() {
		lines := bufio.NewScanner(errs)
		for lines.Scan() {
			each(lines.Bytes())
			e.mu.Lock()
			e.log = append(append(e.log, lines.Bytes()...), '\n')
			e.log = e.log[max(0, len(e.log)-2000):]
			e.mu.Unlock()
		}
		e.done <- e.cmd.Wait()
	}()
	return e, nil
}

func (e *program) tail() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return string(bytes.TrimSpace(e.log))
}

// end has it end; an error is that it did not end well.
func (e *program) end() error {
	name := filepath.Base(e.cmd.Path)
	_ = e.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-e.done:
		if err != nil {
			return fmt.Errorf("%s: %w: %s", name, err, e.tail())
		}
		return nil
	case <-time.After(time.Minute):
		_ = e.cmd.Process.Kill()
		<-e.done
		return errors.New(name + " had not ended a minute after it was told to")
	}
}
