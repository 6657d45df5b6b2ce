package bytesize

import "testing"

func TestParse(t *testing.T) {
	for s, want := range map[string]int64{
		"5": 5, "3K": 3 << 10, "256M": 256 << 20, "16G": 16 << 30, "17G": 0, "17179869184": 16 << 30, "17179869185": 0,
		"0": 0, "-1": 0, "": 0, "M": 0, "1T": 0, "1k": 0, "1MiB": 0, "0.5G": 0, "9999999999G": 0, "99999999999999999999": 0,
	} {
		if n, ok := Parse(s, 16<<30); n != want || ok != (want != 0) {
			t.Errorf("%q: %d, %v", s, n, ok)
		}
	}
}
