package gcn

import "testing"

// FuzzDecode checks that no bytes make Decode panic or read what is not there.
func FuzzDecode(f *testing.F) {
	f.Add([]byte{0x00, 0x00, 0x81, 0xbf}, uint8(0))
	f.Add([]byte{0xff, 0x02, 0x04, 0x68, 0x78, 0x56, 0x34, 0x12}, uint8(1))
	f.Add([]byte{0x00, 0x80, 0x70, 0xdc, 0x02, 0x04, 0x7f, 0x00}, uint8(1))
	f.Fuzz(func(t *testing.T, code []byte, a uint8) {
		arch := Arch(a % numArch)
		in, err := Decode(arch, code, 0)
		if err != nil {
			return
		}
		if in.Len != 4 && in.Len != 8 && in.Len != 12 {
			t.Fatalf("length %d", in.Len)
		}
		if int(in.Len) > len(code) {
			t.Fatalf("length %d of %d bytes", in.Len, len(code))
		}
		if in.String() == "" {
			t.Fatal("no text")
		}
	})
}
