package tensorfusion

import (
	"strings"
	"testing"

	"github.com/rocwire/rocwire/smi"
)

func TestName(t *testing.T) {
	for s, want := range map[string]string{
		"12FF74A1-0000-1000-8012-3456789ABCDE": "12ff74a1-0000-1000-8012-3456789abcde",
		"AMD-GPU-0000:85:00.0":                 "amd-gpu-0000-85-00-0",
		"GPU_é_1--":                            "gpu-1",
		"":                                     "", "-:-": "",
	} {
		if got := Name(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
	long := Name(strings.Repeat("a:", 100))
	if len(long) > maxUUID || long == Name(strings.Repeat("a:", 101)) || long != Name(strings.Repeat("a:", 100)) {
		t.Errorf("%q", long)
	}
}

func FuzzName(f *testing.F) {
	f.Add("GPU-12ff74a1")
	f.Add(strings.Repeat("x-", 99))
	f.Fuzz(func(t *testing.T, s string) {
		n := Name(s)
		if len(n) > maxUUID || strings.Trim(n, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || strings.HasPrefix(n, "-") || strings.HasSuffix(n, "-") || n != Name(n) {
			t.Errorf("%q: %q", s, n)
		}
	})
}

// A card without a UUID is called by its serial number, else by its place; one of which
// nothing is known yet has no name.
func TestIdentify(t *testing.T) {
	d := smi.Device{Index: 3, BDF: smi.Some(smi.BDF{Bus: 0x85})}
	if _, ok := Identify(d, nil); ok {
		t.Error("a name out of nothing")
	}
	if u, ok := Identify(d, &smi.Info{ASIC: smi.ASIC{Serial: "0x1F00"}}); !ok || u != "amd-0x1f00" {
		t.Error(u)
	}
	a, _ := Identify(d, &smi.Info{ASIC: smi.ASIC{Serial: "0000"}})
	b, _ := Identify(smi.Device{Index: 3}, &smi.Info{})
	if !strings.HasPrefix(a, "amd-") || !strings.HasSuffix(a, "-0000-85-00-0") || !strings.HasSuffix(b, "-gpu3") {
		t.Errorf("%q %q", a, b)
	}
}
