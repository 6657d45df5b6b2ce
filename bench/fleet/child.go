package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// What the processes of the fleet are called, by which this program knows that it is one.
const (
	serveWorkers = "serve-workers"
	serveClients = "serve-clients"
)

// request is a line of what a process is told, answered by a line.
type request struct {
	Grow int    // so many there are to be; 0: only tell
	Ill  *bool  // of workers: whether the first one has a card in trouble from now on
	At   int    // of clients: how many workers there are
	Port string // of clients: the workers'
}

// reply is its answer.
type reply struct {
	Err     string        `json:",omitempty"`
	Workers *workersStats `json:",omitempty"`
	Clients *clientsStats `json:",omitempty"`
}

// serve is such a process. It ends when nobody tells it anything any more.
func serve(what string) error {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) == nil {
		more := syscall.Rlimit{Cur: 1 << 18, Max: 1 << 18}
		if limit.Max < more.Max && syscall.Setrlimit(syscall.RLIMIT_NOFILE, &more) != nil { // only root may
			limit.Cur = limit.Max
			_ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit) // it is then what it was
		}
	}
	answer := func(request) (reply, error) { return reply{}, errors.New("no process of that name") }
	switch what {
	case serveWorkers:
		w, err := newWorkers()
		if err != nil {
			return err
		}
		defer w.close()
		answer = func(q request) (reply, error) {
			err := w.grow(q.Grow)
			if q.Ill != nil && len(w.all) > 0 {
				w.all[0].ill.Store(*q.Ill)
			}
			s := w.stats()
			return reply{Workers: &s}, err
		}
	case serveClients:
		c := &clients{}
		defer c.close()
		answer = func(q request) (reply, error) {
			var err error
			if q.Grow > 0 {
				err = c.begin(q.Grow, q.At, q.Port)
			}
			return reply{Clients: &clientsStats{Open: len(c.open)}}, err
		}
	}
	in, out := json.NewDecoder(bufio.NewReader(os.Stdin)), json.NewEncoder(os.Stdout)
	for {
		var q request
		if err := in.Decode(&q); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		r, err := answer(q)
		if err != nil {
			r.Err = err.Error()
		}
		if err := out.Encode(r); err != nil {
			return err
		}
	}
}

// child is such a process, as its parent sees it.
type child struct {
	process
	cmd *exec.Cmd
	in  io.WriteCloser
	out *json.Decoder
}

// startChild starts one, which is killed when ctx is done: whoever waits for its answer then gets an error.
func startChild(ctx context.Context, what string) (*child, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, exe, what)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL} // Ctrl-C is for the parent
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &child{process: process{cmd.Process.Pid}, cmd: cmd, in: in, out: json.NewDecoder(out)}, nil
}

// tell says something and waits for the answer.
func (c *child) tell(q request) (r reply, err error) {
	if err = json.NewEncoder(c.in).Encode(q); err == nil {
		err = c.out.Decode(&r)
	}
	if err == nil && r.Err != "" {
		err = errors.New(r.Err)
	}
	return r, err
}

// end has the process end by itself; an error is that it did not end well.
func (c *child) end() error {
	_ = c.in.Close()
	if err := c.cmd.Wait(); err != nil {
		return fmt.Errorf("%s: %w", c.cmd.Args[1], err)
	}
	return nil
}
