package hiprpc

import (
	"bytes"
	"math"
	"reflect"
	"testing"

	"github.com/rocwire/rocwire/hip"
)

func TestMessagesRoundTrip(t *testing.T) {
	c := Copy{Device: 3, Dir: Within, Stream: 0x11, Dst: 0x1000, Src: 0x2000, Dpitch: 64, Spitch: 128, Width: 50, Height: 7, DstDevice: -1, SrcDevice: 2, Async: true}
	var c2 Copy
	if b := c.Append(nil); !c2.Decode(b) || c2 != c {
		t.Errorf("Copy: %+v", c2)
	}
	d := Copy3D{Device: 3, Stream: 0x11, Async: true, Box: hip.DrvMEMCPY3D{SrcMemoryType: hip.MemoryTypeHost, DstMemoryType: hip.MemoryTypeArray, DstArray: 5, DstY: 6, WidthInBytes: 7, Height: 8, Depth: 9}}
	var d2 Copy3D
	if b := d.Append(nil); !d2.Decode(b) || d2 != d {
		t.Errorf("Copy3D: %+v", d2)
	}
	l := hip.Launch{Function: 77, Grid: hip.Dim3{X: 1, Y: 2, Z: 3}, Block: hip.Dim3{X: 4, Y: 5, Z: 6}, SharedMem: 7, Stream: 8, Args: []byte{1, 2, 3},
		Start: 9, Stop: 10, Flags: hip.LaunchCooperative, GlobalSize: hip.Dim3{X: 11, Y: 12, Z: 13}}
	var l2 hip.Launch
	if dev, ok := DecodeLaunch(AppendLaunch(nil, 5, &l), &l2); !ok || dev != 5 || !reflect.DeepEqual(l, l2) {
		t.Errorf("Launch: %d %v %+v", dev, ok, l2)
	}
	p := Place{Device: 1, Addr: 0x1000, Size: 0x2000}
	var p2 Place
	if !p2.Decode(p.Append(nil)) || p2 != p {
		t.Errorf("Place: %+v", p2)
	}
	h := Host{Device: 1, Addr: 0x1000, Size: 5, Flags: 6, Managed: true}
	var h2 Host
	if !h2.Decode(h.Append(nil)) || h2 != h {
		t.Errorf("Host: %+v", h2)
	}
	s := StreamOp{Device: 1, Ptr: 2, Stream: 3}
	var s2 StreamOp
	if !s2.Decode(s.Append(nil)) || s2 != s {
		t.Errorf("StreamOp: %+v", s2)
	}
	a := AsyncError{Seq: 9, Op: hip.OpMemcpyAsync, Stream: 4, Code: hip.ErrorIllegalAddress, Sticky: true, Text: "why"}
	var a2 AsyncError
	if !a2.Decode(a.Append(nil)) || a2 != a {
		t.Errorf("AsyncError: %+v", a2)
	}
	a.Code = 123456
	if !a2.Decode(a.Append(nil)) || a2.Code != hip.ErrorUnknown {
		t.Errorf("a code that HIP does not know: %+v", a2)
	}
}

