package wire

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(string(bytes.ReplaceAll([]byte(s), []byte(" "), nil)))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestHeaderBytes(t *testing.T) {
	for _, c := range []struct {
		name string
		h    Header
		hex  string
	}{
		{"ping", Header{Version, OpPing, 0, 0, FlagNoReply}, "52504948 0002 0300 00000000 00000000 08000000"},
		{"call", Header{Version, 0x0203, 7, 16, 0}, "52504948 0002 0302 07000000 10000000 00000000"},
		{"largest", Header{0x02ff, 0xffff, 0xffffffff, MaxPayload, flagsKnown}, "52504948 ff02 ffff ffffffff 00008000 7f000000"},
		{"error reply", Header{Version, 0x0100, 0x01020304, 4, FlagResponse | FlagError}, "52504948 0002 0001 04030201 04000000 03000000"},
	} {
		want := unhex(t, c.hex)
		if got := c.h.Append(nil); !bytes.Equal(got, want) {
			t.Errorf("%s: %x, want %x", c.name, got, want)
		}
		if got, err := ParseHeader(want); err != nil || got != c.h {
			t.Errorf("%s: parsed %+v, %v", c.name, got, err)
		}
	}
}

func TestHeaderBad(t *testing.T) {
	for name, s := range map[string]string{
		"magic":    "52504949 0002 0300 00000000 00000000 08000000",
		"length":   "52504948 0002 0300 00000000 01008000 08000000",
		"longest":  "52504948 0002 0300 00000000 ffffffff 08000000",
		"flag 128": "52504948 0002 0300 00000000 00000000 80000000",
		"flag 31":  "52504948 0002 0300 00000000 00000000 00000080",
	} {
		_, err := ParseHeader(unhex(t, s))
		var p *ProtocolError
		if !errors.Is(err, ErrProtocol) || !errors.As(err, &p) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzHeader(f *testing.F) {
	f.Add(unhex(f, "52504948 0002 0300 00000000 00000000 08000000"))
	f.Add(unhex(f, "52504948 0002 0302 07000000 10000000 1f000000"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < HeaderSize {
			return
		}
		h, err := ParseHeader(b)
		if err != nil {
			return
		}
		if h.Length > MaxPayload || h.Flags&^flagsKnown != 0 {
			t.Fatalf("accepted %+v", h)
		}
		if got := h.Append(nil); !bytes.Equal(got, b[:HeaderSize]) {
			t.Fatalf("%x became %x", b[:HeaderSize], got)
		}
	})
}
