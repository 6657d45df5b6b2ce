package simgpu

import (
	"errors"
	"testing"
)

func TestFromEnv(t *testing.T) {
	for n, want := range map[string]int{"": 0, "1": 1, "16": 16, "0": -1, "17": -1, "-1": -1, "two": -1} {
		o, err := FromEnv(func(name string) string {
			return map[string]string{"ROCWIRE_SIM_ARCH": "gfx90a", "ROCWIRE_SIM_CARDS": n}[name]
		})
		switch {
		case want < 0 && !errors.Is(err, ErrOptions):
			t.Errorf("%q: %v", n, err)
		case want >= 0 && (err != nil || o.Cards != want || o.Arch != "gfx90a"):
			t.Errorf("%q: %+v, %v", n, o, err)
		}
	}
}
