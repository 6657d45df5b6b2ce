package visible

import (
	"os"
	"slices"
	"testing"
)

var uuids = []string{"GPU-babababababababa", "GPU-abbaabbaabbaabba", "GPU-babaabbaabbababa", "GPU-abbabababababbaa"}

func TestROCr(t *testing.T) {
	for list, want := range map[string][]int{
		"": {0, 1, 2, 3}, "-1": nil, "GPU-XX": nil, "GPU-": nil, "x": nil, "4": nil,
		"3,GPU-BABABABABABABABA,4":        {3, 0},
		"1,GPU-ABBAABBAABBAABBA,GPU-XX,2": {1}, // named twice
		"3, gpu-babaabba ,GPU-XX":         {3, 2},
		"GPU-BABA":                        nil, // names two
		"0,0,1":                           {0},
		"0x2":                             {2},
	} {
		if got := ROCr(list, uuids); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", list, got, want)
		}
	}
}

func TestHIP(t *testing.T) {
	for list, want := range map[string][]int{
		"": {0, 1, 2, 3}, " ": {0, 1, 2, 3}, "0": {0}, "2, 0": {2, 0}, "1,x,2": {1}, "-1": nil, "4": nil, "0,0,1": {0, 1},
		"GPU-abbabababababbaa,0": {3, 0}, "GPU-ffff": nil,
	} {
		if got := HIP(list, uuids); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", list, got, want)
		}
	}
}

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		rocr, hip string
		want      []int
	}{
		{"", "", []int{0, 1, 2, 3}}, {"3,1", "", []int{3, 1}}, {"3,1", "1", []int{1}}, {"3,1", "2", nil}, {"", "2", []int{2}}, {"-1", "0", nil},
		{"2,0", "GPU-babababababababa", []int{0}}, {"2", "GPU-babababababababa", nil},
	} {
		if got := Choose(c.rocr, c.hip, uuids); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestFromEnv(t *testing.T) {
	t.Setenv(ROCrVariable, "")
	t.Setenv(HIPVariable, "1")
	t.Setenv(CUDAVariable, "2")
	if r, h := FromEnv(os.LookupEnv); len(ROCr(r, uuids)) != 0 || h != "1" {
		t.Errorf("%q %q", r, h)
	}
	t.Setenv(HIPVariable, "")
	if _, h := FromEnv(os.LookupEnv); h != "2" {
		t.Errorf("%q", h)
	}
}

// TestWithin: one list says what two say one after the other.
func TestWithin(t *testing.T) {
	for _, c := range [][3]string{
		{"", "", ""}, {"2,3", "", "2,3"}, {"", "1", "1"}, {"2,3", "1,0", "3,2"}, {"2,3", "2", "-1"}, {"2,3", "1,5,0", "3"}, {"GPU-abba,1", "0", "GPU-abba"},
		{"1,GPU-abbaabbaabbaabba", "gpu-abba", "GPU-abbaabbaabbaabba"}, {"1,0", "GPU-abba", "-1"},
	} {
		if got := Within(c[0], c[1]); got != c[2] {
			t.Errorf("%q within %q: %q, want %q", c[1], c[0], got, c[2])
		}
	}
}
