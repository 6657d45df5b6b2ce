package codeobject

import (
	"errors"
	"io"
	"testing"
	"unsafe"
)

// guarded is memory behind which nothing may be read.
type guarded struct {
	b    []byte
	over bool
}

func (g *guarded) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off+int64(len(p)) > int64(len(g.b)) {
		g.over = true
		return 0, io.ErrUnexpectedEOF
	}
	return copy(p, g.b[off:]), nil
}

// TestSize measures every image, and every form of a compressed one, without
// reading past its end.
func TestSize(t *testing.T) {
	all := images(t)
	plain := all["bundle.hipfb"]
	for v := uint16(1); v <= 3; v++ {
		all[string(rune('0'+v))+" zstd"] = compressed(t, v, methodZstd, plain)
		all[string(rune('0'+v))+" zlib"] = compressed(t, v, methodZlib, plain)
	}
	// A stream of many blocks, raw and repeated ones among them.
	noise := make([]byte, 1<<20)
	x := uint32(1)
	for i := range noise[:700_000] {
		x = x*1664525 + 1013904223
		noise[i] = byte(x >> 24)
	}
	all["noise"] = compressed(t, 1, methodZstd, noise)
	for name, b := range all {
		g := &guarded{b: b}
		n, err := Size(g)
		if err != nil || n != uint64(len(b)) || g.over {
			t.Errorf("%s: %d of %d bytes, read past the end: %v, %v", name, n, len(b), g.over, err)
		}
		memory := append(append([]byte{}, b...), "what follows in memory"...)
		got, err := FromPointer(unsafe.Pointer(&memory[0]))
		if err != nil || string(got) != string(b) {
			t.Errorf("%s: %d of %d bytes from a pointer, %v", name, len(got), len(b), err)
		}
		if &got[0] != &memory[0] {
			t.Errorf("%s was copied", name)
		}
		// Of an image that is cut off, the size is the whole's, or an error.
		for _, cut := range []int{0, 3, 4, 7, 20, 25, 40, 63, 100, 1000} {
			n, err := Size(&guarded{b: b[:min(cut, len(b))]})
			if cut < 20 && err == nil || err == nil && n != uint64(len(b)) || err != nil && !errors.Is(err, ErrInvalid) {
				t.Errorf("%s cut to %d bytes: %d, %v", name, cut, n, err)
			}
		}
	}
	if _, err := FromPointer(nil); !errors.Is(err, ErrInvalid) {
		t.Errorf("nil: %v", err)
	}
	for _, s := range []string{"MZ\x90\x00 a program of another system", "__CLANG_OFFLOAD_PACKAGE__", "\x7fELF\x01\x01 32 bits, and then some more to fill a header of 64 bytes......"} {
		if _, err := Size(&guarded{b: []byte(s)}); !errors.Is(err, ErrInvalid) {
			t.Errorf("%q: %v", s, err)
		}
	}
}
