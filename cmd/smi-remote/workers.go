package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/rocwire/rocwire/hipv1"
	"github.com/rocwire/rocwire/internal/dialing"
	"github.com/rocwire/rocwire/internal/fleet"
	"github.com/rocwire/rocwire/internal/version"
	"github.com/rocwire/rocwire/internal/workerlist"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smiremote"
)

// worker is one of those that --host names.
type worker struct {
	label  string // for tables
	name   string // as --host names it
	client *smiremote.Client
	old    *hipv1.Source // of one that speaks the earlier protocol, which has no client
}

const defaultPort = workerlist.DefaultPort

// parseHosts reads what --host says: HOST, HOST:PORT, [ADDRESS]:PORT, unix:PATH, names in
// the configuration file, several of them with commas in between.
func (a *app) parseHosts(hosts []string, port string) (all []dialing.Worker, err error) {
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return nil, usagef("%q is not a port (1 to 65535)", port)
	}
	workers, err := dialing.Workers(strings.Join(hosts, ","), port, a.dialing, a.getenv)
	if err == nil && workers == nil { // nobody has said anything
		workers, err = dialing.Workers("localhost", port, a.dialing, a.getenv)
	}
	if err != nil {
		return nil, usagef("%v", err)
	}
	return workerlist.Once(workers, func(w *dialing.Worker) workerlist.Address { return w.Address }), nil
}

// open looks for the workers; it does not connect yet.
func (a *app) open() error {
	if a.workers != nil {
		return nil
	}
	if a.timeout <= 0 {
		return usagef("--timeout %v is not more than 0", a.timeout)
	}
	workers, err := a.parseHosts(a.hosts, a.port)
	if err != nil {
		return err
	}
	for _, w := range workers {
		if a.v1 {
			old, err := oldWorker(w, a.timeout)
			if err != nil {
				return err
			}
			a.workers = append(a.workers, old)
			continue
		}
		a.workers = append(a.workers, a.worker(w))
	}
	return nil
}

// worker is one that is not connected to yet.
func (a *app) worker(w dialing.Worker) *worker {
	return &worker{label: strings.TrimSuffix(w.Label(), ":"+defaultPort), name: w.Label(), client: smiremote.NewClient(smiremote.Options{
		Address: w.Address.String(), ConnectTimeout: a.timeout, IOTimeout: a.timeout, Dialing: w.Settings, Name: "smi-remote", Version: version.String(),
	})}
}

// several reports whether tables need a column for the worker.
func (a *app) several() bool { return len(a.workers) > 1 }

// ask asks all workers side by side, each with the time limit, and keeps the
// answers in the order of the workers. What failed is in the problems.
func ask[T any](ctx context.Context, a *app, what string, one func(context.Context, *worker) (T, error)) ([]answer[T], *problems, error) {
	if err := a.open(); err != nil {
		return nil, nil, err
	}
	all := make([]answer[T], len(a.workers))
	fleet.SideBySide(len(all), func(i int) {
		w := a.workers[i]
		all[i].worker = w
		all[i].value, all[i].err = askOne(ctx, a, w, one)
	})
	if ctx.Err() != nil {
		return nil, nil, errInterrupted
	}
	p := &problems{workers: len(a.workers)}
	answers := all[:0]
	for _, r := range all {
		if r.err != nil {
			p.add(r.worker, nil, what, r.err)
			continue
		}
		answers = append(answers, r)
	}
	return answers, p, nil
}

// answer is what one worker answered.
type answer[T any] struct {
	worker *worker
	value  T
	err    error
}

// askOne asks one worker within the time limit.
func askOne[T any](ctx context.Context, a *app, w *worker, one func(context.Context, *worker) (T, error)) (v T, err error) {
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	if err = w.connect(ctx); err != nil {
		err = &unreachableError{err}
	} else {
		v, err = one(ctx, w)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = &unreachableError{&smi.Error{Code: smi.ErrTimeout, Detail: fmt.Sprintf("worker %s: no answer within %v", w.address(), a.timeout), Err: err}}
	}
	return v, err
}
