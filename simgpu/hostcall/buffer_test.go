package hostcall

import (
	"encoding/binary"
	"strings"
	"testing"
)

// host remembers what it was asked.
type host struct {
	out, err strings.Builder
	blocks   map[uint64]uint64
}

func (h *host) Output(stderr bool, text []byte) {
	if stderr {
		h.err.Write(text)
	} else {
		h.out.Write(text)
	}
}

func (h *host) Allocate(size uint64) uint64 {
	if size > 1<<20 {
		return 0
	}
	a := uint64(len(h.blocks)+1) << 21
	h.blocks[a] = size
	return a
}

func (h *host) Free(addr uint64) { delete(h.blocks, addr) }

// wave does what the device library does for a wave's request.
type wave struct {
	mem  []byte
	base uint64
}

func (w *wave) u64(at uint64) uint64 { return binary.LittleEndian.Uint64(w.mem[at:]) }

func (w *wave) put(at, v uint64) { binary.LittleEndian.PutUint64(w.mem[at:], v) }

func (w *wave) header(p uint64) uint64 {
	return w.u64(atHeaders) - w.base + (p&w.u64(atIndexMask))*headerSize
}

func (w *wave) payload(p uint64) uint64 {
	return w.u64(atPayloads) - w.base + (p&w.u64(atIndexMask))*payloadSize
}

func (w *wave) push(service uint32, words map[int][8]uint64) (p uint64) {
	p = w.u64(atFree)
	w.put(atFree, w.u64(w.header(p)))
	h, lanes := w.header(p), uint64(0)
	for lane, v := range words {
		lanes |= 1 << lane
		for i, x := range v {
			w.put(w.payload(p)+uint64(lane)*slotSize+8*uint64(i), x)
		}
	}
	w.put(h+headerLanes, lanes)
	binary.LittleEndian.PutUint32(w.mem[h+headerService:], service)
	binary.LittleEndian.PutUint32(w.mem[h+headerControl:], ready)
	w.put(h, w.u64(atReady))
	w.put(atReady, p)
	return p
}

func (w *wave) answer(t *testing.T, p uint64, lane int) uint64 {
	t.Helper()
	if binary.LittleEndian.Uint32(w.mem[w.header(p)+headerControl:])&ready != 0 {
		t.Fatal("there is no answer")
	}
	return w.u64(w.payload(p) + uint64(lane)*slotSize)
}

func (w *wave) pop(p uint64) {
	p += w.u64(atIndexMask) + 1
	w.put(w.header(p), w.u64(atFree))
	w.put(atFree, p)
}

func newBuffer(packets uint64) (*Buffer, *wave) {
	mem := make([]byte, Size(packets))
	const base = 0x7000_0000_0000
	return NewBuffer(mem, base, packets), &wave{mem, base}
}

func TestServe(t *testing.T) {
	b, w := newBuffer(4)
	h := &host{blocks: map[uint64]uint64{}}
	if b.Waiting() {
		t.Error("a request that nobody made")
	}
	for range 9 { // more often than there are packets
		h.out.Reset()
		// Two lanes print; each has a message of its own, in several packets.
		p := w.push(servicePrintf, map[int][8]uint64{3: {messageBegins | 1<<5, 0}, 40: {messageBegins | 1<<5, 1}})
		if !b.Waiting() {
			t.Error("no request is seen")
		}
		b.Serve(h)
		d3, d40 := w.answer(t, p, 3), w.answer(t, p, 40)
		w.pop(p)
		words := func(desc uint64, msg []byte) (v [8]uint64) {
			v[0] = desc&^0xe0 | uint64(len(msg)/8)<<5 | messageEnds
			for i := range len(msg) / 8 {
				v[1+i] = binary.LittleEndian.Uint64(msg[8*i:])
			}
			return v
		}
		p = w.push(servicePrintf, map[int][8]uint64{3: words(d3, message("out %d\n", 5)), 40: words(d40, message("err %s\n", "x"))})
		b.Serve(h)
		if w.answer(t, p, 3) != 6 || w.answer(t, p, 40) != 6 {
			t.Errorf("printf returns %d and %d", w.answer(t, p, 3), w.answer(t, p, 40))
		}
		w.pop(p)
		if h.out.String() != "out 5\n" || !strings.HasSuffix(h.err.String(), "err x\n") {
			t.Errorf("%q, %q", h.out.String(), h.err.String())
		}
	}
	p := w.push(serviceMemory, map[int][8]uint64{0: {0, 4096}, 1: {0, 1 << 40}})
	q := w.push(serviceCall, map[int][8]uint64{5: {0x401000, 1, 2}}) // waiting at the same time
	b.Serve(h)
	a := w.answer(t, p, 0)
	if h.blocks[a] != 4096 || w.answer(t, p, 1) != 0 || w.answer(t, q, 5) != 0 {
		t.Errorf("%#x of %v; too much: %#x; a call of a host function: %#x", a, h.blocks, w.answer(t, p, 1), w.answer(t, q, 5))
	}
	w.pop(p)
	w.pop(q)
	p = w.push(serviceMemory, map[int][8]uint64{0: {a, 0}})
	b.Serve(h)
	if w.answer(t, p, 0); len(h.blocks) != 0 {
		t.Errorf("%v left", h.blocks)
	}
	if len(b.messages.open) != 0 || b.messages.bytes != 0 {
		t.Errorf("%d messages of %d bytes are open", len(b.messages.open), b.messages.bytes)
	}
}

