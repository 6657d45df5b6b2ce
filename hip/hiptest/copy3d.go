package hiptest

import (
	"fmt"

	"github.com/rocwire/rocwire/hip"
)

// volume is memory as a copy of a box sees it.
type volume struct {
	kind          hip.MemoryType
	p             hip.Ptr
	array         hip.Array
	pitch, height uint64
}

// box is a copy from a place in one volume to a place in another.
func box(dst volume, dx, dy, dz uint64, src volume, sx, sy, sz uint64, width, height, depth uint64) *hip.DrvMEMCPY3D {
	return &hip.DrvMEMCPY3D{
		SrcMemoryType: src.kind, SrcHost: src.p, SrcDevice: src.p, SrcArray: src.array, SrcPitch: src.pitch, SrcHeight: src.height, SrcXInBytes: sx, SrcY: sy, SrcZ: sz,
		DstMemoryType: dst.kind, DstHost: dst.p, DstDevice: dst.p, DstArray: dst.array, DstPitch: dst.pitch, DstHeight: dst.height, DstXInBytes: dx, DstY: dy, DstZ: dz,
		WidthInBytes: width, Height: height, Depth: depth,
	}
}

// cut is a box of a volume's bytes, closely packed.
func cut(b []byte, pitch, rows, x, y, z, width, height, depth int) (out []byte) {
	for k := range depth {
		for i := range height {
			at := ((z+k)*rows+y+i)*pitch + x
			out = append(out, b[at:at+width]...)
		}
	}
	return out
}

