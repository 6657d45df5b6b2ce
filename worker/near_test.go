package worker_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/hipremote"
	"github.com/rocwire/rocwire/wire"
	"github.com/rocwire/rocwire/worker"
	"github.com/rocwire/rocwire/worker/simbackend"
)

// nearMaps is how many allocations of device memory this process has mapped.
func nearMaps(t *testing.T) int {
	t.Helper()
	b, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(b), "memfd:rocwire-memory")
}

// filled is n bytes that tell where they are.
func filled(n int, salt byte) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(i) ^ byte(i>>8)*3 ^ byte(i>>16)*5 ^ salt
	}
	return p
}

func upDown(t *testing.T, c hip.Runtime, p hip.Ptr, data []byte) {
	t.Helper()
	must(t, "Memcpy", c.Memcpy(main0, p, at(data), uint64(len(data)), hip.MemcpyHostToDevice))
	back := make([]byte, len(data))
	must(t, "Memcpy", c.Memcpy(main0, at(back), p, uint64(len(back)), hip.MemcpyDeviceToHost))
	if !bytes.Equal(back, data) {
		t.Error("the bytes came back otherwise")
	}
}

// TestNear: device memory is mapped once it has been copied, and only then; what the client copies there itself counts as what it is; and it goes with the
// memory, whatever ends that.
func TestNear(t *testing.T) {
	const n = 1 << 20
	w := serve(t, simbackend.Options{}, worker.Config{})
	for _, end := range []string{"free", "free asynchronously", "reset", "close", "kill"} {
		t.Run(end, func(t *testing.T) {
			c := connect(t, w)
			var p hip.Ptr
			var e hip.Error
			if end == "free asynchronously" {
				p, e = c.MallocAsync(main0, n, 0)
			} else {
				p, e = c.Malloc(main0, n)
			}
			must(t, "Malloc", e)
			before := nearMaps(t)
			must(t, "Memcpy", c.Memcpy(main0, p, at(filled(n, 1)), n, hip.MemcpyHostToDevice))
			if nearMaps(t) != before {
				t.Error("memory is mapped before it is known to be worth it")
			}
			const times = 5
			for i := range times {
				upDown(t, c, p, filled(n, byte(i)))
			}
			if nearMaps(t) != before+1 {
				t.Fatal("memory is not mapped")
			}
			must(t, "Memset", c.Memset(main0, p, 9, n))
			got := make([]byte, n)
			must(t, "Memcpy", c.Memcpy(main0, at(got), p, n, hip.MemcpyDeviceToHost))
			if !bytes.Equal(got, bytes.Repeat([]byte{9}, n)) {
				t.Error("what was posted before a copy is not seen by it")
			}
			eventually(t, "the worker knows of all bytes", func() bool {
				for _, s := range w.Sessions() {
					if s.ID == fmt.Sprint(c.Session()) {
						in, _ := s.BytesIn.Get()
						out, _ := s.BytesOut.Get()
						return in >= (times+1)*n && out >= (times+1)*n
					}
				}
				return false
			})
			switch end {
			case "free":
				must(t, "Free", c.Free(main0, p))
			case "free asynchronously":
				must(t, "FreeAsync", c.FreeAsync(main0, p, 0))
				must(t, "DeviceSynchronize", c.DeviceSynchronize(main0))
			case "reset":
				must(t, "DeviceReset", c.DeviceReset(main0))
			case "close":
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			case "kill":
				if err := w.KillSession(fmt.Sprint(c.Session()), "test"); err != nil {
					t.Fatal(err)
				}
				eventually(t, "a copy fails", func() bool { return c.Memcpy(main0, at(got), p, n, hip.MemcpyDeviceToHost) != hip.Success })
				if c.Memcpy(main0, p, at(got), n, hip.MemcpyHostToDevice) == hip.Success {
					t.Error("a copy to the memory of a session that was ended succeeds")
				}
				_ = c.Close()
			}
			if nearMaps(t) != before {
				t.Error("memory is still mapped")
			}
			if end != "kill" && c.Memcpy(main0, at(got), p, n, hip.MemcpyDeviceToHost) == hip.Success {
				t.Error("freed memory can be copied")
			}
			if end == "free" || end == "reset" { // and what comes after it is new
				p, e := c.Malloc(main0, n)
				must(t, "Malloc", e)
				must(t, "Memcpy", c.Memcpy(main0, at(got), p, n, hip.MemcpyDeviceToHost))
				if !bytes.Equal(got, make([]byte, n)) {
					t.Error("new memory has something in it")
				}
			}
		})
	}
}

