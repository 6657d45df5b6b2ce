package codeobject

import (
	"bytes"
	"errors"
	"testing"
)

// seed adds every image of testdata, and its beginning.
func seed(f *testing.F, with func(name string) bool) {
	for name, b := range images(f) {
		if with(name) {
			f.Add(b)
			f.Add(b[:len(b)/2])
		}
	}
}

// typed fails unless an error is one of this package's.
func typed(t *testing.T, err error) {
	t.Helper()
	if err != nil && !errors.Is(err, ErrInvalid) && !errors.Is(err, ErrNoBinary) && !errors.Is(err, ErrUndefined) {
		t.Fatalf("untyped error %v", err)
	}
}

// FuzzEntries takes anything for a bundle: entries must lie in what they were
// read from, and Size must agree with what is read.
func FuzzEntries(f *testing.F) {
	seed(f, func(string) bool { return true })
	plain := read(f, "bundle.hipfb")
	f.Add(append(append(bytes.Clone(plain), make([]byte, 64)...), plain...))
	f.Fuzz(func(t *testing.T, b []byte) {
		entries, err := Entries(b)
		typed(t, err)
		n, sizeErr := Size(bytes.NewReader(b))
		typed(t, sizeErr)
		if err == nil && bytes.HasPrefix(b, []byte(bundleMagic)) {
			if sizeErr != nil || n > uint64(len(b)) {
				t.Fatalf("bundle of %d bytes, Size says %d, %v", len(b), n, sizeErr)
			}
			for _, e := range entries {
				if e.Device() && e.Target != target(t, e.Target.String()) {
					t.Fatalf("target %+v of %q", e.Target, e.ID)
				}
			}
		}
		_, err = Select(b, Target{"gfx90a", FeatureOn, FeatureOff})
		typed(t, err)
	})
}

// FuzzCompressed unfolds whatever stands behind a CCOB header.
func FuzzCompressed(f *testing.F) {
	plain := read(f, "bundle.hipfb")[:600]
	for v := uint16(1); v <= 3; v++ {
		f.Add(compressed(f, v, methodZstd, plain))
		f.Add(compressed(f, v, methodZlib, plain))
	}
	f.Add(read(f, "bundle_compressed.hipfb"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if !bytes.HasPrefix(b, []byte(compressedMagic)) {
			b = append([]byte(compressedMagic), b...)
		}
		if len(b) > 8 {
			b[4] = 1 + b[4]%3
			b[6] %= 2
		}
		out, size, err := decompress(b, 1<<26)
		typed(t, err)
		if err != nil {
			return
		}
		if size > uint64(len(b)) || len(out) > 1<<26 {
			t.Fatalf("%d bytes of %d unfold to %d", size, len(b), len(out))
		}
		if n, err := Size(bytes.NewReader(b)); err != nil || n != size {
			t.Fatalf("Size says %d, %v; it is %d", n, err, size)
		}
	})
}

// FuzzParse parses anything, and loads and launches what parses.
func FuzzParse(f *testing.F) {
	seed(f, func(name string) bool { return len(name) > 3 && name[len(name)-3:] == ".co" })
	f.Fuzz(func(t *testing.T, b []byte) {
		o, err := Parse(b)
		typed(t, err)
		if err != nil || o.MemSize > 1<<24 {
			return
		}
		m := make([]byte, o.MemSize)
		typed(t, o.Load(m, base))
		for name, k := range o.Kernels {
			if name == "" || k.Addr+DescriptorSize > o.MemSize || k.Entry+4 > o.MemSize {
				t.Fatalf("kernel %q at %#x, entry %#x, of %#x", name, k.Addr, k.Entry, o.MemSize)
			}
			seg, err := k.Kernarg(make([]byte, k.ExplicitSize), hidden())
			if err != nil || len(seg) != int(k.KernargSize) {
				t.Fatalf("argument segment of %d bytes: %v", len(seg), err)
			}
		}
		for name, g := range o.Globals {
			if g.Addr+g.Size > o.MemSize {
				t.Fatalf("variable %q at %#x+%#x of %#x", name, g.Addr, g.Size, o.MemSize)
			}
		}
	})
}

// FuzzMetadata reads anything as the metadata of a note.
func FuzzMetadata(f *testing.F) {
	for name, b := range images(f) {
		h, err := parseHeader(b)
		if err != nil {
			continue
		}
		progs, err := h.programs(b)
		if err != nil {
			f.Fatal(name, err)
		}
		for _, p := range progs {
			if p.typ != ptNote {
				continue
			}
			if _, err := notes(b, p.off, p.filesz, func(desc []byte, _ uint64) error {
				f.Add(desc)
				return nil
			}); err != nil {
				f.Fatal(name, err)
			}
		}
	}
	// One value of every type behind an unknown key.
	for _, v := range []string{"\xc0", "\xc4\x01x", "\xc5\x00\x01x", "\xc7\x01\x05x", "\xca\x00\x00\x00\x00", "\xcb\x00\x00\x00\x00\x00\x00\x00\x00",
		"\xd0\x01", "\xd3\x00\x00\x00\x00\x00\x00\x00\x01", "\xd4\x01x", "\xd8\x010123456789abcdef", "\xe0", "\x91\x91\x91\x90", "\x81\xa1a\x80"} {
		f.Add([]byte("\x81\xa1k" + v))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m := &metadata{}
		err := m.add(&msgReader{b: b, room: newBudget(b)})
		typed(t, err)
		if err != nil {
			return
		}
		// What was read cannot be more than there was.
		n := len(m.target)
		for _, k := range m.kernels {
			n += len(k.Name) + len(k.Symbol) + len(k.Args) + len(k.Hidden)
		}
		if n > len(b) {
			t.Fatalf("%d things in %d bytes", n, len(b))
		}
	})
}
