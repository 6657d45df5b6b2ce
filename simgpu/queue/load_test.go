package queue

import (
	"sync"
	"testing"
	"time"
)

func TestLoad(t *testing.T) {
	g := NewGate()
	a, b := New(g, time.Now), New(g, time.Now)
	first := newGate()
	j := &journal{}
	s := a.NewStream(true)
	s.Add(first.task(j, "first"))
	for range 1000 {
		s.Add(Task{Size: 1000})
		b.Null().Add(Task{})
	}
	WaitAll(b.All())
	<-first.began
	if n := g.Load.Bytes(); n < 1000*1000 || n > 1000*1000+1001*taskSize+taskSize {
		t.Errorf("%d bytes are queued", n)
	}
	stop := make(chan struct{})
	close(stop)
	if g.Load.Wait(500_000, stop) {
		t.Error("it says that there is less")
	}
	var wg sync.WaitGroup
	for _, most := range []int64{500_000, 0} {
		wg.Go(func() {
			if !g.Load.Wait(most, nil) || g.Load.Bytes() > most {
				t.Errorf("it waits for %d bytes", most)
			}
		})
	}
	close(first.open)
	wg.Wait()
	s.Do(Task{Size: 5})
	if n := g.Load.Bytes(); n != 0 || len(g.Load.waiting) != 0 {
		t.Errorf("%d bytes and %d waiters are left", n, len(g.Load.waiting))
	}
}
