package worker_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/wire"
	"github.com/rocwire/rocwire/worker"
	"github.com/rocwire/rocwire/worker/simbackend"
)

// hostile is a client that sends what it likes.
type hostile struct {
	*testing.T
	c *wire.Client
}

func hostileClient(t *testing.T, w *worker.Server) *hostile {
	t.Helper()
	c, err := wire.Dial(context.Background(), wire.Options{Address: w.Addr().String(), Hello: wire.Hello{Purpose: "hip"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return &hostile{t, c}
}

// call sends a message. Whatever it says, there is an answer.
func (h *hostile) call(what string, op uint16, req, bulk []byte) (hip.Error, *wire.Msg) {
	h.Helper()
	m := &wire.Msg{Req: req, Bulk: bulk, Dst: make([]byte, 1<<20)}
	if err := h.c.Call(op, m); err != nil {
		h.Fatalf("%s: %v", what, err)
	}
	return hip.Error(m.Code), m
}

// refused demands an error.
func (h *hostile) refused(what string, op uint16, req, bulk []byte) {
	h.Helper()
	if e, _ := h.call(what, op, req, bulk); e == hip.Success || !e.Valid() {
		h.Errorf("%s: %s: %v", hip.OpName(op), what, e)
	}
}

// handle is what a call that must succeed returns.
func (h *hostile) handle(what string, op uint16, req, bulk []byte) uint64 {
	h.Helper()
	e, m := h.call(what, op, req, bulk)
	if e != hip.Success || len(m.Rep) != 8 {
		h.Fatalf("%s: %v, %d bytes", what, e, len(m.Rep))
	}
	return binary.LittleEndian.Uint64(m.Rep)
}

func (h *hostile) array(d hip.DrvArray3dDescriptor) hip.Array {
	h.Helper()
	return hip.Array(h.handle("an array", hip.OpArray3DCreate, (&hiprpc.Array3DCreateRequest{PAllocateArray: d}).Append(nil), nil))
}

func texRequest(d hip.DrvResourceDesc) []byte {
	return (&hiprpc.TexObjectCreateRequest{PResDesc: d}).Append(nil)
}

func graphOf(ops ...hip.GraphOp) []byte {
	return hiprpc.AppendGraph(nil, &hip.GraphDesc{Ops: ops}, make([]uint64, len(ops)))
}

func boxOp(b hip.DrvMEMCPY3D) hip.GraphOp {
	return hip.GraphOp{Type: hip.GraphNodeTypeMemcpy, Copy: &hip.GraphCopy{General: &b}}
}

const small = 4096 // bytes of the memory that a hostile client has

// wrongBoxes are copies that nobody may make, from or to the memory at mem and the array, which has 8 rows of 32 bytes. Each of their sides is
// the session's own or what others has.
func wrongBoxes(mem hip.Ptr, own hip.Array, others map[string]hip.Array) map[string]hip.DrvMEMCPY3D {
	const device, array = hip.MemoryTypeDevice, hip.MemoryTypeArray
	good := hip.DrvMEMCPY3D{SrcMemoryType: device, SrcDevice: mem, SrcPitch: 32, SrcHeight: 8, DstMemoryType: array, DstArray: own, WidthInBytes: 32, Height: 8, Depth: 1}
	boxes := map[string]hip.DrvMEMCPY3D{}
	add := func(name string, change func(*hip.DrvMEMCPY3D)) {
		b := good
		change(&b)
		boxes[name] = b
		// The same the other way round.
		b.SrcXInBytes, b.DstXInBytes, b.SrcY, b.DstY, b.SrcZ, b.DstZ, b.SrcLOD, b.DstLOD = b.DstXInBytes, b.SrcXInBytes, b.DstY, b.SrcY, b.DstZ, b.SrcZ, b.DstLOD, b.SrcLOD
		b.SrcMemoryType, b.DstMemoryType, b.SrcHost, b.DstHost, b.SrcDevice, b.DstDevice = b.DstMemoryType, b.SrcMemoryType, b.DstHost, b.SrcHost, b.DstDevice, b.SrcDevice
		b.SrcArray, b.DstArray, b.SrcPitch, b.DstPitch, b.SrcHeight, b.DstHeight = b.DstArray, b.SrcArray, b.DstPitch, b.SrcPitch, b.DstHeight, b.SrcHeight
		boxes[name+", back"] = b
	}
	for name, a := range others {
		add("array "+name, func(b *hip.DrvMEMCPY3D) { b.DstArray = a })
	}
	for _, v := range []uint64{1 << 20, 1 << 46, 1 << 62, 1 << 63, math.MaxUint64} {
		add(fmt.Sprintf("width %#x", v), func(b *hip.DrvMEMCPY3D) { b.WidthInBytes = v })
		add(fmt.Sprintf("height %#x", v), func(b *hip.DrvMEMCPY3D) { b.Height, b.SrcHeight = v, v })
		add(fmt.Sprintf("depth %#x", v), func(b *hip.DrvMEMCPY3D) { b.Depth = v })
		add(fmt.Sprintf("x %#x in an array", v), func(b *hip.DrvMEMCPY3D) { b.DstXInBytes = v })
		add(fmt.Sprintf("y %#x in an array", v), func(b *hip.DrvMEMCPY3D) { b.DstY = v })
		add(fmt.Sprintf("z %#x in an array", v), func(b *hip.DrvMEMCPY3D) { b.DstZ = v })
		add(fmt.Sprintf("x %#x", v), func(b *hip.DrvMEMCPY3D) { b.SrcXInBytes = v })
		add(fmt.Sprintf("y %#x", v), func(b *hip.DrvMEMCPY3D) { b.SrcY = v })
		add(fmt.Sprintf("z %#x", v), func(b *hip.DrvMEMCPY3D) { b.SrcZ = v })
		add(fmt.Sprintf("pitch %#x", v), func(b *hip.DrvMEMCPY3D) { b.SrcPitch = v })
		add(fmt.Sprintf("slices of %#x rows", v), func(b *hip.DrvMEMCPY3D) { b.SrcHeight, b.SrcZ = v, 1 })
	}
	add("a pitch less than a row", func(b *hip.DrvMEMCPY3D) { b.SrcPitch = 1 })
	add("all that wraps", func(b *hip.DrvMEMCPY3D) { b.WidthInBytes, b.Height, b.Depth = 1<<22, 1<<21, 1<<21 })
	add("no memory", func(b *hip.DrvMEMCPY3D) { b.SrcDevice = 0 })
	add("memory of nobody", func(b *hip.DrvMEMCPY3D) { b.SrcDevice = 0x1234000 })
	add("the last of all addresses", func(b *hip.DrvMEMCPY3D) { b.SrcDevice = math.MaxUint64 - 15 })
	add("half beyond its memory", func(b *hip.DrvMEMCPY3D) { b.SrcDevice += small - 128 })
	add("a slice beyond its memory, without a pitch", func(b *hip.DrvMEMCPY3D) {
		b.DstMemoryType, b.DstArray, b.DstDevice, b.DstPitch, b.DstHeight = device, 0, mem, 32, 8
		b.SrcDevice, b.SrcPitch, b.Height, b.Depth, b.SrcHeight = mem+small-64, 0, 1, 8, 1
	})
	add("host memory of the worker's", func(b *hip.DrvMEMCPY3D) {
		b.SrcMemoryType, b.SrcDevice, b.SrcHost = hip.MemoryTypeHost, 0, 0x1000
	})
	for _, k := range []hip.MemoryType{0, 4, 10, 11, -1, math.MinInt32, math.MaxInt32} {
		if k != device && k != array && k != hip.MemoryTypeHost {
			add(fmt.Sprintf("memory of type %d", k), func(b *hip.DrvMEMCPY3D) { b.SrcMemoryType = k })
		}
	}
	return boxes
}

// TestHostileImages: descriptions of arrays, textures, surfaces, boxes and graphs that make no sense, or name what is another's or is gone, are
// refused; the session answers afterwards, and nobody's memory has changed.
func TestHostileImages(t *testing.T) {
	for _, arch := range []string{"gfx90a", "gfx942"} {
		t.Run(arch, func(t *testing.T) {
			w := serve(t, simbackend.Options{Cards: 1, Arch: arch}, config())
			hostileImages(hostileClient(t, w), connect(t, w), arch == "gfx90a")
		})
	}
}

func hostileImages(h *hostile, good interface {
	Array3DCreate(hip.Thread, *hip.DrvArray3dDescriptor) (hip.Array, hip.Error)
	Malloc(hip.Thread, uint64) (hip.Ptr, hip.Error)
	Memset(hip.Thread, hip.Ptr, int32, uint64) hip.Error
	Memcpy(hip.Thread, hip.Ptr, hip.Ptr, uint64, hip.MemcpyKind) hip.Error
}, images bool) {
	const n = 1 << 20
	theirs, e := good.Malloc(main0, n)
	must(h.T, "Malloc", e)
	must(h.T, "Memset", good.Memset(main0, theirs, 0x5a, n))
	mem := hip.Ptr(h.handle("Malloc", hip.OpMalloc, hiprpc.Place{Size: small}.Append(nil), nil))
	desc := hip.DrvArray3dDescriptor{Width: 8, Height: 8, Format: hip.DrvAdFormatFloat, NumChannels: 1}
	arrays := map[string]hip.Array{"null": 0, "of nobody": 0xdeadbeef, "of memory": hip.Array(mem), "all ones": math.MaxUint64}
	var own hip.Array
	if images {
		own = h.array(desc)
		for range 40 { // more than this client has
			arrays["of another session"], e = good.Array3DCreate(main0, &desc)
			must(h.T, "Array3DCreate", e)
		}
		stale := h.array(desc)
		if e, _ := h.call("destroy", hip.OpArrayDestroy, (&hiprpc.ArrayDestroyRequest{Array: stale}).Append(nil), nil); e != hip.Success {
			h.Fatal(e)
		}
		arrays["that is gone"] = stale
		h.refused("twice", hip.OpArrayDestroy, (&hiprpc.ArrayDestroyRequest{Array: stale}).Append(nil), nil)
	}

	// Arrays.
	for name, change := range map[string]func(*hip.DrvArray3dDescriptor){
		"no width": func(d *hip.DrvArray3dDescriptor) { d.Width = 0 },
		"all ones": func(d *hip.DrvArray3dDescriptor) {
			d.Width, d.Height, d.Depth = math.MaxUint64, math.MaxUint64, math.MaxUint64
		},
		"2^64 bytes":        func(d *hip.DrvArray3dDescriptor) { d.Width, d.Height, d.Depth = 1<<22, 1<<20, 1<<20 },
		"2^66 bytes":        func(d *hip.DrvArray3dDescriptor) { d.Width, d.Height = 1<<32, 1<<32 },
		"a negative format": func(d *hip.DrvArray3dDescriptor) { d.Format = -1 },
		"the least format":  func(d *hip.DrvArray3dDescriptor) { d.Format = math.MinInt32 },
		"no channels":       func(d *hip.DrvArray3dDescriptor) { d.NumChannels = 0 },
		"too many channels": func(d *hip.DrvArray3dDescriptor) { d.NumChannels = math.MaxUint32 },
		"all flags":         func(d *hip.DrvArray3dDescriptor) { d.Flags = math.MaxUint32 },
		"more than there is of memory": func(d *hip.DrvArray3dDescriptor) {
			d.Width, d.Height, d.Depth, d.NumChannels = 16384, 16384, 8192, 4
		},
	} {
		d := desc
		change(&d)
		h.refused(name, hip.OpArray3DCreate, (&hiprpc.Array3DCreateRequest{PAllocateArray: d}).Append(nil), nil)
		h.refused(name, hip.OpMipmappedArrayCreate, (&hiprpc.MipmappedArrayCreateRequest{PMipmappedArrayDesc: d, NumMipmapLevels: math.MaxUint32}).Append(nil), nil)
	}
	for name, a := range arrays {
		if a != 0 {
			h.refused(name, hip.OpArrayDestroy, (&hiprpc.ArrayDestroyRequest{Array: a}).Append(nil), nil)
		}
		h.refused(name, hip.OpMipmappedArrayGetLevel, (&hiprpc.MipmappedArrayGetLevelRequest{HMipMappedArray: hip.MipmappedArray(a), Level: 7}).Append(nil), nil)
		h.refused(name, hip.OpMipmappedArrayDestroy, (&hiprpc.MipmappedArrayDestroyRequest{HMipmappedArray: hip.MipmappedArray(a)}).Append(nil), nil)
		for _, kind := range []hip.DrvResourcetypeEnum{hip.DrvResourceTypeArray, hip.DrvResourceTypeMipmappedArray} {
			h.refused("array "+name, hip.OpTexObjectCreate, texRequest(hip.DrvResourceDesc{ResType: kind, Res: [16]uint64{uint64(a)}}), nil)
			h.refused("array "+name, hip.OpCreateSurfaceObject, (&hiprpc.CreateSurfaceObjectRequest{PResDesc: hip.ResourceDesc{ResType: hip.ResourceType(kind), Res: [7]uint64{uint64(a)}}}).Append(nil), nil)
		}
		if a != 0 {
			h.refused("array "+name, hip.OpTexObjectDestroy, (&hiprpc.TexObjectDestroyRequest{TexObject: hip.TextureObject(a)}).Append(nil), nil)
			h.refused("array "+name, hip.OpDestroySurfaceObject, (&hiprpc.DestroySurfaceObjectRequest{SurfaceObject: hip.SurfaceObject(a)}).Append(nil), nil)
		}
	}

	// Textures and surfaces.
	for name, set := range map[string]func(*hip.DrvResourceDesc){
		"no kind":               func(d *hip.DrvResourceDesc) { d.ResType = 4 },
		"a negative kind":       func(d *hip.DrvResourceDesc) { d.ResType = -1 },
		"the least kind":        func(d *hip.DrvResourceDesc) { d.ResType = math.MinInt32 },
		"another's memory":      func(d *hip.DrvResourceDesc) { d.SetLinear(theirs+n-256, hip.DrvAdFormatFloat, 4, 1<<30) },
		"size all ones":         func(d *hip.DrvResourceDesc) { d.SetLinear(mem, hip.DrvAdFormatFloat, 4, math.MaxUint64) },
		"a size that wraps":     func(d *hip.DrvResourceDesc) { d.SetLinear(mem, hip.DrvAdFormatFloat, 4, -uint64(mem)) },
		"no size":               func(d *hip.DrvResourceDesc) { d.SetLinear(mem, hip.DrvAdFormatFloat, 4, 0) },
		"a negative format":     func(d *hip.DrvResourceDesc) { d.SetLinear(mem, -1, 4, small) },
		"the least format":      func(d *hip.DrvResourceDesc) { d.SetLinear(mem, math.MinInt32, 4, small) },
		"channels all ones":     func(d *hip.DrvResourceDesc) { d.SetLinear(mem, hip.DrvAdFormatFloat, math.MaxUint32, small) },
		"no channels":           func(d *hip.DrvResourceDesc) { d.SetLinear(mem, hip.DrvAdFormatFloat, 0, small) },
		"nowhere":               func(d *hip.DrvResourceDesc) { d.SetLinear(0x100000, hip.DrvAdFormatFloat, 1, small) },
		"pitch all ones":        func(d *hip.DrvResourceDesc) { d.SetPitch2D(mem, hip.DrvAdFormatFloat, 1, 8, 8, math.MaxUint64) },
		"pitch 2^62":            func(d *hip.DrvResourceDesc) { d.SetPitch2D(mem, hip.DrvAdFormatFloat, 1, 8, 5, 1<<62) },
		"no pitch":              func(d *hip.DrvResourceDesc) { d.SetPitch2D(mem, hip.DrvAdFormatFloat, 1, 8, 8, 0) },
		"width all ones":        func(d *hip.DrvResourceDesc) { d.SetPitch2D(mem, hip.DrvAdFormatFloat, 1, math.MaxUint64, 1, 256) },
		"height all ones":       func(d *hip.DrvResourceDesc) { d.SetPitch2D(mem, hip.DrvAdFormatFloat, 1, 8, math.MaxUint64, 256) },
		"pitched, nowhere":      func(d *hip.DrvResourceDesc) { d.SetPitch2D(math.MaxUint64&^0xff, hip.DrvAdFormatFloat, 1, 8, 8, 256) },
		"pitched, no format":    func(d *hip.DrvResourceDesc) { d.SetPitch2D(mem, math.MaxInt32, 1, 8, 8, 256) },
		"pitched, more than it": func(d *hip.DrvResourceDesc) { d.SetPitch2D(mem, hip.DrvAdFormatFloat, 1, 8, small/256+1, 256) },
	} {
		var d hip.DrvResourceDesc
		set(&d)
		h.refused(name, hip.OpTexObjectCreate, texRequest(d), nil)
		s := hip.ResourceDesc{ResType: hip.ResourceType(d.ResType)}
		copy(s.Res[:], d.Res[:])
		h.refused(name, hip.OpCreateSurfaceObject, (&hiprpc.CreateSurfaceObjectRequest{PResDesc: s}).Append(nil), nil)
	}
	if images { // absurd samplers and views of an array that is there: whatever is made of them, it is an answer
		res := hip.DrvResourceDesc{ResType: hip.DrvResourceTypeArray, Res: [16]uint64{uint64(own)}}
		nan := float32(math.NaN())
		for name, q := range map[string]hiprpc.TexObjectCreateRequest{
			"address modes": {PResDesc: res, PTexDesc: hip.DrvTextureDesc{AddressMode: [3]hip.DrvAddressModeEnum{-1, math.MinInt32, math.MaxInt32}}},
			"filters":       {PResDesc: res, PTexDesc: hip.DrvTextureDesc{FilterMode: -7, MipmapFilterMode: math.MaxInt32}},
			"flags":         {PResDesc: res, PTexDesc: hip.DrvTextureDesc{Flags: math.MaxUint32}},
			"levels":        {PResDesc: res, PTexDesc: hip.DrvTextureDesc{MinMipmapLevelClamp: nan, MaxMipmapLevelClamp: -1e38, BorderColor: [4]float32{nan, nan, nan, nan}}},
		} {
			if e, m := h.call(name, hip.OpTexObjectCreate, q.Append(nil), nil); e == hip.Success {
				o := hip.TextureObject(binary.LittleEndian.Uint64(m.Rep))
				if e, _ := h.call(name, hip.OpTexObjectDestroy, (&hiprpc.TexObjectDestroyRequest{TexObject: o}).Append(nil), nil); e != hip.Success {
					h.Errorf("%s: TexObjectDestroy: %v", name, e)
				}
			}
		}
		for _, f := range []hip.DrvResourceViewFormatEnum{-1, 0, 25, math.MinInt32, math.MaxInt32} {
			q := hiprpc.TexObjectCreateRequest{PResDesc: res, PResViewDesc: &hip.DrvResourceViewDesc{Format: f, Width: math.MaxUint64, Height: math.MaxUint64, Depth: math.MaxUint64, LastLayer: math.MaxUint32}}
			h.refused(fmt.Sprintf("a view of format %d", f), hip.OpTexObjectCreate, q.Append(nil), nil)
		}
	}

	// Copies, by themselves and in graphs. With an array of the session's where there are any, otherwise with none.
	for name, b := range wrongBoxes(mem, own, arrays) {
		c := hiprpc.Copy3D{Box: b}
		for _, async := range []bool{false, true} {
			c.Async = async
			h.refused(name, hip.OpDrvMemcpy3D, c.Append(nil), nil)
			h.refused(name, hip.OpDrvMemcpy3DAsync, c.Append(nil), nil)
			h.refused(name+", and bytes", hip.OpDrvMemcpy3DAsync, c.Append(nil), make([]byte, 64))
		}
		h.refusedGraph(name, boxOp(b))
	}
	plain := hip.GraphCopy{Dst: mem, Src: mem + small/2, Width: 64, Height: 1, Depth: 1, Kind: hip.MemcpyDeviceToDevice}
	for name, change := range map[string]func(*hip.GraphCopy){
		"width":         func(c *hip.GraphCopy) { c.Width = math.MaxUint64 },
		"height":        func(c *hip.GraphCopy) { c.DstPitch, c.SrcPitch, c.Height = 64, 64, math.MaxUint64 },
		"depth":         func(c *hip.GraphCopy) { c.DstSlice, c.SrcSlice, c.Depth = 1<<40, 1<<40, math.MaxUint64 },
		"wraps":         func(c *hip.GraphCopy) { c.DstPitch, c.SrcPitch, c.Height = 1<<63, 1<<63, 3 },
		"from the host": func(c *hip.GraphCopy) { c.Src, c.Kind = 0x1000, hip.MemcpyHostToDevice },
		"a kind":        func(c *hip.GraphCopy) { c.Src, c.Kind = 0x1000, math.MinInt32 },
		"devices":       func(c *hip.GraphCopy) { c.Peer, c.DstDevice, c.SrcDevice = true, -1, math.MaxInt32 },
		"nowhere":       func(c *hip.GraphCopy) { c.Dst = math.MaxUint64 - 8 },
		"beyond":        func(c *hip.GraphCopy) { c.Dst = mem + small - 63 },
	} {
		c := plain
		change(&c)
		h.refusedGraph("copy: "+name, hip.GraphOp{Type: hip.GraphNodeTypeMemcpy, Copy: &c})
	}
	set := hip.GraphSet{Dst: mem, Element: 1, Width: 64, Height: 1, Depth: 1}
	for name, change := range map[string]func(*hip.GraphSet){
		"element": func(s *hip.GraphSet) { s.Element = 3 },
		"width":   func(s *hip.GraphSet) { s.Width = math.MaxUint64 },
		"rows":    func(s *hip.GraphSet) { s.Pitch, s.Height = math.MaxUint64, math.MaxUint64 },
		"slices":  func(s *hip.GraphSet) { s.Pitch, s.Height, s.Slice, s.Depth = 64, 1, math.MaxUint64, math.MaxUint64 },
		"no rows": func(s *hip.GraphSet) { s.Height, s.Depth = 0, 2 },
		"nowhere": func(s *hip.GraphSet) { s.Dst = 0x1000 },
		"beyond":  func(s *hip.GraphSet) { s.Dst = mem + small - 63 },
	} {
		s := set
		change(&s)
		h.refusedGraph("memset: "+name, hip.GraphOp{Type: hip.GraphNodeTypeMemset, Set: &s})
	}
	for name, op := range map[string]hip.GraphOp{
		"a device":             {Type: hip.GraphNodeTypeEmpty, Device: -1},
		"a function":           {Type: hip.GraphNodeTypeKernel, Kernel: &hip.Launch{Function: hip.Function(mem), Grid: hip.Dim3{X: 1, Y: 1, Z: 1}, Block: hip.Dim3{X: 1, Y: 1, Z: 1}}},
		"an event":             {Type: hip.GraphNodeTypeEventRecord, Event: hip.Event(mem)},
		"no event":             {Type: hip.GraphNodeTypeWaitEvent},
		"no memory operations": {Type: hip.GraphNodeTypeBatchMemOp},
		"a memory operation":   {Type: hip.GraphNodeTypeBatchMemOp, Batch: []hip.StreamBatchMemOpParamsUnion{{math.MaxUint64, 1, 2, 3, 4, 5}}},
	} {
		h.refusedGraph(name, op)
	}
	h.refused("no graph", hip.OpGraphInstantiate, (&hiprpc.GraphLaunch{}).Append(nil), nil)
	h.refused("half a graph", hip.OpGraphInstantiate, (&hiprpc.GraphLaunch{}).Append(nil), graphOf(boxOp(hip.DrvMEMCPY3D{}))[:50])

	if images { // an array that ends between the making of a graph and its launch
		late := h.array(desc)
		b := hip.DrvMEMCPY3D{SrcMemoryType: hip.MemoryTypeDevice, SrcDevice: mem, SrcPitch: 32, SrcHeight: 8, DstMemoryType: hip.MemoryTypeArray, DstArray: late, WidthInBytes: 32, Height: 8, Depth: 1}
		x := hip.GraphExec(h.handle("a graph", hip.OpGraphInstantiate, (&hiprpc.GraphLaunch{}).Append(nil), graphOf(boxOp(b))))
		launch := (&hiprpc.GraphLaunch{Exec: x}).Append(nil)
		if e, _ := h.call("launch", hip.OpGraphLaunch, launch, nil); e != hip.Success {
			h.Errorf("a graph with an array: %v", e)
		}
		update := func(index uint32, b hip.DrvMEMCPY3D) []byte {
			return hiprpc.AppendChanges(nil, []hip.GraphChange{{Index: index, Op: boxOp(b)}}, []uint64{0})
		}
		for name, a := range arrays { // refused when it is changed, or when it is launched
			c := b
			c.DstArray = a
			if e, _ := h.call(name, hip.OpGraphExecUpdate, (&hiprpc.GraphLaunch{Exec: x}).Append(nil), update(0, c)); e == hip.Success {
				h.refused("array "+name, hip.OpGraphLaunch, launch, nil)
			}
		}
		if e, _ := h.call("update", hip.OpGraphExecUpdate, (&hiprpc.GraphLaunch{Exec: x}).Append(nil), update(0, b)); e != hip.Success {
			h.Errorf("GraphExecUpdate: %v", e)
		}
		if e, _ := h.call("launch", hip.OpGraphLaunch, launch, nil); e != hip.Success {
			h.Errorf("a graph with an array, after others: %v", e)
		}
		h.refused("an operation that is not there", hip.OpGraphExecUpdate, (&hiprpc.GraphLaunch{Exec: x}).Append(nil), update(math.MaxUint32, b))
		if e, _ := h.call("destroy", hip.OpArrayDestroy, (&hiprpc.ArrayDestroyRequest{Array: late}).Append(nil), nil); e != hip.Success {
			h.Errorf("ArrayDestroy: %v", e)
		}
		h.refused("an array that is gone", hip.OpGraphLaunch, launch, nil)
	}
	for _, x := range []uint64{0, 1, uint64(mem), math.MaxUint64} {
		for _, op := range []uint16{hip.OpGraphLaunch, hip.OpGraphExecDestroy} {
			h.refused("no graph", op, (&hiprpc.GraphLaunch{Exec: hip.GraphExec(x)}).Append(nil), nil)
		}
	}

	// The session answers, and can still do what it may; the other one's memory is as it was.
	h.call("what became of the asynchronous ones", hip.OpDeviceSynchronize, (&hiprpc.DeviceSynchronizeRequest{}).Append(nil), nil)
	if e, _ := h.call("synchronize", hip.OpDeviceSynchronize, (&hiprpc.DeviceSynchronizeRequest{}).Append(nil), nil); e != hip.Success {
		h.Errorf("DeviceSynchronize afterwards: %v", e)
	}
	ok := hiprpc.Copy3D{Box: hip.DrvMEMCPY3D{SrcMemoryType: hip.MemoryTypeDevice, SrcDevice: mem, DstMemoryType: hip.MemoryTypeDevice, DstDevice: mem + small/2, WidthInBytes: 32, Height: 8, Depth: 1}}
	if e, _ := h.call("a copy", hip.OpDrvMemcpy3D, ok.Append(nil), nil); e != hip.Success {
		h.Errorf("a copy that is right, afterwards: %v", e)
	}
	back := make([]byte, n)
	must(h.T, "Memcpy", good.Memcpy(main0, at(back), theirs, n, hip.MemcpyDeviceToHost))
	for i, v := range back {
		if v != 0x5a {
			h.Fatalf("byte %d of another session's memory is %#x", i, v)
		}
	}
	if err := h.c.Err(); err != nil {
		h.Error(err)
	}
}

// refusedGraph demands that a graph of one operation is refused when it is made, or when it is launched.
func (h *hostile) refusedGraph(what string, op hip.GraphOp) {
	h.Helper()
	e, m := h.call(what, hip.OpGraphInstantiate, (&hiprpc.GraphLaunch{}).Append(nil), graphOf(op))
	if e != hip.Success {
		return
	}
	x := hip.GraphExec(binary.LittleEndian.Uint64(m.Rep))
	h.refused("graph: "+what, hip.OpGraphLaunch, (&hiprpc.GraphLaunch{Exec: x}).Append(nil), nil)
	if e, _ := h.call(what, hip.OpGraphExecDestroy, (&hiprpc.GraphLaunch{Exec: x}).Append(nil), nil); e != hip.Success {
		h.Errorf("%s: GraphExecDestroy: %v", what, e)
	}
}
