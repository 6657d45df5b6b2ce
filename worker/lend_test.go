package worker_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipremote"
)

// scramble fills memory with what is not there yet.
func scramble(rng *rand.Rand, b []byte) {
	for ; len(b) >= 8; b = b[8:] {
		binary.LittleEndian.PutUint64(b, rng.Uint64())
	}
}

// pinned is memory of hipHostMalloc as a slice.
func pinned(t *testing.T, c *hipremote.Client, n int) (hip.Ptr, []byte) {
	t.Helper()
	p, e := c.HostMalloc(main0, uint64(n), 0)
	must(t, "HostMalloc", e)
	at := uintptr(p)
	return p, unsafe.Slice(*(**byte)(unsafe.Pointer(&at)), n)
}

// TestPinnedThroughCuts: asynchronous copies from pinned memory, which is changed, used for something else or freed as soon as HIP lets the program know that
// they are done, and a connection that is cut wherever: the device has what was to be copied.
func TestPinnedThroughCuts(t *testing.T) {
	cfg := config()
	cfg.Park = time.Minute
	w := serve(t, cards(1), cfg)
	c, p := through(t, w, hipremote.Config{Reconnect: time.Minute, Logf: func(string, ...any) {}})
	const size = 1 << 20
	dev, e := c.Malloc(main0, size)
	must(t, "Malloc", e)
	other, e := c.Malloc(main0, 64)
	must(t, "Malloc", e)
	st, e := c.StreamCreateWithPriority(main0, 1, 0)
	must(t, "StreamCreate", e)
	event, e := c.EventCreateWithFlags(main0, 0)
	must(t, "EventCreate", e)
	rng := rand.New(rand.NewPCG(3, 4))
	host, mem := pinned(t, c, size)
	own := make([]byte, size) // registered
	small, got := make([]byte, 64), make([]byte, size)
	ends := []struct {
		name   string
		stream hip.Stream
		end    func(src []byte) // until the program knows that the copy is done
	}{
		{"StreamSynchronize", st, func([]byte) { must(t, "StreamSynchronize", c.StreamSynchronize(main0, st)) }},
		{"DeviceSynchronize", st, func([]byte) { must(t, "DeviceSynchronize", c.DeviceSynchronize(main0)) }},
		{"EventSynchronize", st, func([]byte) {
			must(t, "EventRecord", c.EventRecord(main0, event, st))
			must(t, "EventSynchronize", c.EventSynchronize(main0, event))
		}},
		{"StreamQuery", st, func([]byte) {
			for e = hip.ErrorNotReady; e == hip.ErrorNotReady; e = c.StreamQuery(main0, st) {
			}
			must(t, "StreamQuery", e)
		}},
		{"a blocking copy", 0, func([]byte) {
			must(t, "Memcpy", c.Memcpy(main0, other, at(small), uint64(len(small)), hip.MemcpyHostToDevice))
		}},
		{"a copy back", st, func(src []byte) { // into the very memory
			must(t, "MemsetAsync", c.MemsetAsync(main0, other, 7, 64, st))
			must(t, "MemcpyAsync", c.MemcpyAsync(main0, at(src), other, 64, hip.MemcpyDeviceToHost, st))
			must(t, "StreamSynchronize", c.StreamSynchronize(main0, st))
		}},
		{"HostFree", st, func(src []byte) {
			if &src[0] == &own[0] {
				must(t, "HostUnregister", c.HostUnregister(main0, at(own)))
				return
			}
			must(t, "HostFree", c.HostFree(main0, host))
			host, mem = pinned(t, c, size)
		}},
	}
	cuts := 60
	if testing.Short() {
		cuts = 15
	}
	must(t, "HostRegister", c.HostRegister(main0, at(own), size, 0))
	for i, turn := 0, 0; i < cuts; i++ {
		p.Arm(i%2, rng.IntN(3<<20), i%4 < 2)
		for p.Armed() {
			x := ends[turn%len(ends)]
			src := mem
			if turn/len(ends)%3 == 2 {
				src = own
			}
			turn++
			n := 64<<10 + 1 + rng.IntN(size-64<<10)
			src = src[:n]
			scramble(rng, src)
			want := bytes.Clone(src)
			must(t, "MemcpyAsync", c.MemcpyAsync(main0, dev, at(src), uint64(n), hip.MemcpyHostToDevice, x.stream))
			x.end(src)
			if x.name == "HostFree" && &src[0] == &own[0] {
				clear(own)
				must(t, "HostRegister", c.HostRegister(main0, at(own), size, 0))
			} else if x.name != "HostFree" {
				clear(src)
			}
			must(t, "Memcpy", c.Memcpy(main0, at(got), dev, uint64(n), hip.MemcpyDeviceToHost))
			if !bytes.Equal(got[:n], want) {
				t.Fatalf("cut %d, a copy of %d bytes, done by %s: the device has something else", i, n, x.name)
			}
		}
	}
}

// TestBlockingCopyTakesBackWhatWasLent: a small copy that waits returns although there is no connection, as what it sends is kept; with that the program
// knows that what came before it on the stream is done, and may change that memory.
func TestBlockingCopyTakesBackWhatWasLent(t *testing.T) {
	log := &lines{}
	cfg := config()
	cfg.Park = time.Minute
	w := serve(t, cards(1), cfg)
	c, p := through(t, w, hipremote.Config{Reconnect: time.Minute, Logf: log.logf})
	const n, times = 200 << 10, 3
	dev, e := c.Malloc(main0, n*times)
	must(t, "Malloc", e)
	other, e := c.Malloc(main0, 64)
	must(t, "Malloc", e)
	_, mem := pinned(t, c, n*times)
	must(t, "DeviceSynchronize", c.DeviceSynchronize(main0))
	scramble(rand.New(rand.NewPCG(5, 6)), mem)
	want, got := bytes.Clone(mem), make([]byte, n*times)
	p.Set(false, true)
	p.CutAll()
	eventually(t, "the cut is noticed", func() bool { return log.has("trying to go on") })
	done := make(chan string, 1)
	go func() {
		for i := range times {
			if e := c.MemcpyAsync(main0, dev+hip.Ptr(i*n), at(mem[i*n:]), n, hip.MemcpyHostToDevice, 0); e != hip.Success {
				done <- fmt.Sprint("MemcpyAsync: ", e)
				return
			}
		}
		if e := c.Memcpy(main0, other, at(make([]byte, 64)), 64, hip.MemcpyHostToDevice); e != hip.Success {
			done <- fmt.Sprint("Memcpy: ", e)
			return
		}
		clear(mem)
		done <- ""
	}()
	select {
	case s := <-done:
		if s != "" {
			t.Fatal(s)
		}
	case <-time.After(time.Minute):
		t.Error("it does not return while there is no connection; this test says nothing then")
	}
	p.Set(false, false)
	must(t, "Memcpy", c.Memcpy(main0, at(got), dev, n*times, hip.MemcpyDeviceToHost))
	if !bytes.Equal(got, want) {
		t.Error("the device has what the memory became afterwards")
	}
}
