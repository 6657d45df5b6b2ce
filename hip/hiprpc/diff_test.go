package hiprpc

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"
)

func TestDiffRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, limit := range []int{1, 100, 1 << 20, 63} {
		size := 64*Block + limit%63
		here, hereTwin := make([]byte, size), make([]byte, size)
		there, thereTwin := make([]byte, size), make([]byte, size)
		for round := range 200 {
			// Each side writes bytes of its own: even ones here, odd ones there.
			for range r.IntN(300) {
				here[r.IntN(size/2)*2] = byte(r.Uint32())
				there[r.IntN(size/2)*2+1] = byte(r.Uint32())
			}
			for from := 0; from < size; {
				d, next := AppendDiff(nil, here, hereTwin, from, limit)
				if err := ApplyDiff(there, thereTwin, d, from); err != nil {
					t.Fatal(err)
				}
				from = next
			}
			for from := 0; from < size; {
				d, next := AppendDiff(nil, there, thereTwin, from, limit)
				if err := ApplyDiff(here, hereTwin, d, from); err != nil {
					t.Fatal(err)
				}
				from = next
			}
			if !bytes.Equal(here, there) || !bytes.Equal(here, hereTwin) || !bytes.Equal(there, thereTwin) {
				t.Fatalf("limit %d round %d: the sides differ", limit, round)
			}
			if d, _ := AppendDiff(nil, here, hereTwin, 0, limit); len(d) != 0 {
				t.Fatalf("limit %d round %d: a difference remains", limit, round)
			}
		}
	}
}

func TestApplyDiffRefuses(t *testing.T) {
	full := append([]byte{0}, bytes.Repeat([]byte{0xff}, 8+Block)...)
	for name, c := range map[string]struct {
		diff []byte
		from int
	}{
		"from not a block":  {full, 1},
		"from beyond":       {full, 3 * Block},
		"from negative":     {full, -Block},
		"gap beyond":        {append([]byte{2}, full[1:]...), 0},
		"huge gap":          {append([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, full[1:]...), 0},
		"short mask":        {full[:5], 0},
		"short data":        {full[:len(full)-1], 0},
		"empty mask":        {make([]byte, 9), 0},
		"mask beyond":       {append([]byte{2}, full[1:]...), 0},
		"second one beyond": {append(append([]byte{1}, full[1:]...), full...), 0},
	} {
		mem, twin := make([]byte, 2*Block), make([]byte, 2*Block)
		if err := ApplyDiff(mem, twin, c.diff, c.from); !errors.Is(err, ErrDiff) {
			t.Errorf("%s: %v, want ErrDiff", name, err)
		}
		if !bytes.Equal(mem, make([]byte, 2*Block)) {
			t.Errorf("%s: something was written", name)
		}
	}
}

func FuzzApplyDiff(f *testing.F) {
	mem := make([]byte, 4*Block)
	mem[3], mem[70], mem[255] = 1, 2, 3
	d, _ := AppendDiff(nil, mem, make([]byte, 4*Block), 0, 1<<20)
	f.Add(d, 0)
	f.Add([]byte{0xff}, 64)
	f.Fuzz(func(t *testing.T, diff []byte, from int) {
		mem, twin := make([]byte, 4*Block+5), make([]byte, 4*Block+5)
		if ApplyDiff(mem, twin, diff, from) != nil && !bytes.Equal(mem, make([]byte, 4*Block+5)) {
			t.Error("a refused difference was written")
		}
	})
}

// TestDiffRuns: the runs of a difference, written one by one, do what the difference does, and no byte more.
func TestDiffRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		size := 1 + r.IntN(20*Block)
		old, now := make([]byte, size), make([]byte, size)
		for i := range now {
			old[i] = byte(r.Uint32())
			if now[i] = old[i]; r.IntN(3) != 0 {
				now[i]++
			}
		}
		from := r.IntN(size/Block+1) * Block
		diff, next := AppendDiff(nil, now, bytes.Clone(old), from, 1<<20)
		if next != size {
			t.Fatal(next)
		}
		got, last := bytes.Clone(old), from-1
		if err := DiffRuns(diff, size, from, func(off int, data []byte) {
			if off <= last || len(data) == 0 {
				t.Fatalf("a run of %d at %d after %d", len(data), off, last)
			}
			for i, b := range data {
				if old[off+i] == b {
					t.Fatalf("byte %d has not changed", off+i)
				}
			}
			copy(got[off:], data)
			last = off + len(data)
		}); err != nil {
			t.Fatal(err)
		}
		if want := append(bytes.Clone(old[:from]), now[from:]...); !bytes.Equal(got, want) {
			t.Fatal("the runs do something else")
		}
	}
	if err := DiffRuns([]byte{0, 1, 0, 0, 0, 0, 0, 0, 0, 7}, 0, 0, func(int, []byte) {}); !errors.Is(err, ErrDiff) {
		t.Error(err)
	}
}

// TestDifferLeavesOut: a difference of parts of a memory has what changed in those, and nothing else.
func TestDifferLeavesOut(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		size := 1 + r.IntN(200*Block)
		old, now := make([]byte, size), make([]byte, size)
		for i := range now {
			now[i] = byte(r.Uint32())
			if old[i] = now[i]; r.IntN(50) == 0 {
				old[i]++
			}
		}
		got, want, twin := bytes.Clone(old), bytes.Clone(old), bytes.Clone(old)
		start := r.IntN(size/Block+1) * Block
		d := NewDiffer(now, twin, start, 1<<20)
		for from := start; from < size; {
			from += r.IntN(5) * Block
			to := min(from+(1+r.IntN(9))*Block, size)
			if from >= to {
				continue
			}
			next, changed := d.Look(from, to)
			if next != to || changed != !bytes.Equal(old[from:to], now[from:to]) {
				t.Fatalf("[%d:%d]: next %d, changed %v", from, to, next, changed)
			}
			copy(want[from:to], now[from:to])
			from = to
		}
		if err := ApplyDiff(got, got, d.Diff, start); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) || !bytes.Equal(twin, want) {
			t.Fatal("something else has changed")
		}
	}
}

func BenchmarkDiff(b *testing.B) {
	mem, twin := make([]byte, 64<<20), make([]byte, 64<<20)
	b.Run("unchanged", func(b *testing.B) {
		b.SetBytes(int64(len(mem)))
		for b.Loop() {
			AppendDiff(nil, mem, twin, 0, MaxDiff)
		}
	})
	b.Run("random", func(b *testing.B) {
		mem, twin, dst := mem[:1<<20], twin[:1<<20], make([]byte, 0, 2<<20)
		r := rand.New(rand.NewPCG(1, 1))
		for i := range mem {
			mem[i] = byte(r.Uint32())
		}
		b.SetBytes(int64(len(mem)))
		for b.Loop() {
			clear(twin)
			AppendDiff(dst, mem, twin, 0, MaxDiff)
		}
	})
}
