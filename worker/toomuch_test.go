package worker_test

import (
	"sync"
	"testing"

	"github.com/rocwire/rocwire/examples/kernels"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/worker"
)

// TestTooMuchTakesNothing: while one session asks for more memory than the card has, another one gets the little that it needs. All that there was used to be
// granted to the first for as long as it took to see that it was not enough.
func TestTooMuchTakesNothing(t *testing.T) {
	w := serve(t, cards(1), worker.Config{})
	greedy, modest := connect(t, w), connect(t, w)
	image, err := kernels.Object("gfx942", "vector_add")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	done := make(chan struct{})
	wg.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			for _, size := range []uint64{1 << 40, 1<<63 + 1, 1<<64 - 1<<20} {
				if _, e := greedy.Malloc(main0, size); e != hip.ErrorOutOfMemory {
					t.Errorf("%d bytes: %v", size, e)
				}
			}
		}
	})
	for range 300 {
		m, e := modest.ModuleLoadData(main0, image)
		if e != hip.Success {
			t.Errorf("ModuleLoadData: %v", e)
			break
		}
		must(t, "ModuleUnload", modest.ModuleUnload(main0, m))
	}
	close(done)
	wg.Wait()
}
