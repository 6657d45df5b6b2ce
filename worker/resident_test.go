package worker_test

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/wire"
	"github.com/rocwire/rocwire/worker"
	"github.com/rocwire/rocwire/worker/simbackend"
)

const (
	hostQuota = 64 << 20
	slack     = 64 << 20 // of the process, its garbage and what nobody counts
)

// resident is a client of a session that may take hostQuota of this machine's memory.
type resident struct {
	*hostile
	pid  uint32
	base uint64
}

func residentClient(t *testing.T) *resident {
	w := serve(t, simbackend.Options{Cards: 1, MemoryBytes: 128 << 20}, worker.Config{HostMemory: hostQuota})
	h := &resident{hostile: hostileClient(t, w)}
	if e, _ := h.call("sync", hip.OpDeviceSynchronize, make([]byte, 8), nil); e != hip.Success {
		t.Fatal(e)
	}
	h.pid = w.Sessions()[0].PID
	h.base = h.peak()
	return h
}

// peak is the most memory that the session process has ever had resident, in bytes.
func (h *resident) peak() uint64 {
	h.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", h.pid))
	if err != nil {
		h.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), "VmHWM:")
	n, err := strconv.ParseUint(strings.Fields(rest)[0], 10, 64)
	if err != nil {
		h.Fatal(err)
	}
	return n << 10
}

// bounded demands that the session has not grown beyond what it may have, device memory of more bytes besides, and still answers.
func (h *resident) bounded(device uint64) {
	h.Helper()
	if e, _ := h.call("sync", hip.OpDeviceSynchronize, make([]byte, 8), nil); e != hip.Success {
		h.Errorf("the session answers %v", e)
	}
	if grown := h.peak() - h.base; grown > hostQuota+slack+device {
		h.Errorf("the session has grown by %d MiB", grown>>20)
	}
}

func (h *resident) malloc(n uint64) hip.Ptr {
	h.Helper()
	return hip.Ptr(h.handle("Malloc", hip.OpMalloc, hiprpc.Place{Size: n}.Append(nil), nil))
}

