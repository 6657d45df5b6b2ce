package folding

import (
	"flag"
	"testing"
)

var arch = flag.String("arch", "gfx942", "the GPU")
var seed = flag.Uint64("seed", 1, "of the operands")

// TestFolding: the operations are the same functions on both GPUs, so one is enough; -arch gfx90a is the other.
func TestFolding(t *testing.T) {
	r, err := Check(t.Context(), t.TempDir(), *arch, *seed)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d operations, %d values", r.Operations, r.Values)
	if r.Operations < 300 || r.Values < 15000 {
		t.Errorf("LLVM folded no more than %d operations, %d values", r.Operations, r.Values)
	}
	for i, d := range r.Differences {
		if i == 30 {
			t.Errorf("and so on: %d", len(r.Differences))
			break
		}
		t.Error(d)
	}
}
