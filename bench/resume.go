package main

import (
	"fmt"
	"slices"
)

// benchResume measures what it costs that a connection can be made again when it is cut, which is how programs have it over TCP. The floor is
// the same program where a cut is the end. Both go through TCP although the worker is on this machine.
func benchResume(t *table, _ *floor, dir string) error {
	if !built(t, "resume") {
		return nil
	}
	env, stop, err := startWorker()
	if err != nil {
		return err
	}
	defer stop()
	env = append(env, "TF_WORKER_SHM=0")
	without := append(slices.Clip(env), "TF_RECONNECT_TIMEOUT=0")
	for _, g := range []struct {
		program string
		rows    func(t *table, without, with *program) error
	}{{"hipbench", resumeCalls}, {"membench", resumeCopies}} {
		a, err := startProgram(without, dir, g.program)
		if err != nil {
			return err
		}
		defer a.stop()
		b, err := startProgram(env, dir, g.program)
		if err != nil {
			return err
		}
		defer b.stop()
		if err := g.rows(t, a, b); err != nil {
			return err
		}
	}
	return nil
}

// beside measures the same of two programs in turn.
func beside(a, b *program, what string, n int) (here, there []float64, err error) {
	for i := range 2**rounds + 1 {
		first, second := a, b
		if i%2 == 1 {
			first, second = b, a
		}
		v, err := first.measure(what, n)
		if err != nil {
			return nil, nil, err
		}
		w, err := second.measure(what, n)
		if err != nil {
			return nil, nil, err
		}
		if i%2 == 1 {
			v, w = w, v
		}
		if i > 0 { // the first warms up
			here, there = append(here, v[0]), append(there, w[0])
		}
	}
	return here, there, nil
}

// resumeLimit is what may be called noise.
const resumeLimit = 1.1

func resumeCalls(t *table, without, with *program) error {
	for _, c := range []struct{ what, name string }{{"sync", "sync call p50"}, {"async", "async call, issue cost"}} {
		a, b, err := beside(without, with, c.what, *calls)
		if err != nil {
			return err
		}
		t.row("resume: "+c.name+", floor without", a, b, micros, resumeLimit, false)
	}
	return nil
}

func resumeCopies(t *table, without, with *program) error {
	for _, c := range []struct{ what, name string }{
		{"to", "hipMemcpy of %s to the device"}, {"from", "hipMemcpy of %s from the device"}, {"issue", "hipMemcpyAsync of %s to the device, issue cost"},
	} {
		for n := 16 << 10; n <= *size; n *= 4 {
			a, b, err := beside(without, with, c.what, n)
			if err != nil {
				return err
			}
			t.row("resume: "+fmt.Sprintf(c.name, bytesName(n))+", floor without", a, b, micros, resumeLimit, false)
		}
	}
	return nil
}
