package codeobject

import (
	"strconv"
	"strings"
	"testing"
)

func TestParseTarget(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want Target
		out  string // "" for an error
	}{
		{"amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-", Target{"gfx90a", FeatureOn, FeatureOff}, "gfx90a:sramecc+:xnack-"},
		{"gfx90a:xnack-:sramecc+", Target{"gfx90a", FeatureOn, FeatureOff}, "gfx90a:sramecc+:xnack-"},
		{"gfx942", Target{Processor: "gfx942"}, "gfx942"},
		{"amdgcn-amd-amdhsa--gfx9-4-generic", Target{Processor: "gfx9-4-generic"}, "gfx9-4-generic"},
		{"amdgcn-amd-amdhsa--gfx9-4-generic:xnack+", Target{"gfx9-4-generic", FeatureAny, FeatureOn}, "gfx9-4-generic:xnack+"},
		{"amdgcn-amd-amdhsa-gfx906", Target{Processor: "gfx906"}, "gfx906"},
		{"amdgcn-amd-amdhsa-unknown-gfx942", Target{Processor: "gfx942"}, "gfx942"},
		{"", Target{}, ""},
		{"gfx", Target{}, ""},
		{"amdgcn-amd-amdhsa--", Target{}, ""},
		{"amdgcn-amd", Target{}, ""},
		{"sm_90", Target{}, ""},
		{"gfx90a:", Target{}, ""},
		{"gfx90a:xnack", Target{}, ""},
		{"gfx90a:wings+", Target{}, ""},
		{"gfx90a:xnack+:xnack-", Target{}, ""},
	} {
		got, err := ParseTarget(tt.in)
		if (err == nil) != (tt.out != "") {
			t.Errorf("%q: error %v", tt.in, err)
			continue
		}
		if err == nil && (got != tt.want || got.Short() != tt.out || got.String() != targetPrefix+tt.out) {
			t.Errorf("%q: %+v, %s", tt.in, got, got)
		}
	}
}

func TestRunsOn(t *testing.T) {
	for _, tt := range []struct {
		code, device string
		want         bool
	}{
		{"gfx90a", "gfx90a:sramecc+:xnack-", true},
		{"gfx90a:xnack-", "gfx90a:sramecc+:xnack-", true},
		{"gfx90a:xnack+", "gfx90a:sramecc+:xnack-", false},
		{"gfx90a:sramecc+", "gfx90a:sramecc+:xnack-", true},
		{"gfx90a:sramecc-", "gfx90a:sramecc+:xnack-", false},
		{"gfx90a:sramecc+:xnack-", "gfx90a:sramecc+:xnack-", true},
		{"gfx90a:xnack+", "gfx90a", false},
		{"gfx90a", "gfx90a", true},
		{"gfx942", "gfx90a:sramecc+:xnack-", false},
		{"gfx9-4-generic", "gfx942:sramecc+:xnack-", true},
		{"gfx9-4-generic:xnack+", "gfx942:sramecc+:xnack-", false},
		{"gfx9-4-generic", "gfx90a:sramecc+:xnack-", false},
		{"gfx9-generic", "gfx906:sramecc-:xnack-", true},
		{"gfx942", "gfx9-4-generic", false},
	} {
		if got := target(t, tt.code).RunsOn(target(t, tt.device)); got != tt.want {
			t.Errorf("%s on %s: %v", tt.code, tt.device, got)
		}
	}
}

// TestMachines compares the table of machine numbers with what LLVM writes.
func TestMachines(t *testing.T) {
	lines := strings.Fields(string(read(t, "machines.txt")))
	if len(lines) < 80 {
		t.Fatalf("only %d words in machines.txt", len(lines))
	}
	for i := 0; i < len(lines); i += 2 {
		flags, err := strconv.ParseUint(lines[i+1], 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		if got := machines[uint32(flags)&0xff]; got != lines[i] {
			t.Errorf("machine %#x is %s, not %s", flags, lines[i], got)
		}
	}
	names := map[string]bool{}
	for _, n := range machines {
		if names[n] {
			t.Errorf("%s is there twice", n)
		}
		names[n] = true
	}
	for g, members := range generics {
		for _, m := range append(members, g) {
			if !names[m] {
				t.Errorf("%s of %s has no machine number", m, g)
			}
		}
	}
}

// TestTargetOfFlags reads the flags of versions that no current tool writes.
func TestTargetOfFlags(t *testing.T) {
	for _, tt := range []struct {
		flags   uint32
		version int
		want    string
	}{
		{0x53f, 4, "gfx90a"},
		{0x73f, 4, "gfx90a:xnack+"},
		{0x63f, 4, "gfx90a:xnack-"},
		{0xe4c, 5, "gfx942:sramecc+:xnack-"},
		{0x33f, 3, "gfx90a:sramecc+:xnack+"},
		{0x13f, 3, "gfx90a:sramecc-:xnack+"},
		{0x02c, 3, "gfx900:xnack-"},
		{0x02a, 3, "gfx803"},
		{0x0100055f, 6, "gfx9-4-generic"},
		{0x55f, 5, ""},
		{0x5fe, 5, ""},
	} {
		got, err := targetOfFlags(tt.flags, tt.version)
		if (err == nil) != (tt.want != "") || err == nil && got.Short() != tt.want {
			t.Errorf("%#x version %d: %v, %v", tt.flags, tt.version, got, err)
		}
	}
}
