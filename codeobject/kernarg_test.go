package codeobject

import (
	"bytes"
	"errors"
	"testing"
)

// hidden has a value of its own in every field.
func hidden() *Hidden {
	h := &Hidden{PrintfBuffer: 0x1111111111111111, HostcallBuffer: 0x2222222222222222, DefaultQueue: 0x3333333333333333,
		CompletionAction: 0x4444444444444444, MultigridSync: 0x5555555555555555, Heap: 0x6666666666666666,
		QueuePtr: 0x7777777777777777, DynamicLDSSize: 4096, PrivateBase: 0x88, SharedBase: 0x99, GlobalOffset: [3]uint64{10, 20, 30}}
	h.SetGrid([3]uint32{1000, 64, 7}, [3]uint32{256, 2, 3})
	return h
}

func TestSetGrid(t *testing.T) {
	h := hidden()
	if h.BlockCount != [3]uint32{3, 32, 2} || h.GroupSize != [3]uint16{256, 2, 3} || h.Remainder != [3]uint16{232, 0, 1} || h.GridDims != 3 {
		t.Errorf("%+v", h)
	}
}

// TestKernarg lays out the segment of a kernel that uses every kind of
// argument; places are those that llvm-readelf shows.
func TestKernarg(t *testing.T) {
	args := [][]byte{{0x11}, {0x22, 0x33}, {1, 2, 3, 4}, bytes.Repeat([]byte{5}, 8), {6, 6, 6, 6}, bytes.Repeat([]byte{7}, 8),
		bytes.Repeat([]byte{8}, 24), bytes.Repeat([]byte{9}, 8), bytes.Repeat([]byte{10}, 8)}
	explicit := make([]byte, 72)
	for i, at := range []int{0, 2, 4, 8, 16, 24, 32, 56, 64} {
		copy(explicit[at:], args[i])
	}
	u16, u32, u64 := le.PutUint16, le.PutUint32, le.PutUint64
	for _, tt := range []struct {
		file string
		size int
		fill func(b []byte)
	}{
		{"args_gfx90a_v4.co", 128, func(b []byte) {
			u64(b[72:], 10)
			u64(b[80:], 20)
			u64(b[88:], 30)
			u64(b[96:], 0x2222222222222222)
			u64(b[104:], 0x3333333333333333)
			u64(b[112:], 0x4444444444444444)
			u64(b[120:], 0x5555555555555555)
		}},
		{"args_gfx90a_v5.co", 328, func(b []byte) {
			u32(b[72:], 3)
			u32(b[76:], 32)
			u32(b[80:], 2)
			u16(b[84:], 256)
			u16(b[86:], 2)
			u16(b[88:], 3)
			u16(b[90:], 232)
			u16(b[92:], 0)
			u16(b[94:], 1)
			u64(b[112:], 10)
			u64(b[120:], 20)
			u64(b[128:], 30)
			u16(b[136:], 3)
			u64(b[152:], 0x2222222222222222)
			u64(b[160:], 0x5555555555555555)
			u64(b[168:], 0x6666666666666666)
			u64(b[176:], 0x3333333333333333)
			u64(b[184:], 0x4444444444444444)
			u32(b[192:], 4096)
			u64(b[272:], 0x7777777777777777)
		}},
	} {
		k := parse(t, tt.file).Kernels["everything"]
		packed, err := k.PackArgs(args)
		if err != nil || !bytes.Equal(packed, explicit) {
			t.Errorf("%s: explicit arguments % x, %v", tt.file, packed, err)
		}
		want := make([]byte, tt.size)
		copy(want, explicit)
		tt.fill(want)
		// Bytes behind the explicit arguments are not the caller's.
		got, err := k.Kernarg(append(packed, bytes.Repeat([]byte{0xee}, 1000)...), hidden())
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s:\n% x\nwant\n% x\n%v", tt.file, got, want, err)
		}
		dirty := bytes.Repeat([]byte{0xdd}, tt.size+1)
		if err := k.FillKernarg(dirty, packed, hidden()); err != nil || !bytes.Equal(dirty[:tt.size], want) || dirty[tt.size] != 0xdd {
			t.Errorf("%s: into used memory: %v", tt.file, err)
		}
		h := hidden()
		if n := testing.AllocsPerRun(10, func() { _ = k.FillKernarg(dirty, packed, h) }); n != 0 {
			t.Errorf("%s: %v allocations a launch", tt.file, n)
		}
		if k.Uses(ArgHiddenPrintfBuffer) || !k.Uses(ArgHiddenHostcallBuffer) {
			t.Errorf("%s: hidden arguments %v", tt.file, k.Hidden)
		}

		wrong := append([][]byte{}, args...)
		wrong[3] = wrong[3][:7]
		for name, e := range map[string]error{
			"too few":      second(k.PackArgs(args[:8])),
			"too many":     second(k.PackArgs(append(args, nil))),
			"wrong size":   second(k.PackArgs(wrong)),
			"short packed": k.FillKernarg(dirty, packed[:71], hidden()),
			"short memory": k.FillKernarg(dirty[:tt.size-1], packed, hidden()),
		} {
			var a *ArgsError
			if !errors.Is(e, ErrArgs) || !errors.As(e, &a) || a.Kernel != "everything" {
				t.Errorf("%s: %s: %v", tt.file, name, e)
			}
		}
	}
}

func second(_ []byte, err error) error { return err }

// TestKernargOpaque passes segments whole to kernels that nothing describes.
func TestKernargOpaque(t *testing.T) {
	o := parse(t, "two_notes.co")
	k := o.Kernels["bare"]
	if seg, err := k.Kernarg([]byte{1, 2, 3}, &Hidden{}); err != nil || !bytes.Equal(seg, append([]byte{1, 2, 3}, make([]byte, 21)...)) {
		t.Errorf("% x, %v", seg, err)
	}
	if seg, err := k.Kernarg(bytes.Repeat([]byte{4}, 30), &Hidden{}); err != nil || !bytes.Equal(seg, bytes.Repeat([]byte{4}, 24)) {
		t.Errorf("% x, %v", seg, err)
	}
	if _, err := k.PackArgs([][]byte{{1}}); !errors.Is(err, ErrArgs) {
		t.Errorf("arguments one by one: %v", err)
	}
	none := parse(t, "args_gfx90a_v5.co").Kernels["none"]
	if packed, err := none.PackArgs(nil); err != nil || len(packed) != 0 {
		t.Errorf("no arguments: % x, %v", packed, err)
	}
	if seg, err := none.Kernarg(nil, &Hidden{}); err != nil || len(seg) != 0 {
		t.Errorf("no arguments: % x, %v", seg, err)
	}
}