func TestDecodeRefuses(t *testing.T) {
	good := Copy{Dir: ToDevice, Width: 10, Height: 1}
	for name, b := range map[string][]byte{
		"nothing":       nil,
		"short":         good.Append(nil)[:20],
		"long":          append(good.Append(nil), 0),
		"no direction":  (&Copy{Width: 10, Height: 1}).Append(nil),
		"bad direction": (&Copy{Dir: 9, Width: 10, Height: 1}).Append(nil),
		"size wraps":    (&Copy{Dir: Within, Width: 1 << 40, Height: 1 << 40}).Append(nil),
		"too wide":      (&Copy{Dir: Within, Width: math.MaxUint64, Height: 1}).Append(nil),
		"too high":      (&Copy{Dir: Within, Width: 0, Height: math.MaxUint64}).Append(nil),
	} {
		var c Copy
		if c.Decode(b) {
			t.Errorf("Copy, %s: decoded to %+v", name, c)
		}
	}
	for name, box := range map[string]hip.DrvMEMCPY3D{
		"no sides":               {WidthInBytes: 1, Height: 1, Depth: 1},
		"host to host":           {SrcMemoryType: hip.MemoryTypeHost, DstMemoryType: hip.MemoryTypeHost},
		"unified":                {SrcMemoryType: hip.MemoryTypeUnified, DstMemoryType: hip.MemoryTypeDevice},
		"an address of the host": {SrcMemoryType: hip.MemoryTypeHost, SrcHost: 1, DstMemoryType: hip.MemoryTypeDevice},
		"a place in the bulk":    {SrcMemoryType: hip.MemoryTypeDevice, DstMemoryType: hip.MemoryTypeHost, DstZ: 1},
		"size wraps":             {SrcMemoryType: hip.MemoryTypeDevice, DstMemoryType: hip.MemoryTypeDevice, WidthInBytes: 1 << 40, Height: 1 << 40, Depth: 1 << 40},
	} {
		var c Copy3D
		if c.Decode((&Copy3D{Box: box}).Append(nil)) {
			t.Errorf("Copy3D, %s: decoded to %+v", name, c)
		}
	}
	var p Place
	if p.Decode(Place{Addr: math.MaxUint64, Size: 2}.Append(nil)) {
		t.Error("a place that wraps was decoded")
	}
	var l hip.Launch
	if _, ok := DecodeLaunch(AppendLaunch(nil, 0, &hip.Launch{Args: make([]byte, MaxArgs+1)}), &l); ok {
		t.Error("arguments over the limit were decoded")
	}
	var a AsyncError
	if a.Decode((&AsyncError{Seq: 1}).Append(nil)) {
		t.Error("an asynchronous success was decoded")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add((&Copy{Dir: Within, Width: 10, Height: 2}).Append(nil))
	f.Add((&Copy3D{Box: hip.DrvMEMCPY3D{SrcMemoryType: hip.MemoryTypeDevice, DstMemoryType: hip.MemoryTypeHost, WidthInBytes: 3, Height: 2, Depth: 1}}).Append(nil))
	f.Add(AppendLaunch(nil, 1, &hip.Launch{Args: []byte{1, 2, 3}}))
	f.Add(Place{Addr: 4096, Size: 4096}.Append(nil))
	f.Add(Near{Base: 4096, Size: 8192}.Append(nil))
	f.Add((&Copy{Dir: NearTo, Dst: 4096, Spitch: 1000, Width: 10, Height: 1}).Append(nil))
	f.Add(Host{Addr: 4096, Size: 5}.Append(nil))
	f.Add((&AsyncError{Seq: 1, Code: 1, Text: "x"}).Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		var c Copy
		if c.Decode(b) {
			if n, ok := c.Bytes(); !ok || n > 1<<46 {
				t.Errorf("%+v has %d bytes", c, n)
			}
			if !bytes.Equal(c.Append(nil), b) {
				t.Errorf("%+v is another message than it came as", c)
			}
		}
		var d Copy3D
		if d.Decode(b) {
			if n, ok := d.Bytes(); !ok || n > 1<<46 {
				t.Errorf("%+v has %d bytes", d, n)
			}
			if !bytes.Equal(d.Append(nil), b) {
				t.Errorf("%+v is another message than it came as", d)
			}
		}
		var l hip.Launch
		if _, ok := DecodeLaunch(b, &l); ok && len(l.Args) > MaxArgs {
			t.Errorf("%d bytes of arguments", len(l.Args))
		}
		var p Place
		if p.Decode(b) && uint64(p.Addr)+p.Size < uint64(p.Addr) {
			t.Errorf("%+v wraps", p)
		}
		var n Near
		if n.Decode(b) && (uint64(n.Base)+n.Size < uint64(n.Base) || !bytes.Equal(n.Append(nil), b)) {
			t.Errorf("%+v wraps, or is another message than it came as", n)
		}
		var h Host
		h.Decode(b)
		var s StreamOp
		s.Decode(b)
		var a AsyncError
		if a.Decode(b) && (a.Code == hip.Success || !a.Code.Valid()) {
			t.Errorf("%+v", a)
		}
	})
}