var copy3DTests = []test{
	{"Boxes", func(e *env) {
		const pitch, rows, slices = 96, 11, 7
		want := pattern(pitch*rows*slices, 3)
		h := e.host(len(want))
		copy(h, want)
		p, q := e.malloc(uint64(len(want))), e.malloc(pitch*rows*slices)
		host := volume{hip.MemoryTypeHost, ptr(h), 0, pitch, rows}
		unified := volume{hip.MemoryTypeUnified, ptr(h), 0, pitch, rows}
		dev, other := volume{hip.MemoryTypeDevice, p, 0, pitch, rows}, volume{hip.MemoryTypeDevice, q, 0, 64, 9}
		s := e.stream(0)
		for _, async := range []bool{false, true} {
			do := func(what string, b *hip.DrvMEMCPY3D) {
				e.Helper()
				if async {
					e.ok(what, e.DrvMemcpy3DAsync(e.th, b, s))
					e.ok("StreamSynchronize", e.StreamSynchronize(e.th, s))
				} else {
					e.ok(what, e.DrvMemcpy3D(e.th, b))
				}
			}
			e.ok("Memset", e.Memset(e.th, p, 0, uint64(len(want))))
			do("to the device", box(dev, 8, 2, 1, host, 5, 1, 2, 50, 6, 4))
			got := e.download(p, len(want))
			e.equal("the box", cut(got, pitch, rows, 8, 2, 1, 50, 6, 4), cut(want, pitch, rows, 5, 1, 2, 50, 6, 4))
			for i, b := range got {
				x, y, z := i%pitch, i/pitch%rows, i/pitch/rows
				if in := x >= 8 && x < 58 && y >= 2 && y < 8 && z >= 1 && z < 5; !in && b != 0 {
					e.Fatalf("byte %d,%d,%d outside of the box is %d", x, y, z, b)
				}
			}
			do("within the device", box(other, 3, 1, 0, dev, 8, 2, 1, 50, 6, 4))
			back := e.host(60 * 8 * 5)
			do("to the host", box(volume{hip.MemoryTypeHost, ptr(back), 0, 60, 8}, 2, 1, 1, other, 3, 1, 0, 50, 6, 4))
			e.equal("back", cut(back, 60, 8, 2, 1, 1, 50, 6, 4), cut(want, pitch, rows, 5, 1, 2, 50, 6, 4))
			clear(back)
			do("unified", box(volume{hip.MemoryTypeUnified, ptr(back), 0, 0, 0}, 0, 0, 0, unified, 5, 1, 2, 50, 6, 4))
			e.equal("host to host", back[:50*6*4], cut(want, pitch, rows, 5, 1, 2, 50, 6, 4))
		}
		e.is("nothing", e.DrvMemcpy3D(e.th, box(dev, 0, 0, 0, host, 0, 0, 0, 10, 0, 3)), hip.Success)
		for what, b := range map[string]*hip.DrvMEMCPY3D{
			"null destination":         box(volume{hip.MemoryTypeDevice, 0, 0, 8, 8}, 0, 0, 0, host, 0, 0, 0, 8, 8, 1),
			"null source":              box(dev, 0, 0, 0, volume{hip.MemoryTypeHost, 0, 0, 8, 8}, 0, 0, 0, 8, 8, 1),
			"a slice too many":         box(dev, 0, 0, 0, host, 0, 0, 0, pitch, rows, slices+1),
			"a place too far":          box(dev, 0, 0, slices, host, 0, 0, 0, 1, 1, 1),
			"row longer than pitch":    box(dev, 0, 0, 0, volume{hip.MemoryTypeHost, ptr(h), 0, 10, 8}, 0, 0, 0, 11, 2, 1),
			"from the host, as device": box(dev, 0, 0, 0, volume{hip.MemoryTypeDevice, ptr(h), 0, pitch, rows}, 0, 0, 0, 8, 2, 2),
			"to the host, as device":   box(volume{hip.MemoryTypeDevice, ptr(h), 0, pitch, rows}, 0, 0, 0, dev, 0, 0, 0, 8, 2, 2),
			"wraps":                    box(volume{hip.MemoryTypeDevice, p, 0, 1 << 40, 1 << 40}, 0, 0, 0, host, 0, 0, 0, 8, 2, 2),
			"wraps by its place":       box(dev, 1<<63, 1<<62, 1<<62, host, 0, 0, 0, 8, 2, 2),
			"an array that is none":    box(volume{kind: hip.MemoryTypeArray, array: invalid}, 0, 0, 0, host, 0, 0, 0, 8, 2, 2),
			"a kind that there isn't":  box(volume{77, p, 0, 8, 8}, 0, 0, 0, host, 0, 0, 0, 8, 2, 2),
		} {
			if err := e.DrvMemcpy3D(e.th, b); err == hip.Success {
				e.Errorf("%s: %s", what, err.Name())
			}
		}
		e.is("no box", e.DrvMemcpy3D(e.th, nil), hip.ErrorInvalidValue)
		e.sync()
	}},
	{"OneRow", func(e *env) { // slices of one row each, with gaps behind it in none, one or both of the volumes
		const n = 4096
		want := pattern(n, 5)
		p := e.upload(want)
		for _, c := range [][4]uint64{{30, 30, 1, 1}, {40, 30, 1, 1}, {30, 40, 1, 1}, {47, 43, 1, 1}, {47, 43, 1, 3}, {47, 43, 2, 1}} { // pitches and rows of both
			h := e.host(n)
			host, dev := volume{hip.MemoryTypeHost, ptr(h), 0, c[0], c[2]}, volume{hip.MemoryTypeDevice, p, 0, c[1], c[3]}
			e.ok("to the host", e.DrvMemcpy3D(e.th, box(host, 0, 0, 1, dev, 0, 0, 2, 30, 1, 6)))
			image := make([]byte, n)
			for z := range 6 {
				copy(image[(z+1)*int(c[0]*c[2]):][:30], want[(z+2)*int(c[1]*c[3]):])
			}
			e.equal(fmt.Sprintf("to the host, pitches and rows %d", c), h, image)
			q := e.malloc(n)
			e.ok("Memset", e.Memset(e.th, q, 0, n))
			e.ok("to the device", e.DrvMemcpy3D(e.th, box(volume{hip.MemoryTypeDevice, q, 0, c[0], c[2]}, 0, 0, 1, host, 0, 0, 1, 30, 1, 6)))
			e.equal(fmt.Sprintf("to the device, pitches and rows %d", c), e.download(q, n), image)
		}
	}},
	{"Order", func(e *env) { // behind what the stream was given before, from memory that may change at once
		const n = 40 * 30 * 20
		p := e.malloc(n)
		h := e.host(n)
		s := e.stream(hip.StreamNonBlocking)
		want := pattern(n, 9)
		e.ok("MemsetAsync", e.MemsetAsync(e.th, p, 1, n, s))
		copy(h, want)
		e.ok("DrvMemcpy3DAsync", e.DrvMemcpy3DAsync(e.th, box(volume{hip.MemoryTypeDevice, p, 0, 40, 30}, 0, 0, 0, volume{hip.MemoryTypeHost, ptr(h), 0, 40, 30}, 0, 0, 0, 40, 30, 20), s))
		clear(h)
		e.ok("StreamSynchronize", e.StreamSynchronize(e.th, s))
		e.equal("copied", e.download(p, n), want)
	}},
	{"Pinned", func(e *env) { // a copy to memory of HostMalloc comes when the stream does, and nobody waits for it
		const w, rows, slices = 40, 30, 20
		want := pattern(w*rows*slices, 11)
		p := e.upload(want)
		h, err := e.HostMalloc(e.th, w*rows*slices, 0)
		e.ok("HostMalloc", err)
		mem := hostBytes(h, w*rows*slices)
		s := e.stream(hip.StreamNonBlocking)
		g := e.gate(s)
		e.ok("DrvMemcpy3DAsync", e.DrvMemcpy3DAsync(e.th, box(volume{hip.MemoryTypeHost, h, 0, w, rows}, 0, 0, 0, volume{hip.MemoryTypeDevice, p, 0, w, rows}, 0, 0, 0, w, rows, slices), s))
		e.is("StreamQuery", e.StreamQuery(e.th, s), hip.ErrorNotReady)
		g.open()
		e.ok("StreamSynchronize", e.StreamSynchronize(e.th, s))
		e.equal("copied", mem, want)
		e.ok("HostFree", e.HostFree(e.th, h))
	}},
	{"Large", func(e *env) { // more than one message holds, in rows, in slices, and a row longer than it
		for _, c := range [][3]uint64{{1000, 3000, 5}, {4096, 1024, 9}, {9 << 20, 2, 1}} {
			w, rows, slices := c[0], c[1], c[2]
			n := int(w * rows * slices)
			want := pattern(n, byte(w))
			h, back := e.host(n), e.host(n)
			copy(h, want)
			p := e.malloc(uint64(n) + w*slices + slices*(w+7))
			dev := volume{hip.MemoryTypeDevice, p, 0, w + 7, rows}
			if uint64(n)+7*rows*slices > uint64(n)+w*slices+slices*(w+7) {
				dev.pitch = w
			}
			e.ok("to", e.DrvMemcpy3D(e.th, box(dev, 0, 0, 0, volume{hip.MemoryTypeHost, ptr(h), 0, w, rows}, 0, 0, 0, w, rows, slices)))
			e.ok("from", e.DrvMemcpy3D(e.th, box(volume{hip.MemoryTypeHost, ptr(back), 0, w, rows}, 0, 0, 0, dev, 0, 0, 0, w, rows, slices)))
			e.equal(fmt.Sprint(c), back, want)
			e.ok("Free", e.Free(e.th, p))
		}
	}},
}
