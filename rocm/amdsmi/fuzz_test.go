package amdsmi

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/rocwire/rocwire/smi"
)

// FuzzAnswers has a library that writes what it likes into everything it is given.
// Nothing it writes makes the package fail, or leaves it as a figure that no card
// can have.
func FuzzAnswers(f *testing.F) {
	f.Add([]byte{0}, uint64(1))
	f.Add([]byte{0xFF}, uint64(2))
	f.Add([]byte{1, 0, 0, 0, 0, 0, 0, 0}, uint64(3))
	f.Add([]byte{0xFF, 0xFF, 0, 0}, uint64(4))
	f.Add([]byte("text, not numbers\x00\x7f\xff"), uint64(5))
	defer func(n uint32) { maxProcesses = n }(maxProcesses)
	maxProcesses = someProcesses
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		if len(data) == 0 {
			return
		}
		fuzzABI(t, knownABIs[seed%uint64(len(knownABIs))], data, seed)
	})
}

func fuzzABI(t *testing.T, a *abi, data []byte, seed uint64) {
	m := newMemory()
	defer m.free()
	random := rand.New(rand.NewPCG(seed, 7))
	calls, filled := 0, 0
	lib := &library{abi: a, instead: func(fn function, args []uint64) uint32 {
		if random.IntN(8) == 0 {
			return uint32(random.IntN(60))
		}
		// Into what was made for this call, but not its slack, and not more than a
		// structure of it.
		for _, b := range m.blocks[filled:] {
			at := random.IntN(len(data))
			b = b[:min(len(b)-slack, 1<<16)]
			n := copy(b, data[at:])
			for n < len(b) {
				n += copy(b[n:], data)
			}
		}
		filled = len(m.blocks)
		if calls++; calls > 5000 {
			t.Fatal("it asks without end")
		}
		return success
	}}
	s := &Source{lib: lib}
	for i := range 3 {
		s.cards = append(s.cards, newCard(i, uint64(i+1)))
	}
	r := &reader{lib: lib, card: s.cards[0], source: s, mem: m}
	show := func(v any, err error) {
		if err != nil {
			return
		}
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatalf("%T: %v", v, err)
		}
		var tree any
		if err := json.Unmarshal(b, &tree); err != nil {
			t.Fatal(err)
		}
		sane(t, tree)
	}
	for range 2 { // the second time there is a reading before
		d, err := r.device()
		show(d, err)
		i, err := r.info()
		show(i, err)
		x, err := r.metrics()
		show(x, err)
		ps, err := r.processes()
		show(ps, err)
		for k := 1; k < len(ps); k++ {
			if ps[k].PID <= ps[k-1].PID {
				t.Fatal("processes out of order")
			}
		}
		fw, err := r.firmware()
		show(fw, err)
		e, err := r.ecc()
		show(e, err)
		bp, err := r.badPages()
		show(bp, err)
		xg, err := r.xgmi()
		show(xg, err)
		p, err := r.partitions()
		show(p, err)
		to, err := r.paths()
		show(to, err)
	}
	sub := &subscriber{index: map[uint64]int{1: 0}}
	_, event := m.alloc(a.layouts.evtNotificationData.size)
	for i := range event {
		event[i] = data[i%len(data)]
	}
	sub.event(a, event)
}

// sane refuses sentinels; shares and temperatures are checked where they are read.
func sane(t *testing.T, v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if n, ok := e.(float64); ok && (n == math.MaxUint32 || n == math.MaxUint64) {
				t.Fatalf("%s is %v", k, n)
			}
			sane(t, e)
		}
	case []any:
		for _, e := range v {
			sane(t, e)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add([]byte("N/A"), "123 -4 @", uint64(1))
	f.Add([]byte{0xFF, 0}, "4d2:x", uint64(math.MaxUint64))
	f.Fuzz(func(t *testing.T, b []byte, message string, number uint64) {
		if s := cleanText(b); len(s) > len(b) {
			t.Fatal(s)
		}
		for _, kind := range []string{smi.EventVMFault, smi.EventMigrateStart, smi.EventThermalThrottle} {
			eventPID(kind, message)
		}
		if firmwareVersion("pm", number) == "" || firmwareVersion("vcn", number) == "" {
			t.Fatal("no version")
		}
		cpuList(buf(b), uint32(len(b)/8))
		if n, ok := abiNumber(message); ok && soname == message {
			t.Fatal(n)
		}
	})
}
