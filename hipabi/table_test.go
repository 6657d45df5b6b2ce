package hipabi

import (
	"sync"
	"sync/atomic"
	"testing"
)

func TestTable(t *testing.T) {
	var tab table[int, int]
	if _, ok := tab.get(1); ok {
		t.Error("an empty table has 1")
	}
	for i := range 100 {
		tab.put(i, i*i)
	}
	for range 3 { // before the copy is made, and after
		for i := range 100 {
			if v, ok := tab.get(i); !ok || v != i*i {
				t.Fatalf("%d: %d, %v", i, v, ok)
			}
		}
	}
	if tab.read.Load() == nil {
		t.Error("no copy is made")
	}
	tab.put(7, -7)
	tab.put(200, 1)
	if v, ok := tab.take(8); !ok || v != 64 {
		t.Errorf("took %d, %v", v, ok)
	}
	if _, ok := tab.take(8); ok {
		t.Error("took it twice")
	}
	tab.deleteFunc(func(k, v int) bool { return k >= 90 && k < 100 })
	for range 3 {
		for k, want := range map[int]int{6: 36, 7: -7, 200: 1, 89: 89 * 89} {
			if v, ok := tab.get(k); !ok || v != want {
				t.Errorf("%d: %d, %v", k, v, ok)
			}
		}
		for _, k := range []int{8, 90, 99} {
			if _, ok := tab.get(k); ok {
				t.Errorf("%d is still there", k)
			}
		}
	}
	if n := len(tab.values()); n != 90 {
		t.Errorf("%d values", n)
	}
	tab.clear()
	if _, ok := tab.get(6); ok || len(tab.values()) != 0 {
		t.Error("a cleared table is not empty")
	}
}

// What is deleted is not found by a lookup that begins afterwards.
func TestTableConcurrently(t *testing.T) {
	var tab table[int, int]
	var dead atomic.Int64
	dead.Store(-1)
	var wg sync.WaitGroup
	for i := range 1000 {
		tab.put(i, i)
	}
	for range 4 {
		wg.Go(func() {
			for i := 0; dead.Load() < 999; i = (i + 1) % 1000 {
				before := dead.Load()
				_, ok := tab.get(i)
				if ok && int64(i) <= before {
					t.Errorf("%d was deleted and is found", i)
					return
				}
				if !ok && int64(i) > dead.Load()+1 {
					t.Errorf("%d is not found", i)
					return
				}
			}
		})
	}
	for i := range 1000 {
		tab.take(i)
		dead.Store(int64(i))
	}
	wg.Wait()
}
