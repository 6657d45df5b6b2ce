package simgpu

import (
	"sync"
	"time"

	"github.com/rocwire/rocwire/simgpu/exec"
)

// profileEvery is how often a runtime tells of what kernels take their time for.
const profileEvery = 10 * time.Second

// profiling tells of it while there is something new, and in the end: a program may be ended
// before it comes to its own.
type profiling struct {
	profile *exec.Profile
	mu      sync.Mutex
	told    string
	end     chan struct{}
	ended   chan struct{}
}

func (r *Runtime) startProfile() {
	p := &profiling{profile: &exec.Profile{}, end: make(chan struct{}), ended: make(chan struct{})}
	r.profiling = p
	go func() {
		defer close(p.ended)
		ticks := time.NewTicker(profileEvery)
		defer ticks.Stop()
		for {
			select {
			case <-ticks.C:
				p.tell(r.o.Logf)
			case <-p.end:
				p.tell(r.o.Logf)
				return
			}
		}
	}()
}

func (p *profiling) tell(logf func(format string, args ...any)) {
	if len(p.profile.Kernels()) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.profile.String(); s != p.told {
		p.told = s
		logf("simgpu: profile: %s", s)
	}
}

// stop is for a runtime that executes nothing any more. nil: there is no profile.
func (p *profiling) stop() {
	if p != nil {
		close(p.end)
		<-p.ended
	}
}

// TellProfile tells through Logf what kernels took their time for, if that is wanted and something is new.
func (r *Runtime) TellProfile() {
	if r.profiling != nil {
		r.profiling.tell(r.o.Logf)
	}
}

// of is the profile for programs, nil if there is none.
func (p *profiling) of() *exec.Profile {
	if p == nil {
		return nil
	}
	return p.profile
}
