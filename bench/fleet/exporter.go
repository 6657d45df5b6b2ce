package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"time"
)

var serving = regexp.MustCompile(`msg=serving url=http://([^/ ]+)`)

// startExporter starts gpu-exporter with the workers of the file, and waits until it serves.
func (b *bench) startExporter(ctx context.Context) (e *program, at string, err error) {
	url := make(chan string, 1)
	e, err = b.start(ctx, func(line []byte) {
		if m := serving.FindSubmatch(line); m != nil && len(url) == 0 {
			url <- string(m[1])
		}
	}, "gpu-exporter", "--listen", "127.0.0.1:0", "--worker", address(0, b.port), "--discover-file", b.file, "--timeout", b.patience.String(), "--probe-idle", b.idle.String(),
		"--probe-interval", (b.interval / readings).String())
	if err != nil {
		return nil, "", err
	}
	select {
	case at = <-url:
		return e, at, nil
	case err := <-e.done:
		return nil, "", fmt.Errorf("gpu-exporter: %w: %s", err, e.tail())
	}
}

// readings are how often each worker is read between two scrapes, as with gpu-exporter's own --probe-interval.
const readings = 3

// What is measured of it.
const (
	firstLook = "exporter: the first look at all workers"
	reading   = "exporter: reading all, each interval"
	scraping  = "exporter: scraping all by /probe, each interval"
)

// export measures gpu-exporter.
func (b *bench) export(ctx context.Context, n int) (err error) {
	if b.ended[scraping] {
		return nil
	}
	e, at, err := b.startExporter(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.end(), b.nobody(ctx, e)) }()
	s := newScraper(at, b.port, b.patience)
	defer s.close()
	if err := s.wait(ctx); err != nil {
		return fmt.Errorf("%w: %s", err, e.tail())
	}
	// All at once, as after a start.
	begin := time.Now()
	cost, err := b.costs(e, func() { s.round(ctx, n, 0) })
	if err != nil {
		return err
	}
	if s.failed() {
		b.end(scraping, n, "first look: %s", s.why())
		return nil
	}
	b.add(row{
		subject: firstLook, workers: n, time: time.Since(begin), processor: cost.processor, asked: cost.asked, memory: cost.memory, bytes: cost.bytes,
		note: fmt.Sprintf("%d descriptors; %d scrapes had to be tried again", cost.descriptors, s.again),
	})
	// Nobody scrapes: as much is read as in an interval, however long that takes here.
	begin = time.Now()
	wanted := uint64(readings * n * cardsOf)
	var waited error
	idle, err := b.costs(e, func() { waited = b.read(ctx, wanted) })
	if err = errors.Join(waited, err); err != nil {
		return err
	}
	perCard := idle.processor.Seconds() / float64(idle.readings)
	x := row{
		subject: reading, workers: n, time: time.Since(begin), processor: seconds(perCard * float64(wanted)), asked: idle.asked * time.Duration(wanted) / time.Duration(idle.readings),
		memory: idle.memory, bytes: int64(float64(idle.bytes) * float64(wanted) / float64(idle.readings)), note: fmt.Sprintf("%d descriptors", idle.descriptors),
	}
	b.add(x)
	if x.time > b.interval+b.interval/4 {
		b.limit(reading, n, "it takes %v, longer than %v; gpu-exporter had %.2f of %d cores", x.time.Round(time.Millisecond), b.interval, idle.processor.Seconds()/x.time.Seconds(), runtime.NumCPU())
	}
	// Prometheus does, with the targets spread over the interval.
	s.forget()
	begin = time.Now()
	busy, err := b.costs(e, func() { s.round(ctx, n, b.interval) })
	if err != nil {
		return err
	}
	took := time.Since(begin)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if s.failed() {
		b.end(scraping, n, "%s", s.why())
		return nil
	}
	slices.Sort(s.times)
	b.add(row{
		subject: scraping, workers: n, time: s.times[len(s.times)/2], processor: max(0, busy.processor-seconds(perCard*float64(busy.readings))), memory: busy.memory, bytes: s.bytes,
		note: fmt.Sprintf("time is the median of a scrape; 99 in 100 took less than %s; %d had to be tried again", milliseconds(s.times[len(s.times)*99/100]), s.again),
	})
	cores := runtime.NumCPU()
	switch {
	case took > b.interval+b.interval/4:
		b.limit(scraping, n, "a round of scrapes took %v; gpu-exporter had %.2f of %d cores", took.Round(time.Millisecond), busy.processor.Seconds()/took.Seconds(), cores)
	case b.rows[len(b.rows)-1].processor+x.processor > b.interval*time.Duration(cores)*9/10:
		b.limit(scraping, n, "gpu-exporter needs %v of processor time each %v", (b.rows[len(b.rows)-1].processor + x.processor).Round(time.Millisecond), b.interval)
	}
	return nil
}

// nobody checks that the workers have no connection any more of a program that has ended.
func (b *bench) nobody(ctx context.Context, e *program) error {
	for range 100 {
		r, err := b.workers.tell(request{})
		if err != nil || r.Workers.Management == 0 {
			return err
		}
		pause(ctx, 50*time.Millisecond)
	}
	return fmt.Errorf("workers have connections of gpu-exporter, which has ended: %s", e.tail())
}

// cost is what a process needs for something.
type cost struct {
	processor     time.Duration
	asked         time.Duration // of all workers together
	memory, bytes int64
	descriptors   int
	readings      uint64
}

// costs measures that.
func (b *bench) costs(e *program, f func()) (c cost, err error) {
	before, err := b.workers.tell(request{})
	if err != nil {
		return c, err
	}
	w0, err0 := b.workers.processor()
	p0, err := e.processor()
	if err = errors.Join(err0, err); err != nil {
		return c, fmt.Errorf("%w: %s", err, e.tail())
	}
	f()
	p1, err := e.processor()
	w1, err1 := b.workers.processor()
	if err = errors.Join(err, err1); err != nil {
		return c, fmt.Errorf("%w: %s", err, e.tail())
	}
	after, err := b.workers.tell(request{})
	if err != nil {
		return c, err
	}
	bytes := after.Workers.Out - before.Workers.Out + after.Workers.In - before.Workers.In
	return cost{p1 - p0, w1 - w0, e.resident(), int64(bytes), e.descriptors(), after.Workers.Readings - before.Workers.Readings}, nil
}

// read waits until the figures of so many cards more have been read.
func (b *bench) read(ctx context.Context, n uint64) error {
	for first, begin := uint64(0), time.Now(); ; pause(ctx, 100*time.Millisecond) {
		r, err := b.workers.tell(request{})
		if err != nil {
			return err
		}
		if first == 0 {
			first = r.Workers.Readings
		}
		if got := r.Workers.Readings - first; got >= n {
			return nil
		} else if time.Since(begin) > b.patience+b.interval {
			return fmt.Errorf("of %d readings of cards %d happen within %v", n, got, b.patience)
		}
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// pause waits, or until ctx is done.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
