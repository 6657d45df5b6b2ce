package gcn

import (
	"encoding/binary"
	"testing"
)

// FuzzDecode checks that no bytes make Decode panic or read what is not there,
// and that registers of what it accepts lie inside the register files: who
// executes instructions relies on that.
func FuzzDecode(f *testing.F) {
	for _, words := range [][]uint32{
		{0xbf810000}, {0x680402ff, 0x12345678}, {0xdc708000, 0x007f0402}, {0x680806f9, 0x06060602},
		{0x680406fa, 0xff00e402}, {0xd3c00005, 0x04020904}, {0xd86e0201, 0x08000004}, {0xe0501010, 0x05020304},
		{0xc0060083, 0x00000010}, {0xba044081, 0x12345678}, {0x2e040702, 0x3f800000}, {0xf2835b94, 0xc4e54bd0},
		{0xd1e00c04, 0x04220d04}, {0xe9520028, 0xfe224b27}, {0xd3ac0000, 0x00023318, 0xd3ad0a00, 0x84521904},
	} {
		var code []byte
		for _, w := range words {
			code = binary.LittleEndian.AppendUint32(code, w)
		}
		f.Add(code, uint8(0))
		f.Add(code, uint8(1))
		f.Add(code, uint8(2))
		f.Add(code[:len(code)-1], uint8(1))
	}
	f.Fuzz(func(t *testing.T, code []byte, a uint8) {
		arch := Arch(a % numArch)
		for off := 0; off <= len(code); {
			in, err := Decode(arch, code, off)
			if err != nil {
				if err.Error() == "" {
					t.Fatal("no reason")
				}
				return
			}
			if in.Len != 4 && in.Len != 8 && in.Len != 12 && in.Len != 16 {
				t.Fatalf("length %d", in.Len)
			}
			if off+int(in.Len) > len(code) {
				t.Fatalf("length %d of %d bytes", in.Len, len(code)-off)
			}
			if in.String() == "" {
				t.Fatal("no text")
			}
			checkOperands(t, &in)
			off += int(in.Len)
		}
	})
}

// checkOperands checks every operand of a decoded instruction.
func checkOperands(t *testing.T, in *Inst) {
	t.Helper()
	for _, o := range []*Operand{&in.Dst, &in.SDst, &in.Src[0], &in.Src[1], &in.Src[2], &in.Addr, &in.Data, &in.Data1, &in.Base, &in.SOffset, &in.Scale[0], &in.Scale[1]} {
		limit := 0
		switch o.Kind {
		case SGPR:
			limit = 128
		case VGPR, AccVGPR:
			limit = 256
		default:
			continue
		}
		if o.Width == 0 || int(o.Index)+int(o.Width) > limit {
			t.Fatalf("%s: register %d, %d dwords", in.String(), o.Index, o.Width)
		}
	}
}
