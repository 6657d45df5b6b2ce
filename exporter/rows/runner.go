package rows

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/exporter/push"
)

// RunnerOptions are what a sink of rows needs.
type RunnerOptions struct {
	Options
	Place exporter.Place
	Read  func() exporter.Reading // what is known now; Exporter.Read
	Queue push.Options            // Name, Send and Log are the sink's
	Log   *slog.Logger            // default: discard
}

// Runner makes a record of what is known every Options.Interval, and has it delivered.
type Runner struct {
	opt   RunnerOptions
	maker *Maker
	queue *push.Pusher
	drops Drops // that were logged
}

// Open opens the queue of the sink called name. send delivers a record, as
// push.Options.Send does.
func Open(opt RunnerOptions, name string, send func(ctx context.Context, record []byte) error) (*Runner, error) {
	if opt.Read == nil {
		return nil, fmt.Errorf("%s: nothing to read", name)
	}
	if err := opt.Check(); err != nil {
		return nil, err
	}
	opt.setDefaults()
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	opt.Log = opt.Log.With("sink", name)
	opt.Queue.Name, opt.Queue.Send, opt.Queue.Log = name, send, opt.Log
	q, err := push.Open(opt.Queue)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &Runner{opt: opt, maker: NewMaker(opt.Options, opt.Place, time.Now()), queue: q}, nil
}

// Run works until ctx is done. Then it puts a last record, so that nothing counted is
// lost, and sends what it can in push.Options.Drain.
func (r *Runner) Run(ctx context.Context) {
	sending, stop := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	wg.Go(func() { r.queue.Run(sending) })
	defer wg.Wait()
	defer stop()
	t := time.NewTicker(r.opt.Interval)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			r.Put()
			return
		case <-t.C:
			r.Put()
		}
	}
}

// Put puts a record of what is known now. What could not be put is in the next one.
func (r *Runner) Put() {
	reading := r.opt.Read()
	batch := r.maker.Make(&reading)
	r.logDrops()
	record, err := batch.Encode()
	if err == nil {
		err = r.queue.Put(record)
	}
	if err != nil {
		r.opt.Log.Error("cannot store figures; the next record will cover their time", "rows", batch.Rows(), "reason", err)
		return
	}
	r.maker.Keep()
}

// logDrops tells when something is left out for the first time, and what was at the end
// of each power of two after that.
func (r *Runner) logDrops() {
	d := r.maker.Drops()
	if grown(r.drops.Processes, d.Processes) || grown(r.drops.Rows, d.Rows) || grown(r.drops.Late, d.Late) {
		r.drops = d
		r.opt.Log.Warn("too much for one record", "processes_left_out", d.Processes, "rows_left_out", d.Rows, "calls_delayed", d.Late)
	}
}

func grown(logged, now uint64) bool { return now > 0 && now >= 2*logged }

// Stats tells how delivery goes.
func (r *Runner) Stats() push.Stats { return r.queue.Stats() }

// Close closes the queue. Run must have returned.
func (r *Runner) Close() error { return r.queue.Close() }