// TestNearKept: a client that copies through a socket maps nothing, nor does one whose worker has other sessions' memory there.
func TestNearKept(t *testing.T) {
	const n = 1 << 20
	w := serve(t, simbackend.Options{}, worker.Config{})
	before := nearMaps(t)
	apart := connectWith(t, w, hipremote.Config{Near: true, NoShare: true})
	p, e := apart.Malloc(main0, n)
	must(t, "Malloc", e)
	upDown(t, apart, p, filled(n, 1))
	k, e := apart.IpcGetMemHandle(main0, p)
	must(t, "IpcGetMemHandle", e)
	c := connectWith(t, w, hipremote.Config{Near: true})
	q, e := c.IpcOpenMemHandle(main0, &k, 1)
	must(t, "IpcOpenMemHandle", e)
	upDown(t, c, q, filled(n, 2))
	if nearMaps(t) != before {
		t.Error("memory is mapped")
	}
	own, e := c.Malloc(main0, n)
	must(t, "Malloc", e)
	upDown(t, c, own, filled(n, 3))
	if nearMaps(t) != before+1 {
		t.Error("memory is not mapped")
	}
	k, e = c.IpcGetMemHandle(main0, own) // and shared then, it is one memory for all
	must(t, "IpcGetMemHandle", e)
	theirs, e := apart.IpcOpenMemHandle(main0, &k, 1)
	must(t, "IpcOpenMemHandle", e)
	data, got := filled(n, 4), make([]byte, n)
	must(t, "Memcpy", c.Memcpy(main0, own, at(data), n, hip.MemcpyHostToDevice))
	must(t, "Memcpy", apart.Memcpy(main0, at(got), theirs, n, hip.MemcpyDeviceToHost))
	if !bytes.Equal(got, data) {
		t.Error("another session sees other bytes")
	}
}

// TestNearThreads: threads copy parts of one allocation while others launch and free: each sees its own bytes.
func TestNearThreads(t *testing.T) {
	const part, threads = 64 << 10, 4
	w := serve(t, simbackend.Options{}, worker.Config{})
	c := connectWith(t, w, hipremote.Config{Near: true})
	p, e := c.Malloc(main0, part*threads)
	must(t, "Malloc", e)
	var all sync.WaitGroup
	for i := range threads {
		all.Go(func() {
			th, mine := hip.Thread{ID: uint32(i + 1)}, p+hip.Ptr(i*part)
			for k := range 50 {
				data, got := filled(part, byte(i*50+k)), make([]byte, part)
				e1 := c.Memcpy(th, mine, at(data), part, hip.MemcpyHostToDevice)
				other, e2 := c.Malloc(th, part)
				e3 := c.MemcpyAsync(th, other, mine, part, hip.MemcpyDeviceToDevice, 0)
				e4 := c.Memcpy(th, at(got), other, part, hip.MemcpyDeviceToHost)
				e5 := c.Free(th, other)
				if e := max(e1, e2, e3, e4, e5); e != hip.Success || !bytes.Equal(got, data) {
					t.Errorf("thread %d: %v, other bytes %v", i, e, !bytes.Equal(got, data))
					return
				}
			}
		})
	}
	all.Wait()
}

// TestNearHostile: a client that lies about what it has copied, wants what is not its own, or does not take what it wants, gets no more than an error.
func TestNearHostile(t *testing.T) {
	w := serve(t, simbackend.Options{}, worker.Config{})
	witness := connect(t, w)
	kept, e := witness.Malloc(main0, 1<<20)
	must(t, "Malloc", e)
	data := filled(1<<20, 7)
	must(t, "Memcpy", witness.Memcpy(main0, kept, at(data), 1<<20, hip.MemcpyHostToDevice))

	c := hostileClient(t, w).c
	call := func(op uint16, req []byte) (hip.Error, []byte) {
		t.Helper()
		m := &wire.Msg{Req: req}
		if err := c.Call(op, m); err != nil {
			t.Fatalf("%s: %v", hiprpc.OpName(op), err)
		}
		return hip.Error(m.Code), m.Rep
	}
	code, rep := call(hip.OpMalloc, hiprpc.Place{Size: 1 << 20}.Append(nil))
	must(t, "Malloc", code)
	d := wire.NewDec(rep)
	p := hip.Ptr(d.U64())
	for _, at := range []hip.Ptr{0, 1, kept, p - 1, p + 1<<20, ^hip.Ptr(0)} {
		if code, _ := call(hiprpc.OpNear, hiprpc.Place{Addr: at}.Append(nil)); code == hip.Success {
			t.Errorf("memory at %#x is passed", uint64(at))
		}
	}
	if code, _ := call(hiprpc.OpNear, hiprpc.Place{Device: 9, Addr: p}.Append(nil)); code != hip.ErrorInvalidDevice {
		t.Errorf("memory of a device that does not exist: %v", code)
	}
	// A copy is told and not asked for: there is no answer to it.
	lie := hiprpc.Copy{Dir: hiprpc.NearTo, Dst: p, Width: 1 << 20, Height: 1, Spitch: 1 << 62}
	if code, _ := call(hip.OpMemcpy, lie.Append(nil)); code == hip.Success {
		t.Error("a told copy is answered")
	}
	for _, change := range []func(*hiprpc.Copy){
		func(*hiprpc.Copy) {}, func(c *hiprpc.Copy) { c.Width = 1 << 46 }, func(c *hiprpc.Copy) { c.Dst = kept }, func(c *hiprpc.Copy) { c.Height = 1 << 20; c.Width = 1 },
		func(c *hiprpc.Copy) { c.Dir, c.Src, c.Dst = hiprpc.NearFrom, p, 0 }, func(c *hiprpc.Copy) { c.Stream = 77 },
	} {
		x := lie
		change(&x)
		for range 2000 {
			if err := c.Post(hip.OpMemcpy, x.Append(nil), nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	// What is passed and not taken does not pile up.
	refused := false
	for range 5000 {
		code, _ := call(hiprpc.OpNear, hiprpc.Place{Addr: p}.Append(nil))
		if refused = code == hip.ErrorOutOfMemory; refused {
			break
		}
		must(t, "near", code)
	}
	if !refused {
		t.Error("any number of descriptors is passed to a client that takes none")
	}
	upDown(t, witness, kept, data)
}