// A kernel that makes the stacks a circle, or points out of the buffer, costs
// nothing but itself.
func FuzzServe(f *testing.F) {
	b, w := newBuffer(4)
	w.push(servicePrintf, map[int][8]uint64{0: {messageBegins | messageEnds | 7<<5, 1}})
	f.Add(append([]byte(nil), b.mem[:headersAt+4*headerSize]...), uint64(3))
	f.Fuzz(func(t *testing.T, mem []byte, ready uint64) {
		b, w := newBuffer(4)
		copy(b.mem, mem)
		w.put(atReady, ready)
		h := &host{blocks: map[uint64]uint64{}}
		b.Serve(h)
		b.Serve(h)
		if b.messages.bytes > maxMessageBytes || b.messages.bytes < 0 {
			t.Fatal(b.messages.bytes)
		}
	})
}

// What is kept for messages that never end is bounded.
func TestMessagesBounded(t *testing.T) {
	var m Messages
	none := func(bool, []byte) { t.Error("nothing is complete") }
	d := m.add(&[8]uint64{messageBegins}, none)
	for range 2 * maxMessage / 56 {
		d = m.add(&[8]uint64{d | 7<<5}, none)
	}
	if n := len(m.open[d>>8]); n > maxMessage {
		t.Errorf("a message of %d bytes", n)
	}
	for i := range maxMessages + 5 {
		if d := m.add(&[8]uint64{messageBegins}, none); i < maxMessages-1 == (d>>8 == 0) {
			t.Fatalf("message %d got number %d", i, d>>8)
		}
	}
	if len(m.open) > maxMessages {
		t.Errorf("%d messages", len(m.open))
	}
}

func TestRecords(t *testing.T) {
	mem := make([]byte, 4096)
	InitRecords(mem)
	if binary.LittleEndian.Uint32(mem[4:]) != 4096-8 {
		t.Error("the buffer's size")
	}
	at := 8
	record := func(control uint32, body []byte) {
		binary.LittleEndian.PutUint32(mem[at:], control|uint32(len(body)+4)<<2)
		copy(mem[at+4:], body)
		at += 4 + len(body)
		binary.LittleEndian.PutUint32(mem, uint32(at-8))
	}
	listed := func(n uint64, args []byte) []byte { return append(binary.LittleEndian.AppendUint64(nil, n), args...) }
	record(recordListed, listed(77, message("", 5)[8:]))
	record(recordListed|recordStderr, listed(78, nil))
	record(0, message("not listed %s %d\n", "abc", 6))
	var h host
	formats := map[uint64]string{77: "listed %d\n", 78: "bad\n"}
	Records(mem, formats, h.Output)
	if h.out.String() != "listed 5\nnot listed abc 6\n" || h.err.String() != "bad\n" {
		t.Errorf("%q %q", h.out.String(), h.err.String())
	}
	h = host{}
	record(recordListed, listed(99, nil)) // a format that there is not
	record(0, message("never\n"))
	Records(mem, formats, h.Output)
	if strings.Contains(h.out.String(), "never") {
		t.Errorf("%q", h.out.String())
	}
}

func FuzzRecords(f *testing.F) {
	f.Add([]byte{12, 0, 0, 0, 0, 1, 0, 0, 48, 0, 0, 0, 'a', 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < 8 {
			return
		}
		Records(b, map[uint64]string{0: "%d"}, func(bool, []byte) {})
	})
}
