package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/rocwire/rocwire/cmd/smi-remote/internal/text"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/wire"
)

// problem is one thing that could not be answered or done.
type problem struct {
	Host   string   `json:"host"`
	Device *int     `json:"device,omitempty"` // index of the card; not there if it is about the worker
	What   string   `json:"what,omitempty"`   // was asked for
	Code   smi.Code `json:"code"`
	Detail string   `json:"detail"`

	lost  bool // the worker cannot be reached
	whole bool // it is about all workers
	quiet bool // it is normal, and not worth a message
}

// problems are all of one command. As an error it is the loud ones, a line each.
type problems struct {
	list    []problem
	workers int // how many were asked
}

// add notes an error of a worker, or of its card d.
func (p *problems) add(w *worker, d *smi.Device, what string, err error) {
	n := problem{Host: w.address(), What: what, Code: smi.CodeOf(err), Detail: text.Clean(err.Error()), lost: isLost(err)}
	if d != nil && !n.lost {
		index := d.Index
		n.Device = &index
	}
	for i := range p.list {
		if p.list[i].lost && n.lost && p.list[i].Host == n.Host {
			return // said once
		}
	}
	p.list = append(p.list, n)
}

// hush makes it normal that something is not supported.
func (p *problems) hush() {
	for i := range p.list {
		p.list[i].quiet = p.list[i].Code == smi.ErrNotSupported
	}
}

// err is p if there is something loud in it.
func (p *problems) err() error {
	for i := range p.list {
		if !p.list[i].quiet {
			return p
		}
	}
	return nil
}

// nobody reports whether no worker could be reached.
func (p *problems) nobody() bool {
	lost := map[string]bool{}
	for i := range p.list {
		if p.list[i].lost {
			lost[p.list[i].Host] = true
		}
	}
	return len(lost) > 0 && len(lost) == p.workers
}

func (p *problems) Error() string {
	var lines []string
	for i := range p.list {
		n := &p.list[i]
		if n.quiet {
			continue
		}
		where := ""
		if p.workers > 1 && !n.lost && !n.whole {
			where = n.Host + ": "
		}
		if n.Device != nil {
			where += fmt.Sprintf("GPU %d: ", *n.Device)
		}
		if n.What != "" && !n.lost {
			where += n.What + ": "
		}
		lines = append(lines, where+n.Detail)
	}
	return strings.Join(lines, "\n")
}

// Is reports whether target is the code of all of them.
func (p *problems) Is(target error) bool {
	for i := range p.list {
		if n := &p.list[i]; !n.quiet && n.Code != target {
			return false
		}
	}
	return p.err() != nil
}

// unreachableError is a worker that there is no connection to.
type unreachableError struct{ err error }

func (e *unreachableError) Error() string { return e.err.Error() }
func (e *unreachableError) Unwrap() error { return e.err }

// isLost makes the difference between a worker that is not there and one that
// answers with an error.
func isLost(err error) bool {
	var unreachable *unreachableError
	var lost *wire.Error
	return errors.As(err, &unreachable) || errors.As(err, &lost) || errors.Is(err, context.DeadlineExceeded)
}
