package codeobject

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestSelect chooses from every form of the same bundle.
func TestSelect(t *testing.T) {
	plain := read(t, "bundle.hipfb")
	parts := map[string][]byte{}
	for _, n := range []string{"gfx90a", "gfx90a_both", "gfx90a_xnack_on", "gfx90a_xnack_off", "gfx942", "gfx9-generic"} {
		parts[n] = read(t, "feature_"+n+".co")
	}
	const hip = "hipv4-amdgcn-amd-amdhsa--"
	other := bundled([]string{"host-x86_64-unknown-linux-gnu-", hip + "gfx906"}, [][]byte{nil, parts["gfx9-generic"]})
	ranked := bundled([]string{hip + "gfx90a", hip + "gfx90a:sramecc+:xnack-", hip + "gfx90a:xnack-"},
		[][]byte{parts["gfx90a"], parts["gfx90a_both"], parts["gfx90a_xnack_off"]})
	generic := bundled([]string{hip + "gfx9-generic", hip + "gfx942", "hip-spirv64-amd-amdhsa--amdgcnspirv", "openmp-amdgcn-amd-amdhsa--gfx90a"},
		[][]byte{parts["gfx9-generic"], parts["gfx942"], {1}, parts["gfx90a"]})
	emptied := bundled([]string{hip + "gfx942"}, [][]byte{nil})

	forms := map[string][]byte{
		"plain":                plain,
		"aligned":              read(t, "bundle_aligned.hipfb"),
		"compressed by clang":  read(t, "bundle_compressed.hipfb"),
		"CCOB 1 zstd":          compressed(t, 1, methodZstd, plain),
		"CCOB 1 zlib":          compressed(t, 1, methodZlib, plain),
		"CCOB 2 zstd":          compressed(t, 2, methodZstd, plain),
		"CCOB 2 zlib":          compressed(t, 2, methodZlib, plain),
		"CCOB 3 zstd":          compressed(t, 3, methodZstd, plain),
		"CCOB 3 zlib":          compressed(t, 3, methodZlib, plain),
		"second of two":        append(slices.Clone(other), plain...),
		"second, aligned":      append(append(slices.Clone(other), make([]byte, 4096)...), plain...),
		"second, compressed":   append(append(compressed(t, 1, methodZstd, other), make([]byte, 100)...), compressed(t, 3, methodZstd, plain)...),
		"zlib without a total": append(append(compressed(t, 1, methodZlib, other), make([]byte, 7)...), plain...),
		"trailing zeros":       append(slices.Clone(plain), make([]byte, 5000)...),
		"trailing text":        append(slices.Clone(plain), "something else"...),
	}
	for name, image := range forms {
		for device, part := range map[string]string{
			"gfx90a:sramecc+:xnack-": "gfx90a_xnack_off",
			"gfx90a:sramecc-:xnack+": "gfx90a_xnack_on",
			"gfx942:sramecc+:xnack-": "gfx942",
		} {
			got, err := Select(image, target(t, device))
			if err != nil || !bytes.Equal(got, parts[part]) {
				t.Errorf("%s for %s: %d bytes, %v", name, device, len(got), err)
			}
		}
	}

	for _, tt := range []struct {
		name   string
		image  []byte
		device string
		part   string
		have   []string // when nothing suits
	}{
		{"most specific", ranked, "gfx90a:sramecc+:xnack-", "gfx90a_both", nil},
		{"less specific", ranked, "gfx90a:sramecc-:xnack-", "gfx90a_xnack_off", nil},
		{"any", ranked, "gfx90a:sramecc-:xnack+", "gfx90a", nil},
		{"generic", generic, "gfx906:sramecc-:xnack-", "gfx9-generic", nil},
		{"own before generic", bundled([]string{hip + "gfx9-4-generic", hip + "gfx942"}, [][]byte{parts["gfx90a"], parts["gfx942"]}),
			"gfx942:sramecc+:xnack-", "gfx942", nil},
		{"bare", parts["gfx942"], "gfx942:sramecc+:xnack-", "gfx942", nil},
		{"bare with a feature", parts["gfx90a_xnack_off"], "gfx90a:sramecc+:xnack-", "gfx90a_xnack_off", nil},
		{"old identifier", bundled([]string{"hip-amdgcn-amd-amdhsa-gfx942"}, [][]byte{parts["gfx942"]}), "gfx942", "gfx942", nil},
		{"bare of another GPU", parts["gfx90a"], "gfx942:sramecc+:xnack-", "", []string{"gfx90a"}},
		{"feature undecided", plain, "gfx90a", "", []string{"gfx90a:xnack+", "gfx90a:xnack-", "gfx942"}},
		{"generic of another family", generic, "gfx1100", "",
			[]string{"gfx9-generic (generic)", "gfx942", "hip-spirv64-amd-amdhsa--amdgcnspirv", "openmp-amdgcn-amd-amdhsa--gfx90a"}},
		{"empty entry", emptied, "gfx942", "", []string{"gfx942"}},
	} {
		got, err := Select(tt.image, target(t, tt.device))
		if tt.part != "" {
			if err != nil || !bytes.Equal(got, parts[tt.part]) {
				t.Errorf("%s: %d bytes, %v", tt.name, len(got), err)
			}
			continue
		}
		var missing *NoBinaryForGPU
		if !errors.Is(err, ErrNoBinary) || !errors.As(err, &missing) || errors.Is(err, ErrInvalid) {
			t.Errorf("%s: error %v", tt.name, err)
			continue
		}
		if missing.Wanted != tt.device || !slices.Equal(missing.Have, tt.have) {
			t.Errorf("%s: wanted %q, have %q", tt.name, missing.Wanted, missing.Have)
		}
		for _, s := range append(tt.have, tt.device) {
			if !strings.Contains(err.Error(), s) {
				t.Errorf("%s: message does not name %s: %v", tt.name, s, err)
			}
		}
	}
}

