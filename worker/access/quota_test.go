package access

import (
	"testing"

	"github.com/rocwire/rocwire/smi"
)

func TestParseSize(t *testing.T) {
	for s, want := range map[string]uint64{"": 0, "4096": 4096, "1K": 1 << 10, "2m": 2 << 20, "3G": 3 << 30, "3GiB": 3 << 30, "1TB": 1 << 40, "0.5G": 1 << 29} {
		if got, err := ParseSize(s); err != nil || got != want {
			t.Errorf("%q: %d, %v; want %d", s, got, err, want)
		}
	}
	for _, s := range []string{"G", "B", "iB", "-1", "0", "x", "1X", "9999999T", "1e400", "NaN"} {
		if got, err := ParseSize(s); err == nil {
			t.Errorf("%q: %d", s, got)
		}
	}
}

func TestParseQuota(t *testing.T) {
	q, err := ParseQuota("16G", "25%")
	if err != nil || q.Memory != smi.Some(smi.Bytes(16<<30)) || q.Compute != smi.Some(smi.Ratio(0.25)) {
		t.Errorf("%+v, %v", q, err)
	}
	if q, err := ParseQuota("", ""); err != nil || q != (smi.Quota{}) {
		t.Errorf("%+v, %v", q, err)
	}
	for _, c := range [][2]string{{"x", ""}, {"", "0"}, {"", "101"}, {"", "NaN"}, {"", "half"}} {
		if q, err := ParseQuota(c[0], c[1]); err == nil {
			t.Errorf("%q: %+v", c, q)
		}
	}
}
