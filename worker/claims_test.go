package worker

import (
	"math/rand/v2"
	"runtime/debug"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// free is an address where n bytes are free, and stay so as long as nobody but the test maps memory there.
func free(t *testing.T, n int) uint64 {
	t.Helper()
	const apart = 0x710000000000
	e := extent{apart, uint64(n)}
	for mapFixed(e, unix.PROT_NONE, unix.MAP_FIXED_NOREPLACE) != nil {
		if e.base += 1 << 30; e.base > apart+1<<40 {
			t.Fatal("no free addresses")
		}
	}
	unmapped(e)
	return e.base
}

func unmapped(e extent) {
	_, _, _ = unix.Syscall(unix.SYS_MUNMAP, uintptr(e.base), uintptr(e.size), 0)
}

func (c *claims) end() {
	for _, e := range c.held {
		unmapped(e)
	}
}

// faults reports whether the byte at addr cannot be read.
func faults(addr uint64) (faulted bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if recover() != nil {
			faulted = true
		}
	}()
	seen = bytesAt(addr, 1)[0]
	return false
}

var seen byte

func TestClaims(t *testing.T) {
	var c claims
	defer c.end()
	at := free(t, 1<<20)
	take := func(base, size uint64, want bool) {
		t.Helper()
		if c.take(base, size) != want {
			t.Fatalf("take(%#x, %d) is not %v", base, size, want)
		}
	}
	take(at+100, 50, true)
	take(at+150, 5000, true) // shares the first's page, and ends in the next
	take(at+5150, 10, true)
	take(at+149, 1, false)
	take(at+5140, 20, false)
	take(at, 101, false)
	take(at, 1<<19, false)
	for _, bad := range [][2]uint64{{at + 1<<19, 0}, {at, 1 << 41}, {1<<47 - 1, 2}, {1 << 47, 1}, {^uint64(0), 1}, {0, 10}} {
		take(bad[0], bad[1], false)
	}
	here := uint64(uintptr(unsafe.Pointer(&c)))
	take(here, 8, false) // this process's own
	b := bytesAt(at+100, 5060)
	for i := range b {
		b[i] = 7
	}
	c.give(at + 150)
	if b[0] != 7 || b[49] != 7 || b[5050] != 7 || b[50] != 0 || b[5049] != 0 {
		t.Errorf("after one of three has ended: %v %v %v %v %v", b[0], b[49], b[50], b[5049], b[5050])
	}
	c.give(at + 100)
	if !faults(at + 100) {
		t.Error("a page that is nobody's any more can be read")
	}
	take(at+90, 5060, true)
	if b[0] != 0 || b[5049] != 0 || b[5050] != 7 {
		t.Errorf("claimed again: %v %v %v", b[0], b[5049], b[5050])
	}
	b[0] = 1
	if !c.clear(at+90) || b[0] != 0 || b[5050] != 7 {
		t.Error("clear")
	}
	other := at + 1<<19
	if mapFixed(extent{other, 4096}, unix.PROT_READ, unix.MAP_FIXED_NOREPLACE) != nil {
		t.Fatal("mmap")
	}
	defer unmapped(extent{other, 4096})
	take(other-4096, 8192, false) // somebody else's page is among them
	take(other+10, 10, false)
}

// TestClaimsAgainstModel makes and ends claims at random: each is zero at first, keeps what is written to it, and a list says which there are.
func TestClaimsAgainstModel(t *testing.T) {
	var c claims
	defer c.end()
	const room = 64 << 10
	at := free(t, room)
	rnd := rand.New(rand.NewPCG(1, 2))
	live := map[uint64]uint64{}
	for step := range 4000 {
		base, size := at+rnd.Uint64N(room-9000), 1+rnd.Uint64N(9000)
		free := true
		for b, n := range live {
			free = free && (b >= base+size || base >= b+n)
		}
		if c.take(base, size) != free {
			t.Fatalf("step %d: take(%#x, %d) is not %v", step, base, size, free)
		}
		if free {
			for i, v := range bytesAt(base, size) {
				if v != 0 {
					t.Fatalf("step %d: byte %d of a new claim is %d", step, i, v)
				}
			}
			for i := range bytesAt(base, size) {
				bytesAt(base, size)[i] = byte(base) | 1
			}
			live[base] = size
		}
		for b, n := range live { // one by chance
			for i, v := range bytesAt(b, n) {
				if v != byte(b)|1 {
					t.Fatalf("step %d: byte %d of a claim has changed", step, i)
				}
			}
			if rnd.IntN(3) > 0 {
				c.give(b)
				delete(live, b)
			}
			break
		}
	}
	if len(c.live) != len(live) {
		t.Errorf("%d claims, want %d", len(c.live), len(live))
	}
}
