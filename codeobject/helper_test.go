package codeobject

import (
	"bytes"
	"compress/zlib"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// read returns a file of testdata.
func read(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// images returns every image of testdata by name.
func images(t testing.TB) map[string][]byte {
	t.Helper()
	m := map[string][]byte{}
	for _, pattern := range []string{"*.co", "*.hipfb"} {
		files, err := filepath.Glob(filepath.Join("testdata", pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("no %s in testdata: %v", pattern, err)
		}
		for _, f := range files {
			m[filepath.Base(f)] = read(t, filepath.Base(f))
		}
	}
	return m
}

func parse(t testing.TB, name string) *Object {
	t.Helper()
	o, err := Parse(read(t, name))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return o
}

func target(t testing.TB, s string) Target {
	t.Helper()
	x, err := ParseTarget(s)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// compressed wraps data in a CCOB container of a version.
func compressed(t testing.TB, version, method uint16, data []byte) []byte {
	t.Helper()
	var body []byte
	switch method {
	case methodZstd:
		w, err := zstd.NewWriter(nil)
		if err != nil {
			t.Fatal(err)
		}
		body = w.EncodeAll(data, nil)
	case methodZlib:
		var buf bytes.Buffer
		w := zlib.NewWriter(&buf)
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		body = buf.Bytes()
	}
	h := append([]byte(compressedMagic), byte(version), 0, byte(method), 0)
	hash := make([]byte, 8)
	switch version {
	case 1:
		h = le.AppendUint32(h, uint32(len(data)))
	case 2:
		h = le.AppendUint32(h, uint32(24+len(body)))
		h = le.AppendUint32(h, uint32(len(data)))
	case 3:
		h = le.AppendUint64(h, uint64(32+len(body)))
		h = le.AppendUint64(h, uint64(len(data)))
	}
	return append(append(h, hash...), body...)
}

// bundled makes a bundle of entries.
func bundled(ids []string, parts [][]byte) []byte {
	b := append([]byte(bundleMagic), make([]byte, 8)...)
	le.PutUint64(b[len(bundleMagic):], uint64(len(ids)))
	head := len(b)
	for _, id := range ids {
		head += bundleEntrySize + len(id)
	}
	off := uint64(head)
	for i, id := range ids {
		b = le.AppendUint64(b, off)
		b = le.AppendUint64(b, uint64(len(parts[i])))
		b = le.AppendUint64(b, uint64(len(id)))
		b = append(b, id...)
		off += uint64(len(parts[i]))
	}
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}
