package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"
)

// exporter is gpu-exporter, a process.
type exporter struct {
	process
	url  string
	done chan error

	mu  sync.Mutex
	log []byte // its end
}

var serving = regexp.MustCompile(`msg=serving url=http://([^/ ]+)`)

// startExporter starts it with the workers of the file, and waits until it serves.
func (b *bench) startExporter(ctx context.Context) (*exporter, error) {
	args := []string{"--listen", "127.0.0.1:0", "--worker", address(0, b.port), "--discover-file", b.file}
	if b.idle > 0 {
		args = append(args, "--probe-idle", b.idle.String())
	}
	e := &exporter{process: process{exec.Command(filepath.Join(b.bin, "gpu-exporter"), args...)}, done: make(chan error, 1)}
	e.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	e.cmd.Env = []string{"ROCWIRE_CONFIG=/dev/null"}
	errs, err := e.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := e.cmd.Start(); err != nil {
		return nil, err
	}
	url := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(errs)
		for lines.Scan() {
			if m := serving.FindSubmatch(lines.Bytes()); m != nil && len(url) == 0 {
				url <- string(m[1])
			}
			e.mu.Lock()
			e.log = append(append(e.log, lines.Bytes()...), '\n')
			e.log = e.log[max(0, len(e.log)-2000):]
			e.mu.Unlock()
		}
		e.done <- e.cmd.Wait()
	}()
	select {
	case e.url = <-url:
		return e, nil
	case err := <-e.done:
		return nil, fmt.Errorf("gpu-exporter: %w: %s", err, e.tail())
	case <-ctx.Done():
		_ = e.cmd.Process.Kill()
		<-e.done
		return nil, ctx.Err()
	}
}

func (e *exporter) tail() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return string(bytes.TrimSpace(e.log))
}

// end has it end; an error is that it did not end well.
func (e *exporter) end() error {
	_ = e.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-e.done:
		if err != nil {
			return fmt.Errorf("gpu-exporter: %w: %s", err, e.tail())
		}
		return nil
	case <-time.After(30 * time.Second):
		_ = e.cmd.Process.Kill()
		<-e.done
		return errors.New("gpu-exporter had not ended half a minute after it was told to")
	}
}

// What is measured of it.
const (
	firstLook = "exporter: the first look at all workers"
	reading   = "exporter: reading all, each interval"
	scraping  = "exporter: scraping all by /probe, each interval"
)

// export measures gpu-exporter.
func (b *bench) export(ctx context.Context, n int) (err error) {
	if b.met[scraping] {
		return nil
	}
	e, err := b.startExporter(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.end(), b.nobody(ctx, e)) }()
	s := newScraper(e.url, b.port)
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
		b.limit(scraping, n, "first look: %s", s.why())
		return nil
	}
	b.add(row{subject: firstLook, workers: n, time: time.Since(begin), processor: cost.processor, memory: cost.memory, bytes: cost.bytes, note: fmt.Sprintf("%d descriptors", cost.descriptors)})
	// Nobody scrapes.
	idle, err := b.costs(e, func() { pause(ctx, b.interval) })
	if err != nil {
		return err
	}
	b.add(row{subject: reading, workers: n, processor: idle.processor, memory: idle.memory, bytes: idle.bytes, note: fmt.Sprintf("%d descriptors", idle.descriptors)})
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
		b.limit(scraping, n, "%s", s.why())
		return nil
	}
	slices.Sort(s.times)
	b.add(row{
		subject: scraping, workers: n, time: s.times[len(s.times)/2], processor: max(0, busy.processor-idle.processor), memory: busy.memory, bytes: s.bytes,
		note: fmt.Sprintf("time is the median of a scrape; 99 in 100 took less than %s", milliseconds(s.times[len(s.times)*99/100])),
	})
	cores := runtime.NumCPU()
	switch {
	case took > b.interval+b.interval/4:
		b.limit(scraping, n, "a round of scrapes took %v; gpu-exporter had %.2f of %d cores", took.Round(time.Millisecond), busy.processor.Seconds()/took.Seconds(), cores)
	case busy.processor > b.interval*time.Duration(cores)*9/10:
		b.limit(scraping, n, "gpu-exporter needs %v of processor time each %v", busy.processor.Round(time.Millisecond), b.interval)
	}
	return nil
}

// nobody checks that the workers have no connection any more of a program that has ended.
func (b *bench) nobody(ctx context.Context, e *exporter) error {
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
	memory, bytes int64
	descriptors   int
}

// costs measures that.
func (b *bench) costs(e *exporter, f func()) (c cost, err error) {
	before, err := b.workers.tell(request{})
	if err != nil {
		return c, err
	}
	p0, err := e.processor()
	if err != nil {
		return c, fmt.Errorf("%w: %s", err, e.tail())
	}
	f()
	p1, err := e.processor()
	if err != nil {
		return c, fmt.Errorf("%w: %s", err, e.tail())
	}
	after, err := b.workers.tell(request{})
	if err != nil {
		return c, err
	}
	bytes := after.Workers.Out - before.Workers.Out + after.Workers.In - before.Workers.In
	return cost{p1 - p0, e.resident(), int64(bytes), e.descriptors()}, nil
}

// pause waits, or until ctx is done.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
