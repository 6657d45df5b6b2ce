package main

import "fmt"

// benchMem measures what c/membench.c does: copies of every size, host memory that kernels use, modules.
func benchMem(t *table, f *floor, dir string) error {
	if !built(t, "mem") {
		return nil
	}
	env, stop, err := startWorker()
	if err != nil {
		return err
	}
	defer stop()
	p, err := startProgram(env, dir, "membench")
	if err != nil {
		return err
	}
	defer p.stop()
	for _, g := range []func(*table, *floor, *program) error{copyCurve, exposedMemory, hiddenMemory, newHostMemory, largeModules} {
		if err := g(t, f, p); err != nil {
			return err
		}
	}
	return nil
}

// What a copy's request and reply have besides its bytes, in both directions.
const (
	copyRequest = 108
	copyReply   = 40
)

// copyCurve compares copies of all sizes with bare sockets that send as many bytes and are answered, or ask for them.
func copyCurve(t *table, f *floor, p *program) error {
	for n := 4; n <= *size; n *= 4 {
		var bareTo, bareFrom, to, from []float64
		for range *rounds {
			times := min(1000, max(5, (256<<20)/(n+4096)))
			v, err := f.measure("pingpong", times, n+copyRequest, copyReply)
			if err != nil {
				return err
			}
			bareTo = append(bareTo, v[0])
			if v, err = p.measure("to", n); err != nil {
				return err
			}
			to = append(to, v[0])
			if v, err = f.measure("pingpong", times, copyRequest, n+copyReply); err != nil {
				return err
			}
			bareFrom = append(bareFrom, v[0])
			if v, err = p.measure("from", n); err != nil {
				return err
			}
			from = append(from, v[0])
		}
		t.row(fmt.Sprintf("mem: hipMemcpy of %s to the device, floor TCP ping-pong", bytesName(n)), bareTo, to, micros, 1.5, false)
		t.row(fmt.Sprintf("mem: hipMemcpy of %s from the device", bytesName(n)), bareFrom, from, micros, 1.5, false)
	}
	return nil
}

func bytesName(n int) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d B", n)
}

// several measures a command once a round.
func (p *program) several(what string, n int) (first, second []float64, err error) {
	for range *rounds {
		v, err := p.measure(what, n)
		if err != nil {
			return nil, nil, err
		}
		first, second = append(first, v[0]), append(second, v[1])
	}
	return first, second, nil
}

// exposedMemory measures what pinned memory costs that kernels may use. The floor is the same without any.
func exposedMemory(t *table, _ *floor, p *program) error {
	none, noneChanged, err := p.several("exposed", 0)
	if err != nil {
		return err
	}
	alone, _, err := p.several("pulled", 0)
	if err != nil {
		return err
	}
	for _, n := range []int{1 << 20, 64 << 20, 256 << 20} {
		same, changed, err := p.several("exposed", n)
		if err != nil {
			return err
		}
		t.row(fmt.Sprintf("mem: launch with %s of pinned memory exposed and unchanged, floor without", bytesName(n)), none, same, micros, 0, false)
		if n == 256<<20 {
			more := median(same) - median(none)
			t.plain("mem: what they add to a launch", micros(more), "≤ 10 µs: "+verdict(more <= 10e3))
		}
		t.row(fmt.Sprintf("mem: launch with %s exposed, a byte changed before each", bytesName(n)), noneChanged, changed, micros, 0, false)
		if same, changed, err = p.several("pulled", n); err != nil {
			return err
		}
		t.row(fmt.Sprintf("mem: launch and synchronize with %s exposed and unchanged, floor without", bytesName(n)), alone, same, micros, 0, false)
		t.row(fmt.Sprintf("mem: launch and synchronize with %s exposed, a byte changed by the device", bytesName(n)), alone, changed, micros, 0, false)
	}
	return nil
}

// hiddenMemory measures copies beside pinned memory that no kernel has been shown. The floor is the same without any.
func hiddenMemory(t *table, _ *floor, p *program) error {
	none, _, err := p.several("hidden", 0)
	if err != nil {
		return err
	}
	for _, n := range []int{1, 16, 256} {
		beside, _, err := p.several("hidden", n)
		if err != nil {
			return err
		}
		t.row(fmt.Sprintf("mem: hipMemcpy of 1 MiB to the device beside %d hidden pinned regions, floor without", n), none, beside, micros, 0, false)
	}
	return nil
}

// newHostMemory measures the first touch of memory of hipHostMalloc.
func newHostMemory(t *table, f *floor, p *program) error {
	var bare, here []float64
	for range *rounds {
		v, err := f.measure("touch", *size, 1)
		if err != nil {
			return err
		}
		bare = append(bare, v[0])
		if v, err = p.measure("touch", *size); err != nil {
			return err
		}
		here = append(here, v[0])
	}
	t.row(fmt.Sprintf("mem: first touch of %s of hipHostMalloc, floor mmap with large pages", bytesName(*size)), bare, here, micros, 1.5, false)
	return nil
}

// largeModules measures loads of a code object that the worker has never seen, and of one that it has.
func largeModules(t *table, f *floor, p *program) error {
	const n = 64 << 20
	var bare, first, again []float64
	for range *rounds {
		v, err := f.measure("pingpong", 5, n, copyReply)
		if err != nil {
			return err
		}
		bare = append(bare, n/v[0]*1e9)
		if v, err = p.measure("module", n); err != nil {
			return err
		}
		first, again = append(first, n/v[0]*1e9), append(again, n/v[1]*1e9)
	}
	t.row("mem: hipModuleLoadData of 64 MiB, new to the worker, floor bare socket", bare, first, rate, 0, true)
	t.row("mem: hipModuleLoadData of 64 MiB, once more", bare, again, rate, 0, true)
	return nil
}
