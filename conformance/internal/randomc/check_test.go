package randomc

import (
	"errors"
	"flag"
	"testing"
)

var seed = flag.Uint64("seed", 1, "the first seed of TestPrograms")

// TestPrograms: some programs, each for all GPUs and at a level of its own; go run ./conformance -only random-c goes on with others.
func TestPrograms(t *testing.T) {
	c, err := NewChecker(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for i, level := range Levels {
		p := Generate(*seed+uint64(i), 1)
		if err := c.Check(t.Context(), p, Target{"gfx90a", level}, Target{"gfx942", level}); err != nil {
			t.Errorf("seed %d: %v", p.Seed, err)
		}
	}
	t.Run("gfx950", func(t *testing.T) {
		for i, level := range Levels {
			p := Generate(*seed+uint64(i), 1)
			err := c.Check(t.Context(), p, Target{"gfx950", level})
			if errors.Is(err, ErrNoLLC) {
				t.Skipf("SKIPPED: %v; no compiled program was tried on gfx950", err)
			}
			if err != nil {
				t.Errorf("seed %d: %v", p.Seed, err)
			}
		}
	})
}
