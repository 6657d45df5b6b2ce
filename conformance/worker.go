package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"time"
)

// worker is the hip-worker that the programs talk to.
type worker struct {
	cmd   *exec.Cmd
	port  string
	ended chan struct{} // closed when the process has ended
}

// errWorker says that what programs report is not of them.
var errWorker = errors.New("the worker has ended")

// gone tells whether the worker has ended, by itself or by somebody's hand.
func (w *worker) gone() bool {
	select {
	case <-w.ended:
		return true
	default:
		return false
	}
}

var listening = regexp.MustCompile(`port (\d+)\b`)

// startWorker starts a worker with simulated cards on a free port.
func startWorker(ctx context.Context, o *options, flags ...string) (*worker, error) {
	return startWorkerWith(ctx, o, nil, append([]string{"--backend", "sim"}, flags...)...)
}

// startWorkerWith starts a worker with more in its environment.
func startWorkerWith(ctx context.Context, o *options, env []string, flags ...string) (*worker, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(o.bin, "hip-worker"), append([]string{"--port", "0"}, flags...)...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	log, err := os.Create(filepath.Join(os.TempDir(), fmt.Sprintf("rocwire-conformance-%d.log", os.Getpid())))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd.Stderr = log
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("hip-worker: %w (make build first)", err)
	}
	fmt.Fprintln(os.Stderr, "conformance: the worker's log is", log.Name())
	in := bufio.NewScanner(out)
	for in.Scan() { // where it serves metrics may come first
		if m := listening.FindStringSubmatch(in.Text()); m != nil {
			w := &worker{cmd: cmd, port: m[1], ended: make(chan struct{})}
			go func() {
				_ = cmd.Wait()
				close(w.ended)
			}()
			return w, nil
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	return nil, fmt.Errorf("hip-worker did not say where it listens (%v)", in.Err())
}

func (w *worker) stop() {
	_ = w.cmd.Process.Signal(syscall.SIGTERM)
	<-w.ended
}