// TestResidentBundle: a few kilobytes that unfold to gigabytes are no code object.
func TestResidentBundle(t *testing.T) {
	h := residentClient(t)
	const plain = 256 << 20
	var b bytes.Buffer
	head := make([]byte, 20)
	copy(head, "CCOB")
	binary.LittleEndian.PutUint16(head[4:], 1)
	binary.LittleEndian.PutUint32(head[8:], plain)
	b.Write(head)
	// Deflated parts that end at a byte follow each other as they are. The checksum behind them is wrong, which shows when all is unfolded.
	var part bytes.Buffer
	z, err := flate.NewWriter(&part, flate.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	if err := z.Flush(); err != nil {
		t.Fatal(err)
	}
	b.WriteString("\x78\x01")
	b.Write(bytes.Repeat(part.Bytes(), plain>>20))
	b.WriteString("\x03\x00\x00\x00\x00\x00")
	if e, _ := h.call("a bundle", hip.OpModuleLoadData, make([]byte, 4), b.Bytes()); e != hip.ErrorInvalidImage {
		t.Errorf("a bundle of %d bytes that unfolds to %d: %v", b.Len(), plain, e)
	}
	h.bounded(0)
	// A module may be as large as there is room for it, several times.
	if e, _ := h.call("a large image", hip.OpModuleLoadData, make([]byte, 4), make([]byte, hostQuota/2)); e != hip.ErrorOutOfMemory {
		t.Errorf("an image of %d bytes: %v", hostQuota/2, e)
	}
	h.bounded(0)
}

// TestResidentHostMemory: what a program pins is the session's memory, twice.
func TestResidentHostMemory(t *testing.T) {
	h := residentClient(t)
	const size, regions, at = 64 << 20, 6, 0x7ea0_0000_0000
	mem, twin := make([]byte, size), make([]byte, size)
	for i := 0; i < size; i += 4096 {
		mem[i] = 1
	}
	var exposed int
	for i := range regions {
		addr := hip.Ptr(at + i*size)
		p := hiprpc.Place{Addr: addr, Size: size}
		if e, _ := h.call("claim", hiprpc.OpHostClaim, p.Append(nil), nil); e != hip.Success {
			t.Fatal(e)
		}
		switch e, _ := h.call("expose", hiprpc.OpHostExpose, hiprpc.Host{Addr: addr, Size: size}.Append(nil), nil); e {
		case hip.ErrorOutOfMemory:
			continue
		case hip.Success:
			exposed++
		default:
			t.Fatal(e)
		}
		for from := 0; from < size; {
			diff, next := hiprpc.AppendDiff(nil, mem, bytes.Clone(twin), from, hiprpc.MaxDiff)
			var e wire.Enc
			e.U64(uint64(addr))
			e.U64(uint64(from))
			if code, _ := h.call("push", hiprpc.OpHostPush, e.B, diff); code != hip.Success {
				t.Fatal(code)
			}
			from = next
		}
	}
	h.bounded(0)
	if exposed != 0 {
		t.Errorf("%d regions of %d MiB are exposed", exposed, size>>20)
	}
	// What there is room for can be had, and again when it was given back.
	small := hip.Ptr(at + regions*size)
	for i := range 40 {
		if e, _ := h.call("claim", hiprpc.OpHostClaim, hiprpc.Place{Addr: small, Size: 8 << 20}.Append(nil), nil); e != hip.Success {
			t.Fatal(i, e)
		}
		if e, _ := h.call("expose", hiprpc.OpHostExpose, hiprpc.Host{Addr: small, Size: 8 << 20}.Append(nil), nil); e != hip.Success {
			t.Fatal(i, e)
		}
		var q wire.Enc
		q.I32(0)
		q.U64(uint64(small))
		if e, _ := h.call("release", hiprpc.OpHostRelease, q.B, nil); e != hip.Success {
			t.Fatal(i, e)
		}
	}
	h.bounded(0)
}

// TestResidentRows: a copy of many rows is one thing to do.
func TestResidentRows(t *testing.T) {
	h := residentClient(t)
	const rows = 8 << 20
	p := h.malloc(2 * rows)
	c := hiprpc.Copy{Dir: hiprpc.FromDevice, Src: p, Spitch: 2, Dpitch: 1, Width: 1, Height: rows}
	m := &wire.Msg{Req: c.Append(nil), Dst: make([]byte, rows)}
	if err := h.c.Call(hip.OpMemcpy2D, m); err != nil || m.Code != 0 || m.DstN != rows {
		t.Fatalf("%v, code %d, %d bytes", err, m.Code, m.DstN)
	}
	c = hiprpc.Copy{Dir: hiprpc.ToDevice, Dst: p, Dpitch: 2, Spitch: 1, Width: 1, Height: rows}
	in := bytes.Repeat([]byte{7, 8}, rows/2)
	if e, _ := h.call("back", hip.OpMemcpy2D, c.Append(nil), in); e != hip.Success {
		t.Fatal(e)
	}
	c = hiprpc.Copy{Dir: hiprpc.FromDevice, Src: p, Spitch: 2, Dpitch: 1, Width: 1, Height: rows}
	m = &wire.Msg{Req: c.Append(nil), Dst: make([]byte, rows)}
	if err := h.c.Call(hip.OpMemcpy2D, m); err != nil || m.Code != 0 || !bytes.Equal(m.Dst, in) {
		t.Errorf("what was written is not what is read: %v, code %d", err, m.Code)
	}
	h.bounded(2 * rows)
	c.Height = 40 << 20
	h.refused("more than there is", hip.OpMemcpy2D, c.Append(nil), nil)
}

// TestResidentQueue: a client that has more to do than may be queued waits, and all of it is done.
func TestResidentQueue(t *testing.T) {
	h := residentClient(t)
	const large, times = 32 << 20, 14
	small := 1_000_000
	if testing.Short() {
		small /= 10
	}
	p := h.malloc(large)
	for range times { // row by row: it takes longer than to ask for all the others
		slow := hiprpc.Memset2DAsyncRequest{Dst: p, Pitch: 2, Value: 1, Width: 1, Height: large / 2}
		if err := h.c.Post(hip.OpMemset2DAsync, slow.Append(nil), nil); err != nil {
			t.Fatal(err)
		}
	}
	set := func(n uint64, v int32) []byte {
		return (&hiprpc.MemsetAsyncRequest{Dst: p, Value: v, SizeBytes: n}).Append(nil)
	}
	for i := range small {
		if err := h.c.Post(hip.OpMemsetAsync, set(8, int32(i)), nil); err != nil {
			t.Fatal(err)
		}
	}
	h.bounded(large)
	m := &wire.Msg{Req: (&hiprpc.Copy{Dir: hiprpc.FromDevice, Src: p, Width: 11, Height: 1}).Append(nil), Dst: make([]byte, 11)}
	if err := h.c.Call(hip.OpMemcpy, m); err != nil || m.Code != 0 || !bytes.Equal(m.Dst, append(bytes.Repeat([]byte{byte((small - 1) & 255)}, 8), 1, 0, 1)) {
		t.Errorf("the last of them left %v: %v, code %d", m.Dst, err, m.Code)
	}
}

// TestResidentQueueStuck: what streams wait for may come later than the limit lets anything be queued.
func TestResidentQueueStuck(t *testing.T) {
	h := residentClient(t)
	p := h.malloc(4096)
	a := hip.Stream(h.handle("stream", hip.OpStreamCreateWithPriority, (&hiprpc.StreamCreateWithPriorityRequest{Flags: hip.StreamNonBlocking}).Append(nil), nil))
	b := hip.Stream(h.handle("stream", hip.OpStreamCreateWithPriority, (&hiprpc.StreamCreateWithPriorityRequest{Flags: hip.StreamNonBlocking}).Append(nil), nil))
	post := func(op uint16, req []byte) {
		if err := h.c.Post(op, req, nil); err != nil {
			t.Fatal(err)
		}
	}
	post(hip.OpMemsetAsync, (&hiprpc.MemsetAsyncRequest{Dst: p, SizeBytes: 4096, Stream: a}).Append(nil))
	post(hip.OpStreamWaitValue32, (&hiprpc.StreamWaitValue32Request{Stream: a, Ptr: p, Value: 1, Mask: 1<<32 - 1}).Append(nil))
	for range 90_000 { // 23 MB
		post(hip.OpMemsetAsync, (&hiprpc.MemsetAsyncRequest{Dst: p + 64, Value: 7, SizeBytes: 8, Stream: a}).Append(nil))
	}
	post(hip.OpStreamWriteValue32, (&hiprpc.StreamWriteValue32Request{Stream: b, Ptr: p, Value: 1}).Append(nil))
	h.bounded(0)
	var s wire.Enc
	s.U64(0)
	s.U64(uint64(a))
	if e, _ := h.call("sync", hip.OpStreamSynchronize, s.B, nil); e != hip.Success {
		t.Error(e)
	}
}

// TestResidentHandles: objects of every kind are bounded, by what they take.
func TestResidentHandles(t *testing.T) {
	h := residentClient(t)
	var events []uint64
	create := func() hip.Error {
		m := &wire.Msg{Req: (&hiprpc.EventCreateWithFlagsRequest{}).Append(nil)}
		if err := h.c.Call(hip.OpEventCreateWithFlags, m); err != nil {
			h.Fatal(err)
		}
		if m.Code == 0 {
			events = append(events, binary.LittleEndian.Uint64(m.Rep))
		}
		return hip.Error(m.Code)
	}
	e := hip.Error(hip.Success)
	for range 200_000 {
		if e = create(); e != hip.Success {
			break
		}
	}
	if e != hip.ErrorOutOfMemory {
		t.Fatalf("after %d events: %v", len(events), e)
	}
	h.bounded(0)
	h.refused("no room", hip.OpStreamCreateWithPriority, (&hiprpc.StreamCreateWithPriorityRequest{}).Append(nil), nil)
	if e, _ := h.call("destroy", hip.OpEventDestroy, (&hiprpc.EventDestroyRequest{Event: hip.Event(events[0])}).Append(nil), nil); e != hip.Success {
		t.Error(e)
	}
	if e := create(); e != hip.Success {
		t.Errorf("when there is room again: %v", e)
	}
}

// TestResidentGraph: a graph's description counts before it is read.
func TestResidentGraph(t *testing.T) {
	h := residentClient(t)
	launch := (&hiprpc.GraphLaunch{}).Append(nil)
	if e, _ := h.call("a large graph", hip.OpGraphInstantiate, launch, graphOf(emptyOps(200_000)...)); e != hip.ErrorOutOfMemory {
		t.Errorf("a graph of 200,000 operations: %v", e)
	}
	h.bounded(0)
	var last uint64
	for i := range 100 {
		e, m := h.call("a graph", hip.OpGraphInstantiate, launch, graphOf(emptyOps(10_000)...))
		if e == hip.ErrorOutOfMemory && i > 0 {
			break
		}
		if e != hip.Success || i == 99 {
			t.Fatalf("graph %d: %v", i, e)
		}
		last = binary.LittleEndian.Uint64(m.Rep)
	}
	if e, _ := h.call("destroy", hip.OpGraphExecDestroy, (&hiprpc.GraphLaunch{Exec: hip.GraphExec(last)}).Append(nil), nil); e != hip.Success {
		t.Error(e)
	}
	if e, _ := h.call("a graph", hip.OpGraphInstantiate, launch, graphOf(emptyOps(10_000)...)); e != hip.Success {
		t.Errorf("when there is room again: %v", e)
	}
	h.bounded(0)
}

func emptyOps(n int) []hip.GraphOp {
	ops := make([]hip.GraphOp, n)
	for i := range ops {
		ops[i].Type = hip.GraphNodeTypeEmpty
	}
	return ops
}
