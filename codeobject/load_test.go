package codeobject

import (
	"bytes"
	"errors"
	"slices"
	"testing"
)

const base = 0x100000042000

func load(t *testing.T, o *Object) []byte {
	t.Helper()
	// What the memory held before must not shine through.
	dst := bytes.Repeat([]byte{0xcc}, int(o.MemSize)+16)
	if err := o.Load(dst, base); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(dst[o.MemSize:], bytes.Repeat([]byte{0xcc}, 16)) {
		t.Error("Load writes behind the object")
	}
	return dst[:o.MemSize]
}

// TestLoad places objects and follows their pointers.
func TestLoad(t *testing.T) {
	o := parse(t, "relocs.co")
	m := load(t, o)
	u64 := func(addr uint64) uint64 { return le.Uint64(m[addr:]) }
	target, places := o.Globals["target"], o.Globals["places"]
	if target == nil || places == nil {
		t.Fatalf("variables %v", o.Globals)
	}
	if v := u64(target.Addr); v != 0x1122334455667788 {
		t.Errorf("target is %#x", v)
	}
	if v := u64(places.Addr); v != base+target.Addr+16 {
		t.Errorf("absolute pointer is %#x, target lies at %#x", v, base+target.Addr)
	}
	if v := u64(places.Addr + 8); v != base+places.Addr+16+8 {
		t.Errorf("relative pointer is %#x", v)
	}
	// The code loads the pointer from the offset table: its place is where the
	// two literals behind s_getpc_b64 point.
	var reader uint64
	for _, s := range o.Symbols {
		if s.Name == "reader" {
			reader = s.Addr
		}
	}
	offset := uint64(le.Uint32(m[reader+8:])) | uint64(le.Uint32(m[reader+16:]))<<32
	if v := u64(reader + 4 + offset); v != base+target.Addr {
		t.Errorf("entry of the offset table is %#x, target lies at %#x", v, base+target.Addr)
	}

	o = parse(t, "args_gfx90a_v5.co")
	m = load(t, o)
	counter := o.Globals["counter"].Addr
	if v := u64(o.Globals["to_counter"].Addr); v != base+counter+4 {
		t.Errorf("to_counter is %#x, counter lies at %#x", v, base+counter)
	}
	if v := le.Uint32(m[counter:]); v != 42 {
		t.Errorf("counter is %d", v)
	}
	if v := le.Uint32(m[o.Globals["shared_value"].Managed.Addr:]); v != 7 {
		t.Errorf("initial value of the managed variable is %d", v)
	}
	if v := u64(o.Globals["shared_value"].Addr); v != 0 {
		t.Errorf("pointer of the managed variable is %#x before the runtime sets it", v)
	}
	// s_endpgm is the only instruction of the kernel none.
	if v := le.Uint32(m[o.Kernels["none"].Entry:]); v != 0xbf810000 {
		t.Errorf("first instruction of none is %#x", v)
	}
}

// TestRelocations applies the types that lld resolves itself, by changing the
// type of one that it left.
func TestRelocations(t *testing.T) {
	image := read(t, "relocs.co")
	first := parse(t, "relocs.co")
	var abs Relocation
	for _, r := range first.Relocations {
		if r.Type == relAbs64 && r.Addend == 16 {
			abs = r
		}
	}
	value := base + first.Globals["target"].Addr + 16
	place := base + abs.Addr
	rest := uint64(0xcafe0001) << 32 // behind the 4 bytes of a short relocation
	for _, tt := range []struct {
		typ  uint32
		want uint64
		err  error
	}{
		{relAbs32Lo, rest | value&0xffffffff, nil},
		{relAbs32Hi, rest | value>>32, nil},
		{relAbs64, value, nil},
		{relRel64, value - place, nil},
		{relRel32, rest | (value-place)&0xffffffff, nil},
		{relRel32Lo, rest | (value-place)&0xffffffff, nil},
		{relRel32Hi, rest | (value-place)>>32, nil},
		{relAbs32, 0, ErrInvalid}, // the address needs more than 32 bits
		{relNone, rest, nil},
		{7, 0, ErrInvalid},
		{9, 0, ErrInvalid},
		{12, 0, ErrInvalid},
		{99, 0, ErrInvalid},
	} {
		b := slices.Clone(image)
		le.PutUint32(b[abs.Offset+8:], tt.typ)
		off, ok := fileOffset(first.Segments, abs.Addr, 8)
		if !ok {
			t.Fatal("the place is not in the file")
		}
		le.PutUint64(b[off:], rest)
		o, err := Parse(b)
		m := make([]byte, first.MemSize)
		if err == nil {
			err = o.Load(m, base)
		}
		if !errors.Is(err, tt.err) {
			t.Errorf("%s: %v", relocName(tt.typ), err)
		}
		if got := le.Uint64(m[abs.Addr:]); err == nil && got != tt.want {
			t.Errorf("%s: %#x, want %#x", relocName(tt.typ), got, tt.want)
		}
	}
	// Places and symbols outside the object.
	for at, v := range map[uint64]uint64{abs.Offset: first.MemSize - 7, abs.Offset + 8: 4<<32 | relAbs64} {
		b := slices.Clone(image)
		le.PutUint64(b[at:], v)
		if _, err := Parse(b); !errors.Is(err, ErrInvalid) {
			t.Errorf("relocation with %#x at %#x: %v", v, at, err)
		}
	}
}

// TestLoadErrors names what is missing.
func TestLoadErrors(t *testing.T) {
	o := parse(t, "undefined.co")
	m := make([]byte, o.MemSize)
	err := o.Load(m, base)
	var u *Undefined
	if !errors.Is(err, ErrUndefined) || !errors.As(err, &u) || u.Symbol != "missing" {
		t.Errorf("undefined symbol: %v", err)
	}
	const there = 0x1234567890
	memory := make([]byte, o.MemSize)
	if err := o.LoadWith(memory, base, map[string]uint64{"missing": there}); err != nil {
		t.Errorf("a symbol that is defined elsewhere: %v", err)
	}
	if !bytes.Contains(memory, le.AppendUint64(nil, there)) {
		t.Error("its address is nowhere")
	}
	o = parse(t, "relocs.co")
	if err := o.Load(make([]byte, o.MemSize-1), base); !errors.Is(err, ErrInvalid) {
		t.Errorf("short memory: %v", err)
	}
	if err := o.Load(make([]byte, o.MemSize), base+8); !errors.Is(err, ErrInvalid) {
		t.Errorf("unaligned base: %v", err)
	}
}

// TestForget: an object whose bytes have been given up is known, and is not loaded.
func TestForget(t *testing.T) {
	o := parse(t, "relocs.co")
	load(t, o)
	o.Forget()
	if err := o.Load(make([]byte, o.MemSize), base); !errors.Is(err, ErrInvalid) {
		t.Errorf("loaded: %v", err)
	}
	if o.Globals["target"] == nil {
		t.Error("its variables are forgotten, too")
	}
}
