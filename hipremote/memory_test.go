package hipremote

import (
	"slices"
	"testing"

	"github.com/rocwire/rocwire/hip"
)

// TestGaps: what is given back of a range lies in it, wherever else this client has host memory: everything between was given back once, Go's heap
// among it, when another client's memory was above the range.
func TestGaps(t *testing.T) {
	var m memory
	host := &hostRegion{}
	for _, b := range []*block{
		{base: 0x1000, size: 0x1000, host: host},
		{base: 0x100000, size: 0x1000, host: host},
		{base: 0x105000, size: 0x1000},
		{base: 0x10a000, size: 0x2000, host: host},
		{base: 0x10c000, size: 0x1000, host: &hostRegion{registered: true}, mirror: true},
		{base: 0x7f0000000000, size: 0x1000, host: host},
	} {
		m.blocks.insert(b)
	}
	want := []addressRange{{0x101000, 0x9000}, {0x10c000, 0x4000}}
	if got := m.gaps(addressRange{0x100000, 0x10000}); !slices.Equal(got, want) {
		t.Errorf("%#x, want %#x", got, want)
	}
}

// TestHas: a block is device memory as long as it is there, also right after it was looked up.
func TestHas(t *testing.T) {
	var m memory
	b, other := &block{base: 0x1000, want: 0x100}, &block{base: 0x2000, want: 0x100}
	m.blocks.insert(b)
	m.blocks.insert(other)
	m.blocks.insert(&block{base: 0x3000, want: 0x100, host: &hostRegion{}})
	for range 2 {
		for _, x := range []struct {
			p    hip.Ptr
			n    uint64
			want bool
		}{
			{0x1000, 0x100, true}, {0x10ff, 1, true}, {0x1001, 0x100, false}, {0x1100, 1, false}, {0xfff, 1, false},
			{0x1080, ^uint64(0), false}, {0x1080, ^uint64(0x1080) + 1, false}, {0x20ff, 1, true}, {0x3000, 1, false}, {0, 1, false},
		} {
			for range 2 {
				if got := m.has(x.p, x.n); got != x.want {
					t.Errorf("%#x bytes at %#x: %v", x.n, uint64(x.p), got)
				}
			}
		}
	}
	for _, b := range []*block{b, other} {
		if !m.has(hip.Ptr(b.base), 1) {
			t.Fatal("a block is not known")
		}
		if m.remove(b); m.has(hip.Ptr(b.base), 1) {
			t.Error("a block that is removed is still known")
		}
	}
}

// TestWork: each kind of message keeps the devices busy until a mark that was made after it was counted twice.
func TestWork(t *testing.T) {
	var w work
	for _, c := range []interface{ Add(uint64) uint64 }{&w.tasks[1].copies, &w.tasks[0].posted, &w.tasks[maxDevices-1].posted} {
		c.Add(1)
		early := w.mark()
		c.Add(1)
		if w.done.note(early); !w.busy() {
			t.Error("a mark from before a message was sent speaks for it")
		}
		w.done.note(w.mark())
		if w.done.note(early); w.busy() {
			t.Error("busy with what is done")
		}
	}
}
