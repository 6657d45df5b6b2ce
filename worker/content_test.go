package worker_test

import (
	"encoding/binary"
	"runtime"
	"testing"

	"github.com/rocwire/rocwire/examples/kernels"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipremote"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/worker"
)

// padded is a code object made n bytes long: its section headers are moved to the end.
func padded(t *testing.T, name string, n int) []byte {
	t.Helper()
	o, err := kernels.Object("gfx942", name)
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, n)
	copy(b, o)
	le := binary.LittleEndian
	headers, tail := le.Uint64(o[0x28:]), int(le.Uint16(o[0x3a:]))*int(le.Uint16(o[0x3c:]))
	at := (n - tail) &^ 7
	copy(b[at:], o[headers:int(headers)+tail])
	le.PutUint64(b[0x28:], uint64(at))
	return b
}

// TestModuleByContent: what one session has loaded, the next of the same user loads without sending it, and it is the same module.
func TestModuleByContent(t *testing.T) {
	w := serve(t, cards(1), config())
	const n = 3 << 20
	image := padded(t, "saxpy", n)
	load := func() uint64 {
		t.Helper()
		c := connectWith(t, w, hipremote.Config{NoShare: true})
		before := received(w)
		m, e := c.ModuleLoadData(main0, image)
		must(t, "ModuleLoadData", e)
		f, e := c.ModuleGetFunction(main0, m, "saxpy")
		must(t, "ModuleGetFunction", e)
		x, e := c.HostMalloc(main0, 8, 0)
		must(t, "HostMalloc", e)
		floats(x, 2)[0], floats(x, 2)[1] = 3, 4
		must(t, "launch", saxpy(c, f, 0, 2, 2, x, x))
		must(t, "DeviceSynchronize", c.DeviceSynchronize(main0))
		if got := floats(x, 2); got[0] != 9 || got[1] != 12 {
			t.Errorf("%v", got)
		}
		must(t, "ModuleUnload", c.ModuleUnload(main0, m))
		_ = c.Close()
		for len(w.Sessions()) > 0 {
			runtime.Gosched()
		}
		return received(w) - before
	}
	if got := load(); got < n {
		t.Errorf("%d bytes came for a module of %d", got, n)
	}
	for held(w) != n { // it is checked first
		runtime.Gosched()
	}
	if got := load(); got > n/10 {
		t.Errorf("%d bytes came for a module that was there", got)
	}
	if m := w.SessionTotals(); held(w) != n || m.ModuleHits != smi.Some(uint64(1)) || m.ModulesSaved != smi.Some(smi.Bytes(n)) {
		t.Errorf("%+v", m)
	}
	image[n/2]++ // other bytes, another module
	if got := load(); got < n {
		t.Errorf("%d bytes came for another module", got)
	}
	for held(w) != 2*n {
		runtime.Gosched()
	}
	broken := append([]byte("none"), image[4:]...)
	c := connectWith(t, w, hipremote.Config{NoShare: true})
	if _, e := c.ModuleLoadData(main0, broken); e != hip.ErrorInvalidImage {
		t.Errorf("no code object: %v", e)
	}
	if held(w) != 2*n {
		t.Errorf("what does not load is kept: %d bytes", held(w))
	}
}

// TestModuleThroughMemory: who shares memory sends its modules, and nothing is kept of them: to say what they are takes longer.
func TestModuleThroughMemory(t *testing.T) {
	w := serve(t, cards(1), config())
	const n = 3 << 20
	image := padded(t, "saxpy", n)
	c := connect(t, w)
	for i := range uint64(2) {
		m, e := c.ModuleLoadData(main0, image)
		must(t, "ModuleLoadData", e)
		_, e = c.ModuleGetFunction(main0, m, "saxpy")
		must(t, "ModuleGetFunction", e)
		eventually(t, "it was sent", func() bool { return received(w) >= (i+1)*n })
	}
	if held(w) != 0 {
		t.Errorf("%d bytes are kept", held(w))
	}
}

// TestNoModuleCache: without a cache every module is sent, by clients that could do without.
func TestNoModuleCache(t *testing.T) {
	cfg := config()
	cfg.ModuleCache = -1
	w := serve(t, cards(1), cfg)
	image := padded(t, "saxpy", 1<<20)
	for range 2 {
		c := connectWith(t, w, hipremote.Config{NoShare: true})
		m, e := c.ModuleLoadData(main0, image)
		must(t, "ModuleLoadData", e)
		_, e = c.ModuleGetFunction(main0, m, "saxpy")
		must(t, "ModuleGetFunction", e)
		_ = c.Close()
		for len(w.Sessions()) > 0 {
			runtime.Gosched()
		}
	}
	if _, ok := w.SessionTotals().ModulesHeld.Get(); ok || received(w) < 2<<20 {
		t.Errorf("%+v", w.SessionTotals())
	}
}

// held is how many bytes of modules a server keeps.
func held(w *worker.Server) uint64 {
	n, _ := w.SessionTotals().ModulesHeld.Get()
	return uint64(n)
}

// received is what a server has been sent by sessions, also those that are over.
func received(w *worker.Server) uint64 {
	n := w.SessionTotals().BytesIn
	v, _ := n.Get()
	return uint64(v)
}
