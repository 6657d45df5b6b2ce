package rocm

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

// TestLayersAreRows: layers of a one-dimensional array lie a pitch apart in memory, whatever the height of its slices, though AMD's library has
// them a slice apart.
func TestLayersAreRows(t *testing.T) {
	r := stub(t, "testdata/stub_array.c")
	const row, layers, pitch = 33, 6, 40
	a, e := r.Array3DCreate(thread, &hip.DrvArray3dDescriptor{Width: row, Depth: layers, Format: hip.DrvAdFormatUnsignedInt8, NumChannels: 1, Flags: hip.ArrayLayered})
	must(t, "Array3DCreate", e)
	mem := make([]byte, 4*pitch*layers) // with room for what a library would read that has it otherwise
	for i := range mem {
		mem[i] = byte(i * 7)
	}
	back := make([]byte, len(mem))
	var pins runtime.Pinner
	defer pins.Unpin()
	pins.Pin(&mem[0])
	pins.Pin(&back[0])
	at := func(b []byte) hip.Ptr { return hip.Ptr(uintptr(unsafe.Pointer(&b[0]))) }
	for _, height := range []uint64{0, 1, 3, layers} {
		for z := range uint64(2) {
			for async, do := range map[string]func(*hip.DrvMEMCPY3D) hip.Error{
				"":      func(p *hip.DrvMEMCPY3D) hip.Error { return r.DrvMemcpy3D(thread, p) },
				"Async": func(p *hip.DrvMEMCPY3D) hip.Error { return r.DrvMemcpy3DAsync(thread, p, 0) },
			} {
				clear(back)
				in := hip.DrvMEMCPY3D{SrcMemoryType: hip.MemoryTypeHost, SrcHost: at(mem), SrcPitch: pitch, SrcHeight: height, SrcZ: z,
					DstMemoryType: hip.MemoryTypeArray, DstArray: a, WidthInBytes: row, Height: layers, Depth: 1}
				out := hip.DrvMEMCPY3D{SrcMemoryType: hip.MemoryTypeArray, SrcArray: a, SrcY: 2,
					DstMemoryType: hip.MemoryTypeHost, DstHost: at(back), DstPitch: pitch, DstHeight: height, DstY: 1, WidthInBytes: row, Height: layers - 2, Depth: 1}
				must(t, "DrvMemcpy3D"+async, do(&in))
				must(t, "DrvMemcpy3D"+async, do(&out))
				rows := height
				if rows == 0 {
					rows = layers
				}
				want := make([]byte, len(mem))
				for i := range layers - 2 {
					copy(want[(i+1)*pitch:][:row], mem[(int(z*rows)+i+2)*pitch:])
				}
				if !bytes.Equal(back, want) {
					t.Error(fmt.Sprintf("height %d, place %d %s: ", height, z, async), back[:4*pitch])
				}
			}
		}
	}
	must(t, "ArrayDestroy", r.ArrayDestroy(thread, a))
	if r.layers.has(a) {
		t.Error("an array that is gone is remembered")
	}
}
