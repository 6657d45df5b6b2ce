package wire

import (
	"runtime"
	"sync"
	"testing"
	"time"
)

// abed is how many callers wait for another to read, and how many of them in bed.
func abed(c *Client) (all, inBed int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for m := c.followers.next; m != &c.followers; m = m.next {
		all++
		if m.abed {
			inBed++
		}
	}
	return all, inBed
}

// until waits for what must come.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	within(t, what, func() {
		for !ok() {
			time.Sleep(100 * time.Microsecond)
		}
	})
}

// TestBeds: threads whose replies another reads sleep by the operating system's means, do not keep the runtime from stopping the world meanwhile, get up
// when it takes longer, and are woken in either case: the first to read, the others with their replies.
func TestBeds(t *testing.T) {
	const callers = 8
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4 * callers))
	peer, c := clientRaw(t, Options{})
	for _, late := range []bool{false, true, false} {
		var wg sync.WaitGroup
		for range callers {
			wg.Go(func() {
				runtime.LockOSThread() // as a C program's
				defer runtime.UnlockOSThread()
				m := GetMsg()
				if err := c.Call(opEcho, m); err != nil || m.Code != 7 {
					t.Error(m.Code, err)
				}
				PutMsg(m)
			})
		}
		var ids []uint32
		for range callers {
			h, _ := readFrame(t, peer)
			ids = append(ids, h.ID)
		}
		until(t, "callers that follow", func() bool { n, _ := abed(c); return n == callers-1 })
		runtime.GC()
		if late {
			until(t, "callers getting up", func() bool { _, n := abed(c); return n == 0 })
		}
		for i := range ids { // the one who reads first has its own among the last
			id := ids[callers-1-i]
			if _, err := peer.Write(frame(opEcho, id, FlagResponse|FlagError, le32(7))); err != nil {
				t.Fatal(err)
			}
			if i == callers/2 {
				until(t, "callers with replies", func() bool { n, _ := abed(c); return n <= callers-1-i })
			}
		}
		within(t, "calls", wg.Wait)
	}
	until(t, "beds", func() bool { return waitingShort.Load() == 0 })
}

// TestBedsAreFew: half of the processors stay free; and who is called gets up, also if that was before.
func TestBedsAreFew(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	until(t, "others", func() bool { return waitingShort.Load() == 0 })
	var beds [3]bed
	for i, want := range []bool{true, true, false} {
		if beds[i].take() != want {
			t.Fatalf("bed %d: %v", i, !want)
		}
	}
	beds[0].call()
	for i := range 2 {
		go beds[i].call()
		within(t, "sleep", func() {
			for !beds[i].sleep() {
			}
		})
		beds[i].leave()
	}
	if !beds[2].take() {
		t.Error("a bed was left and is not free")
	}
	beds[2].leave()
}
