package fleet

import (
	"sync"
	"testing"
)

// All are called once, as many side by side as may be, and no more.
func TestSideBySide(t *testing.T) {
	const n = 3*atOnce + 1
	var mu sync.Mutex
	var running, most int
	called := make([]int, n)
	full := make(chan struct{}) // closed when as many as may be are there together
	SideBySide(n, func(i int) {
		mu.Lock()
		running++
		called[i]++
		if most = max(most, running); running == atOnce && called[i] == 1 {
			select {
			case <-full:
			default:
				close(full)
			}
		}
		mu.Unlock()
		<-full
		mu.Lock()
		running--
		mu.Unlock()
	})
	if most != atOnce || running != 0 {
		t.Errorf("%d at once, want %d; %d have not returned", most, atOnce, running)
	}
	for i, k := range called {
		if k != 1 {
			t.Errorf("%d was called %d times", i, k)
		}
	}
	SideBySide(0, func(int) { t.Error("there is nothing to call for") })
}
