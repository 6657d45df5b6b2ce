package worker_test

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"testing"
	"unsafe"

	"github.com/rocwire/rocwire/examples/kernels"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipremote"
	"github.com/rocwire/rocwire/worker"
	"github.com/rocwire/rocwire/worker/simbackend"
)

// TestGlobals: hipMemcpyDefault finds a module's variable, whether there is an agreed range of addresses or not, as with a real card's library.
func TestGlobals(t *testing.T) {
	w := serve(t, simbackend.Options{Arch: "gfx942"}, worker.Config{})
	for name, cfg := range map[string]hipremote.Config{"agreed range": {}, "no range": {NoReserve: true}} {
		t.Run(name, func(t *testing.T) {
			c, th := connectWith(t, w, cfg), hip.Thread{}
			image, err := kernels.Object("gfx942", "variables")
			if err != nil {
				t.Fatal(err)
			}
			m, e := c.ModuleLoadData(th, image)
			must(t, "ModuleLoadData", e)
			p, n, e := c.ModuleGetGlobal(th, m, "big_table")
			must(t, "ModuleGetGlobal", e)
			if n != 512 {
				t.Fatalf("%d bytes", n)
			}
			b := make([]byte, 512)
			var pin runtime.Pinner // a goroutine's stack moves
			pin.Pin(&b[0])
			defer pin.Unpin()
			at := hip.Ptr(uintptr(unsafe.Pointer(&b[0])))
			must(t, "Memcpy from the variable", c.Memcpy(th, at, p, n, hip.MemcpyDefault))
			for i := range 4 {
				if v := binary.LittleEndian.Uint64(b[8*i:]); v != uint64(i+1) {
					t.Errorf("element %d is %d", i, v)
				}
			}
			for i := range b {
				b[i] = byte(i)
			}
			want := bytes.Clone(b)
			must(t, "Memcpy to the variable", c.Memcpy(th, p, at, n, hip.MemcpyDefault))
			clear(b)
			must(t, "MemcpyAsync from inside it", c.MemcpyAsync(th, at+8, p+8, n-8, hip.MemcpyDefault, 0))
			must(t, "StreamSynchronize", c.StreamSynchronize(th, 0))
			if !bytes.Equal(b[8:], want[8:]) {
				t.Error("other bytes")
			}
			if e := c.Memcpy(th, at, p+8, n, hip.MemcpyDefault); cfg.NoReserve && e != hip.ErrorInvalidValue { // elsewhere the module's memory goes on
				t.Errorf("beyond its end: %v", e)
			}
			if e := c.Free(th, p); e != hip.ErrorInvalidValue {
				t.Errorf("Free of a variable: %v", e)
			}
			if a, e := c.PointerGetAttributes(th, p); e != hip.Success || a.Type != hip.MemoryTypeDevice {
				t.Errorf("PointerGetAttributes: %+v, %v", a, e)
			}
			must(t, "ModuleUnload", c.ModuleUnload(th, m))
			if _, _, e := c.MemGetAddressRange(th, p); e == hip.Success {
				t.Error("the variable is still known after its module's end")
			}
		})
	}
}
