package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// counts is what happened, so far.
type counts struct {
	ok, lost, wrong, openings, refused            atomic.Int64
	cuts, clientKills, sessionKills, processKills atomic.Int64
	scrapes, questions, tokensRefused, badFrames  atomic.Int64
	late                                          atomic.Int64
	answered                                      atomic.Int64 // when a question was, in Unix nanoseconds
}

func (c *counts) when() time.Time { return time.Unix(0, c.answered.Load()) }

func (c *counts) kills() int64 {
	return c.clientKills.Load() + c.sessionKills.Load() + c.processKills.Load()
}

func (c *counts) String() string {
	return fmt.Sprintf("%d programs right, %d ended by a kill, %d wrong, %d told to try again later; %d cuts, %d of them of a handshake; killed: %d clients, %d sessions by command, %d session processes; %d scrapes, %d questions, %d of them not answered in time, %d wrong tokens and %d malformed greetings refused",
		c.ok.Load(), c.lost.Load(), c.wrong.Load(), c.refused.Load(), c.cuts.Load(), c.openings.Load(), c.clientKills.Load(), c.sessionKills.Load(), c.processKills.Load(),
		c.scrapes.Load(), c.questions.Load(), c.late.Load(), c.tokensRefused.Load(), c.badFrames.Load())
}

// kind is how a process of clients comes to the worker, and whether it or its sessions may be killed. One that may not loses nothing.
type kind struct {
	name   string
	env    []string
	victim bool
	cut    bool // its connections are; what it may lose then is the handshake
}

// fleet is the processes of clients.
type fleet struct {
	self     string
	counts   *counts
	each     int // clients of a process
	programs int // of a session, at most
	pause    time.Duration
	fail     func(error)

	mu       sync.Mutex
	all      map[int]*process
	stopping bool
	wg       sync.WaitGroup
}

type process struct {
	kind kind
	cmd  *exec.Cmd
	in   io.Closer
}

// start starts a process of clients, and another one each time it was killed.
func (f *fleet) start(k kind) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopping {
		return nil
	}
	cmd := exec.Command(f.self, "client", fmt.Sprint(f.each), fmt.Sprint(rand.Uint64()), fmt.Sprint(f.programs), f.pause.String())
	cmd.Env = append(os.Environ(), k.env...)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		return err
	}
	p := &process{k, cmd, in}
	f.all[cmd.Process.Pid] = p
	f.wg.Go(func() { f.follow(p, out) })
	return nil
}

func (f *fleet) follow(p *process, out io.Reader) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		word, what, _ := strings.Cut(lines.Text(), " ")
		switch {
		case word == "ok":
			f.counts.ok.Add(1)
		case word == "refused":
			f.counts.refused.Add(1)
		case p.kind.victim && (word == "lost" || word == "opening"):
			f.counts.lost.Add(1)
		case p.kind.cut && word == "opening":
			f.counts.openings.Add(1)
		default:
			f.counts.wrong.Add(1)
			f.fail(fmt.Errorf("a client by %s: %s %s", p.kind.name, word, what))
		}
	}
	err := p.cmd.Wait()
	f.mu.Lock()
	delete(f.all, p.cmd.Process.Pid)
	f.mu.Unlock()
	switch {
	case err == nil:
	case p.kind.victim && p.cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL:
		if err := f.start(p.kind); err != nil {
			f.fail(err)
		}
	default:
		f.fail(fmt.Errorf("a process of clients by %s: %w", p.kind.name, err))
	}
}

// victim gives a process that may be killed; isVictim says whether one with this id is.
func (f *fleet) victim() *process {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.all { // in no order
		if p.kind.victim {
			return p
		}
	}
	return nil
}

func (f *fleet) isVictim(pid int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.all[pid]
	return p != nil && p.kind.victim
}

// stop has all clients finish what they are at, and waits for them.
func (f *fleet) stop() {
	f.mu.Lock()
	f.stopping = true
	for _, p := range f.all {
		_ = p.in.Close()
	}
	f.mu.Unlock()
	f.wg.Wait()
}
