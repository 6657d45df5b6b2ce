package codeobject

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestParseVersions reads the same source in every code object version.
func TestParseVersions(t *testing.T) {
	for _, tt := range []struct {
		file, target string
		version      int
		size         uint32 // of the argument segment of "everything"
		first        uint32 // where hidden arguments begin
		hidden       int
		vgprs        uint32 // 0: not compared
	}{
		{"args_gfx90a_v4.co", "gfx90a", 4, 128, 72, 7, 7},
		{"args_gfx90a_v5.co", "gfx90a", 5, 328, 72, 20, 7},
		{"args_gfx90a_v6.co", "gfx90a", 6, 328, 72, 20, 7},
		{"args_gfx942_v5.co", "gfx942", 5, 328, 72, 20, 0},
	} {
		o := parse(t, tt.file)
		if o.Target.Short() != tt.target || o.Version != tt.version {
			t.Errorf("%s is %s version %d", tt.file, o.Target, o.Version)
		}
		long := strings.Repeat("long_name_of_a_kernel_", 10)
		if len(o.Kernels) != 4 || o.Kernels[long] == nil {
			t.Errorf("%s: %d kernels, long name %v", tt.file, len(o.Kernels), o.Kernels[long])
		}
		k := o.Kernels["everything"]
		if k == nil {
			t.Fatalf("%s: no kernel", tt.file)
		}
		if k.Symbol != "everything.kd" || !k.HasMetadata || k.KernargSize != tt.size || k.KernargAlign != 8 || k.ExplicitSize != 72 ||
			k.GroupSize != 128 || k.PrivateSize != 0 || k.WavefrontSize != 64 || k.MaxFlatWorkgroupSize != 1024 {
			t.Errorf("%s: %+v", tt.file, k)
		}
		if tt.vgprs != 0 && k.VGPRs != tt.vgprs {
			t.Errorf("%s: %d VGPRs", tt.file, k.VGPRs)
		}
		want := []placed{{ArgByValue, 0, 1}, {ArgByValue, 2, 2}, {ArgByValue, 4, 4}, {ArgByValue, 8, 8}, {ArgByValue, 16, 4},
			{ArgByValue, 24, 8}, {ArgByValue, 32, 24}, {ArgGlobalBuffer, 56, 8}, {ArgGlobalBuffer, 64, 8}}
		if got := places(k.Args); !slices.Equal(got, want) {
			t.Errorf("%s: arguments %v", tt.file, got)
		}
		if k.Args[8].AddressSpace != "global" || k.Args[8].Access != "read_only" {
			t.Errorf("%s: last argument %+v", tt.file, k.Args[8])
		}
		if len(k.Hidden) != tt.hidden || k.Hidden[0].Offset != tt.first {
			t.Errorf("%s: hidden arguments %v", tt.file, k.Hidden)
		}
		for _, a := range k.Hidden {
			if a.Kind == ArgHiddenNone || !a.Kind.Hidden() {
				t.Errorf("%s: hidden argument %v at %d", tt.file, a.Kind, a.Offset)
			}
		}
		if small := o.Kernels["small"]; small.MaxFlatWorkgroupSize != 64 || !small.Descriptor.WorkgroupID(1) {
			t.Errorf("%s: %+v", tt.file, small)
		}
		for name, size := range map[string]uint64{"counter": 4, "table": 16, "to_counter": 8, "shared_value": 8, "shared_value.managed": 4} {
			if g := o.Globals[name]; g == nil || g.Size != size {
				t.Errorf("%s: variable %s: %+v", tt.file, name, g)
			}
		}
		m := o.Globals["shared_value"].Managed
		if m == nil || m.Size != 4 || o.Globals["counter"].Managed != nil {
			t.Errorf("%s: managed variable %+v", tt.file, m)
		}
		if o.Globals["everything.kd"] != nil || o.Globals["everything"] != nil {
			t.Errorf("%s: a kernel is among the variables", tt.file)
		}
	}
}

// placed is the part of an Arg that places it.
type placed struct {
	kind         ArgKind
	offset, size uint32
}

func places(args []Arg) []placed {
	out := make([]placed, len(args))
	for i, a := range args {
		out[i] = placed{a.Kind, a.Offset, a.Size}
	}
	return out
}

