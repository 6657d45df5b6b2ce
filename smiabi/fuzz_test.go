package smiabi

import (
	"bytes"
	"testing"
	"unicode/utf8"

	"github.com/rocwire/rocwire/smi"
)

func FuzzRanges(f *testing.F) {
	for _, s := range []string{"0-63,128-191", "", "5", "3-1", "1,", "4294967296", "0-4294967295", " 1\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		rs, good := ranges(s)
		if good != (len(rs) > 0) {
			t.Errorf("%q: %v, %v", s, rs, good)
		}
		for _, r := range rs {
			if r[0] > r[1] || r[1] >= 1<<32 {
				t.Errorf("%q: %v", s, r)
			}
		}
	})
}

func FuzzVersionNumber(f *testing.F) {
	for _, s := range []string{"168", "0x10", "09.11.00.0D", "85.115.00.10", "..", "1.2.3.4.5.6.7.8.9", "-1", "1_0", "99999999999999999999"} {
		f.Add("pm", s)
		f.Add("vcn", s)
	}
	f.Fuzz(func(t *testing.T, name, s string) {
		n, good := versionNumber(smi.Firmware{Name: name, Version: s})
		if !good && n != 0 {
			t.Errorf("%q: %d, though it is no version", s, n)
		}
	})
}

// A text that comes from elsewhere never leaves its array, ends with a NUL and keeps
// its characters whole.
func FuzzPutText(f *testing.F) {
	f.Add("AMD Instinct", uint8(5))
	f.Add("größer", uint8(4))
	f.Add("a\x80\x80\x80", uint8(2))
	f.Fuzz(func(t *testing.T, s string, size uint8) {
		b := bytes.Repeat([]byte{0xaa}, int(size)+1)
		putText(b[:size], s)
		if b[size] != 0xaa {
			t.Fatal("wrote beyond the array")
		}
		if size == 0 {
			return
		}
		if b[size-1] != 0 {
			t.Fatal("no NUL at the end")
		}
		got := b[:size]
		if i := bytes.IndexByte([]byte(s), 0); i < 0 {
			got = bytes.TrimRight(got, "\x00")
			if !bytes.HasPrefix([]byte(s), got) {
				t.Errorf("%q became %q", s, got)
			}
			if utf8.ValidString(s) && !utf8.Valid(got) {
				t.Errorf("%q was cut to %q", s, got)
			}
		}
	})
}