// TestMalformedBundles expects an error that says what is wrong.
func TestMalformedBundles(t *testing.T) {
	plain := read(t, "bundle.hipfb")
	packed := read(t, "bundle_compressed.hipfb")
	patch := func(b []byte, at int, v uint64, n int) []byte {
		c := slices.Clone(b)
		for i := range n {
			c[at+i] = byte(v >> (8 * i))
		}
		return c
	}
	bomb := compressed(t, 3, methodZstd, make([]byte, 64<<20))
	for name, tt := range map[string]struct {
		image []byte
		want  string
	}{
		"empty":              {nil, "neither"},
		"text":               {[]byte("#!/bin/sh\n"), "neither"},
		"header cut":         {plain[:30], "cut off"},
		"entries announced":  {patch(plain, 24, 1<<60, 8), "bundle with"},
		"entries cut":        {plain[:60], "bundle"},
		"offset beyond":      {patch(plain, 32, 1<<40, 8), "covers"},
		"size wraps":         {patch(plain, 40, ^uint64(0)-10, 8), "covers"},
		"identifier long":    {patch(plain, 48, 1<<50, 8), "identifier"},
		"identifier wraps":   {patch(plain, 48, ^uint64(0), 8), "identifier"},
		"truncated":          {plain[:len(plain)-1], "covers"},
		"CCOB cut":           {packed[:6], "cut off"},
		"CCOB header cut":    {packed[:20], "cut off"},
		"CCOB version 0":     {patch(packed, 4, 0, 2), "version 0"},
		"CCOB version 4":     {patch(packed, 4, 4, 2), "version 4"},
		"CCOB method":        {patch(packed, 6, 2, 2), "method 2"},
		"CCOB total small":   {patch(packed, 8, 10, 4), "10 bytes long, its header"},
		"CCOB total large":   {patch(packed, 8, uint64(len(packed)+1), 4), "the image has"},
		"CCOB plain small":   {patch(packed, 12, 100, 4), "more than it announces"},
		"CCOB plain large":   {patch(packed, 12, uint64(len(plain)+100), 4), "says"},
		"CCOB plain absurd":  {patch(packed, 12, 0xffffffff, 4), "unfold to 4294967295"},
		"CCOB data wrong":    {patch(packed, 30, 0x5555555555, 5), "unfold"},
		"CCOB other content": {compressed(t, 2, methodZstd, []byte("hello")), "not a bundle"},
		"CCOB in CCOB":       {compressed(t, 2, methodZstd, packed), "not a bundle"},
		"CCOB bad bundle":    {compressed(t, 2, methodZstd, plain[:60]), "in the decompressed bundle"},
		"CCOB 1 no stream":   {compressed(t, 1, methodZstd, plain)[:24], "cut off"},
		"CCOB 1 stream cut":  {compressed(t, 1, methodZlib, plain)[:200], "cut off"},
		"bomb, small claim":  {patch(bomb, 16, 1000, 8), "more than it announces"},
		"bomb, true claim":   {bomb[:32+2000], "bytes long, the image has"},
		"over the limit":     {patch(bomb, 16, MaxUncompressed+1, 8), "more than the limit"},
	} {
		_, err := Select(tt.image, Target{Processor: "gfx942"})
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The limit counts for all bundles of an image together.
	if _, _, err := decompress(packed, uint64(len(plain)-1)); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "limit") {
		t.Errorf("over what is left: %v", err)
	}
	// No prefix of a bundle may be taken for the whole, nor crash.
	for n := range len(plain) {
		if _, err := Entries(plain[:n]); err == nil {
			t.Fatalf("%d of %d bytes are a bundle", n, len(plain))
		}
	}
}
