package rocm

import (
	"bytes"
	"math"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/hip"
)

// TestHostSet: host memory is set as the library sets it: values of one, two and four bytes, rows with gaps, slices with gaps.
func TestHostSet(t *testing.T) {
	mem, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		t.Fatal(err)
	}
	p := hip.Ptr(uintptr(unsafe.Pointer(&mem[0])))
	for what, c := range map[string]struct {
		set  hostSet
		want func(i int) byte // of the byte i from the beginning
		n    uint64
	}{
		"bytes": {line(p, 1, 0x1234, 13), func(i int) byte { return []byte{0x34, 0}[i/13&1] }, 13},
		"words": {line(p, 2, 0x1234, 5), func(i int) byte { return append(bytes.Repeat([]byte{0x34, 0x12}, 5), make([]byte, 16)...)[i] }, 10},
		"longs": {line(p, 4, 0x12345678, 3), func(i int) byte {
			return append(bytes.Repeat([]byte{0x78, 0x56, 0x34, 0x12}, 3), make([]byte, 16)...)[i]
		}, 12},
		"rows": {hostSet{dst: p, pitch: 8, width: 3, height: 2, depth: 1, element: 1, value: 7}, func(i int) byte {
			return []byte{7, 7, 7, 0, 0, 0, 0, 0, 7, 7, 7, 0, 0}[i]
		}, 11},
		"slices": {hostSet{dst: p, pitch: 2, slice: 6, width: 1, height: 2, depth: 2, element: 1, value: 9}, func(i int) byte {
			return []byte{9, 0, 9, 0, 0, 0, 9, 0, 9, 0}[i]
		}, 9},
	} {
		clear(mem)
		if n, ok := c.set.size(); !ok || n != c.n {
			t.Errorf("%s: %d bytes, %v", what, n, ok)
			continue
		}
		c.set.fill()
		for i := range int(c.n) + 1 {
			if mem[i] != c.want(i) {
				t.Errorf("%s: % x", what, mem[:c.n+1])
				break
			}
		}
		if !bytes.Equal(mem[c.n:], make([]byte, len(mem)-int(c.n))) {
			t.Errorf("%s: more was set", what)
		}
	}
	for what, x := range map[string]hostSet{
		"nothing":       line(p, 1, 0, 0),
		"more than all": line(p, 4, 0, math.MaxUint64),
		"no pitch":      {dst: p, width: 3, height: 2, depth: 1, element: 1},
		"high":          {dst: p, pitch: 1 << 30, width: 3, height: 1 << 30, depth: 1, element: 1},
		"no slice":      {dst: p, pitch: 8, width: 3, height: 2, depth: 2, element: 1},
		"deep":          {dst: p, pitch: 8, slice: 1 << 40, width: 3, height: 2, depth: 1 << 30, element: 1},
	} {
		if n, ok := x.size(); ok {
			t.Errorf("%s: %d bytes", what, n)
		}
	}
	if unix.Munmap(mem) == nil { // a program that is wrong ends no session
		all := line(p, 1, 1, 4096)
		all.fill()
	}
}