// TestDescriptor decodes a descriptor that clang wrote.
func TestDescriptor(t *testing.T) {
	d := parse(t, "args_gfx90a_v5.co").Kernels["everything"].Descriptor
	want := Descriptor{GroupSegmentFixedSize: 128, KernargSize: 328, EntryOffset: 0x1100, Rsrc1: 0x00af0080, Rsrc2: 0x8c, Rsrc3: 1,
		Properties: 9}
	if d != want {
		t.Errorf("descriptor %+v", d)
	}
	got := fmt.Sprint(d.VGPRs(), d.SGPRGranules(), d.FloatRound32(), d.FloatRound64(), d.FloatDenorm32(), d.FloatDenorm64(), d.FloatMode(),
		d.DX10Clamp(), d.IEEE(), d.FP16Overflow(), d.EnablePrivateSegment(), d.UserSGPRs(), d.WorkgroupID(0), d.WorkgroupID(1),
		d.WorkgroupID(2), d.WorkgroupInfo(), d.WorkitemID(), d.AccumOffset(), d.TgSplit(), d.PreloadLength(), d.PreloadOffset(),
		d.Has(EnablePrivateSegmentBuffer), d.Has(EnableDispatchPtr), d.Has(EnableKernargSegmentPtr))
	if got != "8 2 0 0 3 3 240 true true false false 6 true false false false 0 8 false 0 0 true false true" {
		t.Errorf("fields: %s", got)
	}
	// Fields that this kernel leaves zero.
	var b [DescriptorSize]byte
	le.PutUint32(b[4:], 48)
	le.PutUint64(b[16:], ^uint64(255))
	le.PutUint32(b[44:], 63|1<<16)
	le.PutUint32(b[48:], 63|15<<6|1<<12|2<<14|1<<16|2<<18|1<<26)
	le.PutUint32(b[52:], 1|16<<1|1<<9|1<<10|2<<11)
	le.PutUint16(b[56:], uint16(EnableWavefrontSize32|UsesDynamicStack|EnablePrivateSegmentSize))
	le.PutUint16(b[58:], 5<<7|14)
	d, err := ParseDescriptor(b[:])
	if err != nil {
		t.Fatal(err)
	}
	got = fmt.Sprint(d.PrivateSegmentFixedSize, d.EntryOffset, d.VGPRs(), d.SGPRGranules(), d.FloatRound32(), d.FloatRound64(), d.FloatDenorm32(),
		d.FloatDenorm64(), d.DX10Clamp(), d.IEEE(), d.FP16Overflow(), d.EnablePrivateSegment(), d.UserSGPRs(), d.WorkgroupID(0),
		d.WorkgroupID(2), d.WorkgroupInfo(), d.WorkitemID(), d.AccumOffset(), d.TgSplit(), d.PreloadLength(), d.PreloadOffset(),
		d.Has(EnableWavefrontSize32), d.Has(UsesDynamicStack), d.Has(EnablePrivateSegmentSize), d.Has(EnableQueuePtr))
	if got != "48 -256 512 15 1 2 1 2 false false true true 16 false true true 2 256 true 14 5 true true true false" {
		t.Errorf("fields: %s", got)
	}
	if _, err := ParseDescriptor(b[:63]); !errors.Is(err, ErrInvalid) {
		t.Errorf("63 bytes: %v", err)
	}
}

// TestNotes reads one note per kernel, and a kernel without any.
func TestNotes(t *testing.T) {
	o := parse(t, "two_notes.co")
	if o.Version != 4 || len(o.Kernels) != 3 || len(o.Globals) != 0 {
		t.Errorf("version %d, kernels %v, variables %v", o.Version, o.Kernels, o.Globals)
	}
	a, b, c := o.Kernels["first"], o.Kernels["second"], o.Kernels["bare"]
	if a == nil || b == nil || c == nil {
		t.Fatal("a kernel is missing")
	}
	if got := places(a.Args); !slices.Equal(got, []placed{{ArgByValue, 0, 8}, {ArgByValue, 8, 4}}) || a.Args[0].Name != "a" ||
		a.ExplicitSize != 12 || a.KernargSize != 24 || a.Language != "OpenCL C" || a.MaxFlatWorkgroupSize != 256 || !a.HasMetadata {
		t.Errorf("first: %+v", a)
	}
	if b.KernargAlign != 16 || b.KernargSize != 32 || b.RequiredWorkgroupSize != [3]uint32{16, 4, 2} || b.GroupSize != 1024 {
		t.Errorf("second: %+v", b)
	}
	if c.HasMetadata || c.KernargSize != 24 || c.ExplicitSize != 24 || c.GroupSize != 1024 || c.WavefrontSize != 64 ||
		c.Descriptor.WorkitemID() != 1 || c.Descriptor.AccumOffset() != 12 || c.Descriptor.VGPRs() != 24 || c.Entry == 0 {
		t.Errorf("bare: %+v", c)
	}
}

