// Command soak runs a worker under what happens to workers, for as long as one likes, and tells whether it is then as it was: mixed clients in processes of their own,
// over TCP, shared memory and the Unix socket; connections that are cut and resumed; clients, sessions and session processes that are killed; scrapes,
// questions, wrong tokens and malformed greetings. Every result is checked to the bit. It fails if one is wrong, if a client that nobody touched hears of
// anything, or if memory, descriptors, threads, goroutines, processes, users, namespaces or sessions have grown beyond what --help says.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rocwire/rocwire/internal/cutproxy"
)

type options struct {
	length, warm   time.Duration
	pause          time.Duration
	clients, kills int
	programs       int
	memory         int
	bin, keep      string
}

const usage = `Usage: go run ./bench/soak [flags], from the root of the tree

Runs a worker with simulated cards under mixed clients, cuts, kills, scrapes, questions and strangers,
checks every result, and fails if the worker has grown or answers nobody for a minute. Ctrl-C ends it early, with the same checks.

  --for TIME          how long, after the warm-up (1m)
  --warm-up TIME      how long before the first measurement, with everything that is to come (10s)
  --clients N         clients at once, some in one process (16)
  --programs N        programs that a client runs in a session, at most (8)
  --pause TIME        between two programs of a client, at most (0): more clients than processors can keep busy
  --kills N           kills of clients and sessions, spread over the time (5 a second)
  --allow-memory SIZE by how many MiB the worker may grow (16); besides, 8 descriptors, 8 threads, 8 goroutines,
                      2 processes with their users and namespaces (one is kept ready), and no session
  --bin DIR           hip-worker and hip-session that are built already
  --log FILE          keep the worker's log there
`

func main() {
	if len(os.Args) > 1 && os.Args[1] == "client" {
		if err := client(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "soak client:", err)
			os.Exit(1)
		}
		return
	}
	var o options
	flag.DurationVar(&o.length, "for", time.Minute, "")
	flag.DurationVar(&o.warm, "warm-up", 10*time.Second, "")
	flag.IntVar(&o.clients, "clients", 16, "")
	flag.IntVar(&o.kills, "kills", 0, "")
	flag.IntVar(&o.programs, "programs", 8, "")
	flag.DurationVar(&o.pause, "pause", 0, "")
	flag.IntVar(&o.memory, "allow-memory", 16, "")
	flag.StringVar(&o.bin, "bin", "", "")
	flag.StringVar(&o.keep, "log", "", "")
	flag.Usage = func() { fmt.Print(usage) }
	flag.Parse()
	if flag.NArg() > 0 || o.clients < 1 || o.programs < 1 || o.length <= 0 || o.warm <= 0 || o.kills < 0 {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

func run(o options) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	dir, err := os.MkdirTemp("", "rocwire-soak-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if o.bin == "" {
		if err := buildServer(dir); err != nil {
			return fmt.Errorf("building the worker: %w", err)
		}
	} else {
		for _, name := range []string{"hip-worker", "hip-session"} {
			path, err := filepath.Abs(filepath.Join(o.bin, name))
			if err := errors.Join(err, os.Symlink(path, filepath.Join(dir, name))); err != nil {
				return err
			}
		}
	}
	w, err := startServer(dir, o.clients)
	if err != nil {
		return err
	}
	err = soak(ctx, o, w)
	if e := w.stop(); e != nil {
		err = errors.Join(err, fmt.Errorf("the worker: %w", e))
	}
	if o.keep != "" {
		err = errors.Join(err, os.Rename(w.log, o.keep))
	}
	return err
}

func soak(ctx context.Context, o options, w *server) error {
	fmt.Printf("soak: a worker at %s, %d clients\n", w.address, o.clients)
	if _, err := round(ctx, o, w, "warm-up", o.warm); err != nil {
		return err
	}
	before, err := w.rest()
	if err != nil {
		return err
	}
	fmt.Println("soak: start:", before)
	begin := time.Now()
	var c *counts
	if ctx.Err() == nil {
		if c, err = round(ctx, o, w, "run", o.length); err != nil {
			return err
		}
	}
	after, err := w.rest()
	if err != nil {
		return err
	}
	fmt.Println("soak: end:  ", after)
	if c != nil {
		fmt.Printf("soak: %v: %v\n", time.Since(begin).Round(time.Second), c)
	}
	if grown := after.grown(before, after.allowance(o.memory<<20)); len(grown) > 0 {
		return fmt.Errorf("grown: %s", strings.Join(grown, "; "))
	}
	fmt.Println("soak: all results were right, and nothing has grown")
	return nil
}

