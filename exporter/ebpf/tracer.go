//go:build linux && amd64

package ebpf

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cilium/ebpf/ringbuf"

	"github.com/rocwire/rocwire/attribution"
	"github.com/rocwire/rocwire/exporter/local"
	"github.com/rocwire/rocwire/smi"
)

// Tracer watches the HIP calls of this machine's programs.
type Tracer struct {
	opt    Options
	kernel *kernel
	scan   *scanner
	libs   *libraries
	who    *attribution.Source
	buf    []byte

	poll    sync.Mutex // one reading at a time; guards what follows
	running map[uint32]*program
	ended   map[uint32]*program
	orphans map[uint32]bool // programs that had no process at the last reading

	mu      sync.Mutex
	reading local.Reading
	err     error
}

var _ local.Source = (*Tracer)(nil)

// Open puts what is needed into the kernel. Programs are watched from the first Poll
// on. The error is a *SupportError if it is not to be had here, or matches ErrOptions.
func Open(o Options) (*Tracer, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	k, err := load(&o)
	if err != nil {
		return nil, err
	}
	a := &asker{patience: maxPatience}
	return &Tracer{
		opt: o, kernel: k, buf: make([]byte, 4<<10),
		scan: newScanner(proc(o.Proc), o.Libraries, a), libs: newLibraries(&o, a, k.attach),
		who:     attribution.New(noCards{}, attribution.Options{Proc: o.Proc, Log: o.Log}),
		running: map[uint32]*program{}, ended: map[uint32]*program{}, orphans: map[uint32]bool{},
		err: smi.Errorf(smi.ErrUnavailable, "nothing has been read yet"),
	}, nil
}

// noCards is a source without cards, in front of which attribution knows processes.
type noCards struct{ smi.Source }

func (noCards) Devices(context.Context) ([]smi.Device, error) { return nil, nil }
func (noCards) Close() error                                  { return nil }

// settle is how long a program that was just begun has to load its libraries before
// its memory is looked through, and for how long such news are gathered.
const settle = 50 * time.Millisecond

// maxNews is how many programs that just began are looked at at once; the others are
// when the next scan finds them.
const maxNews = 256

// Run looks for libraries and reads the figures until ctx is done.
func (t *Tracer) Run(ctx context.Context) {
	news := make(chan uint32, maxNews)
	go t.listen(news)
	tick := time.NewTicker(t.opt.Interval)
	defer tick.Stop()
	var soon <-chan time.Time
	var executed []uint32
	for {
		t.Poll(ctx)
		for again := false; !again; {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				again = true
			case <-soon:
				soon = nil
				t.look(executed)
				executed = executed[:0]
			case pid, ok := <-news:
				if !ok {
					news = nil
					break
				}
				if len(executed) < maxNews {
					executed = append(executed, pid)
				}
				if soon == nil {
					soon = time.After(settle)
				}
			}
		}
	}
}

// listen passes on which processes execute programs, until the tracer is closed. News
// that nobody takes are dropped: the next scan finds them, too.
func (t *Tracer) listen(news chan<- uint32) {
	defer close(news)
	var r ringbuf.Record
	for {
		if err := t.kernel.execs.ReadInto(&r); err != nil {
			return
		}
		if len(r.RawSample) < 4 {
			continue
		}
		select {
		case news <- uint32(r.RawSample[0]) | uint32(r.RawSample[1])<<8 | uint32(r.RawSample[2])<<16 | uint32(r.RawSample[3])<<24:
		default:
		}
	}
}

// look looks for libraries that processes use which just executed a program.
func (t *Tracer) look(pids []uint32) {
	t.poll.Lock()
	defer t.poll.Unlock()
	for _, pid := range pids {
		t.scan.executed(pid)
	}
	t.scan.look(pids)
	for _, pid := range pids {
		if p := t.scan.seen[pid]; p != nil {
			t.libs.used(pid, p)
		}
	}
}

