package codeobject

import (
	"bytes"
	"testing"

	"github.com/rocwire/rocwire/examples/bugs"
	"github.com/rocwire/rocwire/examples/kernels"
)

func TestDebugLines(t *testing.T) {
	for _, arch := range kernels.Arches {
		image := bytes.Clone(bugs.Object(arch))
		o, err := Parse(image)
		if err != nil {
			t.Fatal(err)
		}
		l := DebugLines(image)
		clear(image) // it is the caller's again
		lines := map[string]bool{}
		for at := range uint64(0x80 / 4) {
			lines[l.Line(o.Kernels["bounds_right"].Entry+4*at)] = true
		}
		if !lines["bugs.hip:97"] || !lines["bugs.hip:98"] || lines["bugs.hip:92"] {
			t.Errorf("%s: the kernel is at %v", arch, lines)
		}
		if got := l.Line(1 << 40); got != "" {
			t.Errorf("%s: an address without code is at %q", arch, got)
		}
	}
	without, err := kernels.Object("gfx942", "saxpy")
	if err != nil {
		t.Fatal(err)
	}
	if l := DebugLines(without); l.Line(0) != "" {
		t.Error("an object without lines has some")
	}
}

func FuzzDebugLines(f *testing.F) {
	f.Add(bugs.Object("gfx942"), uint64(0x4d00))
	f.Add(bugs.Object("gfx90a"), uint64(0x4d00))
	f.Fuzz(func(t *testing.T, image []byte, addr uint64) {
		l := DebugLines(image)
		l.Line(addr)
		l.Line(addr + 4)
	})
}

// TestBoundedLines: a table that says it has more entries than bytes is not read.
func TestBoundedLines(t *testing.T) {
	unit := []byte{5, 0, 8, 0, 0, 0, 0, 0, 4, 1, 1, 0xfb, 14, 1, 1, 1, 0x1f, 0xff, 0xff, 0xff, 0xff, 0x7f}
	if boundedLines(append([]byte{byte(len(unit)), 0, 0, 0}, unit...)) {
		t.Error("2^35 directories in 22 bytes")
	}
}