// rest waits until no session is left, and measures.
func (w *server) rest() (f figures, err error) {
	for end := time.Now().Add(park + time.Minute); ; time.Sleep(200 * time.Millisecond) {
		f, err = w.measure(context.Background())
		if err != nil && !late(err) || err == nil && f.sessions == 0 {
			break
		}
		if time.Now().After(end) {
			return f, errors.Join(fmt.Errorf("sessions are left: %v", f), err)
		}
	}
	if err != nil {
		return f, err
	}
	time.Sleep(2 * time.Second) // what ends behind them
	return w.measure(context.Background())
}

// round has clients and trouble come together for a while, and tells what happened. Its error is what must not happen.
func round(ctx context.Context, o options, w *server, name string, length time.Duration) (*counts, error) {
	whole := ctx
	ctx, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	kills := int(int64(o.kills) * int64(length) / int64(o.length))
	var mu sync.Mutex
	var failures []error
	c := new(counts)
	c.answered.Store(time.Now().UnixNano())
	fail := func(err error) {
		mu.Lock()
		defer mu.Unlock()
		if failures = append(failures, err); len(failures) <= 10 {
			fmt.Fprintln(os.Stderr, "soak:", err)
		}
		cancel()
	}
	proxy, err := cutproxy.Start(w.address)
	if err != nil {
		return nil, err
	}
	defer proxy.Close()
	kinds := kindsFor(w, proxy.Addr())
	processes := max(len(kinds), min(o.clients/4, 3*len(kinds)))
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	f := &fleet{self: self, counts: c, each: (o.clients + processes - 1) / processes, programs: o.programs, pause: o.pause, fail: fail, all: map[int]*process{}}
	for i := range processes {
		if err := f.start(kinds[i%len(kinds)]); err != nil {
			fail(err)
		}
	}
	x := &trouble{w, f, proxy, c, fail}
	pause := 200 * time.Millisecond
	if o.kills > 0 {
		pause = max(o.length/time.Duration(o.kills), time.Millisecond)
	}
	var wg sync.WaitGroup
	for _, t := range []struct {
		pause time.Duration
		do    func(context.Context) error
	}{{pause, x.killing(kills, length)}, {150 * time.Millisecond, x.cut}, {time.Second, x.scrape}, {500 * time.Millisecond, x.ask}, {300 * time.Millisecond, x.intrude}, {10 * time.Second, func(ctx context.Context) error {
		m, err := w.measure(ctx)
		if err == nil {
			fmt.Printf("soak: %s: %v; now %v\n", name, c, m)
		}
		return err
	}}} {
		wg.Go(func() { x.every(ctx, t.pause, t.do) })
	}
	<-ctx.Done()
	wg.Wait()
	f.stop()
	mu.Lock()
	defer mu.Unlock()
	if len(failures) > 0 {
		return c, fmt.Errorf("%s: %d failures, the first: %w", name, len(failures), failures[0])
	}
	if c.ok.Load() == 0 {
		return c, fmt.Errorf("%s: no program has finished", name)
	}
	if whole.Err() == nil && c.kills() < int64(kills) {
		return c, fmt.Errorf("%s: %d kills, not %d", name, c.kills(), kills)
	}
	return c, nil
}

// kindsFor are the ways to the worker.
func kindsFor(w *server, proxy string) []kind {
	patient := "TF_CONNECT_TIMEOUT=300" // many begin at once
	way := func(name string, victim bool, env ...string) kind {
		return kind{name, append(env, patient), victim, false}
	}
	shared, plain, unix := "TF_WORKER_HOST="+w.address, "TF_WORKER_SHM=0", "TF_WORKER_HOST=unix:"+w.socket
	through := []string{"TF_WORKER_HOST=" + proxy, plain, patient}
	kinds := []kind{
		way("TCP, shared memory", false, shared),
		way("TCP, with a token", false, shared, plain, "TF_WORKER_TOKEN_FILE="+w.token),
		way("Unix socket", false, unix),
		way("shared memory, to be killed", true, shared),
		way("TCP, to be killed", true, shared, plain),
	}
	return append(kinds, kind{"a proxy that cuts", through, false, true}, kind{"a proxy that cuts, to be killed", through, true, true})
}
