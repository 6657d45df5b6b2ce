package audit

import (
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// Limits of a Log, in events.
const (
	queued   = 1024
	perTime  = 100 // a second
	atOnce   = 1000
	closing  = 2 * time.Second // for what is queued when it ends
	tellMiss = time.Second     // after which missing events are told of
)

// Log writes events. A nil Log takes them and does nothing.
type Log struct {
	sink  sink
	log   *slog.Logger
	queue chan []byte
	// budgets of refusals and of the rest
	refusals, rest *rate.Limiter
	missing        atomic.Int64

	closeOnce sync.Once
	stop      chan struct{}
	stopped   chan struct{}
	failing   bool // of the writing goroutine
}

// sink is where lines go. write is called on one goroutine.
type sink interface {
	write(line []byte) error
	reopen() error // from any goroutine
	close() error
}

// Open opens where: the path of a file, which is appended to, "stderr", or "journald". log is told when events cannot be written.
func Open(where string, log *slog.Logger) (*Log, error) {
	s, err := openSink(where)
	if err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	return newLog(s, log), nil
}

func newLog(s sink, log *slog.Logger) *Log {
	l := &Log{
		sink: s, log: log, queue: make(chan []byte, queued), refusals: rate.NewLimiter(perTime, atOnce), rest: rate.NewLimiter(perTime, atOnce),
		stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	go l.run()
	return l
}

// Record takes an event and does not wait.
func (l *Log) Record(e Event) {
	if l == nil {
		return
	}
	budget := l.rest
	if e.Kind == Refuse {
		budget = l.refusals
	}
	if !budget.Allow() {
		l.missing.Add(1)
		return
	}
	e.Time = time.Now().UTC()
	select {
	case l.queue <- e.line():
	default:
		l.missing.Add(1)
	}
}

// Reopen opens a file anew, after it was moved away.
func (l *Log) Reopen() error {
	if l == nil {
		return nil
	}
	return l.sink.reopen()
}

// Close writes what is queued, as far as that goes in a short time.
func (l *Log) Close() {
	if l == nil {
		return
	}
	l.closeOnce.Do(func() { close(l.stop) })
	select {
	case <-l.stopped:
	case <-time.After(closing):
	}
}

func (l *Log) run() {
	defer close(l.stopped)
	t := time.NewTicker(tellMiss)
	defer t.Stop()
	for {
		select {
		case line := <-l.queue:
			l.write(line)
		case <-t.C:
			l.tellMissing()
		case <-l.stop:
			for {
				select {
				case line := <-l.queue:
					l.write(line)
					continue
				default:
				}
				l.tellMissing()
				if err := l.sink.close(); err != nil {
					l.log.Error("audit", "error", err)
				}
				return
			}
		}
	}
}

// tellMissing writes how many events there was no room for.
func (l *Log) tellMissing() {
	if n := l.missing.Swap(0); n > 0 {
		l.write(Event{Time: time.Now().UTC(), Kind: dropped, What: fmt.Sprintf("%d events", n), Result: "too many at once"}.line())
	}
}

// write writes one line. That it cannot is said once, until it can again.
func (l *Log) write(line []byte) {
	err := l.sink.write(line)
	if err != nil {
		l.missing.Add(1)
		if !l.failing {
			l.log.Error("events cannot be recorded", "error", err)
		}
	}
	l.failing = err != nil
}