// Poll looks for libraries and reads the figures once. Run does so all the time.
func (t *Tracer) Poll(ctx context.Context) {
	t.poll.Lock()
	defer t.poll.Unlock()
	if err := t.scan.scan(); err != nil {
		t.set(nil, err)
		return
	}
	t.libs.watch(t.scan.seen)
	f, err := t.kernel.read()
	if err != nil {
		t.set(nil, err)
		return
	}
	t.sort(f)
	t.identify(ctx)
	r := &local.Reading{Libraries: t.libs.watched()}
	for i, reason := range dropReasons {
		r.Dropped = append(r.Dropped, local.Dropped{Reason: reason, Count: f.drops[i]})
	}
	// Of two programs of one process the newer one counts: it comes first.
	all := slices.Collect(maps.Values(t.running))
	all = append(all, slices.Collect(maps.Values(t.ended))...)
	slices.SortFunc(all, func(a, b *program) int { return b.local.Since.Compare(a.local.Since) })
	pids := map[uint32]bool{}
	for _, p := range all {
		if !pids[p.local.PID] && len(r.Processes) < t.opt.MaxProcesses {
			pids[p.local.PID] = true
			r.Processes = append(r.Processes, p.local)
		}
	}
	slices.SortFunc(r.Processes, func(a, b local.Process) int { return int(int64(a.PID) - int64(b.PID)) })
	t.set(r, nil)
}

// sort tells programs that run from those that ended, and forgets the latter in time.
func (t *Tracer) sort(f *figures) {
	now := time.Now()
	ended := map[uint32]*probeTotals{}
	orphans := map[uint32]bool{}
	for id, totals := range f.totals {
		pid := uint32(totals.Tgid)
		p := t.running[id]
		if p == nil {
			p = newProgram(pid, totals, now)
			t.running[id] = p
		}
		over := false
		if f.processes[pid] != id {
			// It executed another program; or it was begun while this was read.
			over = t.orphans[id]
			orphans[id] = true
		} else {
			over = p.gone(t.opt.Proc, t.buf)
		}
		p.update(totals, f.series[id], f.failures[id], t.kernel.ops)
		if over {
			p.end(now)
			ended[id] = totals
			delete(t.running, id)
			t.ended[id] = p
		}
	}
	t.orphans = orphans
	if err := t.kernel.remove(ended, f); err != nil {
		t.opt.Log.Warn("figures of programs that ended cannot be removed", "reason", err)
	}
	for id, p := range t.ended {
		if now.Sub(p.over) > t.opt.Keep {
			delete(t.ended, id)
		}
	}
	for len(t.ended) > t.opt.MaxProcesses { // those that ended first make room
		oldest := uint32(0)
		for id, p := range t.ended {
			if o := t.ended[oldest]; o == nil || p.over.Before(o.over) {
				oldest = id
			}
		}
		delete(t.ended, oldest)
	}
}

// identify finds out who the programs that run are.
func (t *Tracer) identify(ctx context.Context) {
	var rows []smi.Process
	var whose []*program
	for _, p := range t.running {
		rows = append(rows, smi.Process{PID: p.local.PID})
		whose = append(whose, p)
		if s := t.scan.seen[p.local.PID]; s != nil && p.local.Library == "" {
			p.local.Library = t.libs.path(s)
		}
		if p.local.Executable == "" {
			exe, _ := os.Readlink(proc(t.opt.Proc).path(p.local.PID, "exe"))
			p.local.Executable = strings.TrimSuffix(exe, " (deleted)")
		}
	}
	t.who.Join(ctx, rows)
	for i, p := range whose {
		r := &rows[i]
		if r.Name != "" {
			p.local.Name = r.Name
		}
		if r.User != "" {
			p.local.User = r.User
		}
		if r.Container != nil {
			p.local.Container = *r.Container
		}
	}
}

func (t *Tracer) set(r *local.Reading, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil && (t.err == nil || t.err.Error() != err.Error()) {
		t.opt.Log.Warn("what local programs do is not known", "reason", err)
	}
	t.err = err
	if r != nil {
		t.reading = *r
	}
}

// Local implements local.Source.
func (t *Tracer) Local() local.Reading {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.reading
}

// Err says why nothing is known; nil if something is.
func (t *Tracer) Err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// Close takes everything out of the kernel again. Run must have ended.
func (t *Tracer) Close() error {
	t.poll.Lock()
	defer t.poll.Unlock()
	t.libs.close()
	return errors.Join(t.kernel.close(), t.who.Close())
}