// TestMalformedObjects expects an error that says what is wrong.
func TestMalformedObjects(t *testing.T) {
	good := read(t, "args_gfx90a_v5.co")
	patched := func(at int, v uint64, n int) []byte {
		c := slices.Clone(good)
		for i := range n {
			c[at+i] = byte(v >> (8 * i))
		}
		return c
	}
	find := func(s string) int {
		at := strings.Index(string(good), s)
		if at < 0 {
			t.Fatalf("%q is not in the object", s)
		}
		return at
	}
	const ph = 64 // the program headers; the second is the first load segment
	const load = ph + elfProgSize
	args := find("\xa5.args") + 6
	for name, tt := range map[string]struct {
		image []byte
		want  string
	}{
		"empty":            {nil, "cut off"},
		"magic":            {patched(0, 0, 1), "not an ELF"},
		"32 bits":          {patched(4, 1, 1), "64-bit"},
		"machine":          {patched(18, 62, 2), "machine 62"},
		"OS":               {patched(7, 0, 1), "OS ABI 0"},
		"type":             {patched(16, 2, 2), "type 2"},
		"relocatable":      {read(t, "relocatable.o"), "must be linked"},
		"code object 2":    {patched(8, 0, 1), "version 2"},
		"code object 99":   {patched(8, 97, 1), "byte 97"},
		"unknown GPU":      {patched(48, 0xfe, 1), "unknown machine 0xfe"},
		"headers beyond":   {patched(32, 1<<40, 8), "program headers"},
		"header size":      {patched(54, 40, 2), "program headers of 40"},
		"sections beyond":  {patched(40, ^uint64(0)-5, 8), "section headers"},
		"section size":     {patched(58, 40, 2), "section headers of 40"},
		"no headers":       {patched(56, 0, 2), "no load segment"},
		"segment beyond":   {patched(load+32, 1<<40, 8), "segment covers"},
		"segment wraps":    {patched(load+8, ^uint64(0)-8, 8), "segment covers"},
		"memory too small": {patched(load+40, 1, 8), "load segment"},
		"memory too large": {patched(load+40, 1<<50, 8), "load segment"},
		"segments overlap": {patched(load+elfProgSize+16, 8, 8), "overlaps"},
		"not a map":        {patched(args, 0x01, 1), "array"},
		"many arguments":   {patched(args, 0xdd, 1), "elements announced"},
		"symbol missing":   {patched(find("everything.kd"), 'E', 1), `no symbol "Everything.kd"`},
		"end missing":      {good[:len(good)-60], "section headers"},
	} {
		_, err := Parse(tt.image)
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for n := range len(good) {
		if _, err := Parse(good[:n]); !errors.Is(err, ErrInvalid) {
			t.Fatalf("%d of %d bytes: %v", n, len(good), err)
		}
	}
}

// TestVersion3 reads the flags of version 3 in an object that is otherwise like
// one of version 4.
func TestVersion3(t *testing.T) {
	b := slices.Clone(read(t, "args_gfx90a_v4.co"))
	b[elfABIOffset] = 1
	le.PutUint32(b[elfFlagsOffset:], 0x13f)
	o, err := Parse(b)
	if err != nil || o.Version != 3 || o.Target.Short() != "gfx90a:sramecc-:xnack+" || len(o.Kernels) != 4 {
		t.Errorf("%+v, %v", o, err)
	}
}

// TestSectionless parses an object whose section headers are gone: the number
// of symbols then comes from the hash table.
func TestSectionless(t *testing.T) {
	b := slices.Clone(read(t, "args_gfx942_v5.co"))
	whole := parse(t, "args_gfx942_v5.co")
	le.PutUint64(b[40:], 0)
	le.PutUint16(b[60:], 0)
	o, err := Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	if len(o.Symbols) != len(whole.Symbols) || len(o.Kernels) != len(whole.Kernels) || len(o.Globals) != len(whole.Globals) {
		t.Errorf("%d symbols, %d kernels, %d variables", len(o.Symbols), len(o.Kernels), len(o.Globals))
	}
}
