package hiptest

import (
	"encoding/binary"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/rocwire/rocwire/hip"
)

// RunOutput runs the tests of what kernels print. open makes a runtime as for
// Run that gives kernels' text to output.
func RunOutput(t *testing.T, open func(t *testing.T, output func(stderr bool, text []byte)) hip.Runtime) {
	for _, c := range outputTests {
		t.Run(c.name, func(t *testing.T) {
			p := &printed{}
			c.run(newEnv(t, func(t *testing.T) hip.Runtime { return open(t, p.add) }), p)
		})
	}
}

// printed is what kernels have written.
type printed struct {
	mu   sync.Mutex
	text [2]strings.Builder
}

func (p *printed) add(stderr bool, text []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if stderr {
		p.text[1].Write(text)
	} else {
		p.text[0].Write(text)
	}
}

// take returns standard output and standard error since the last time.
func (p *printed) take() (stdout, stderr string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	stdout, stderr = p.text[0].String(), p.text[1].String()
	p.text = [2]strings.Builder{}
	return stdout, stderr
}

var outputTests = []struct {
	name string
	run  func(e *env, p *printed)
}{
	// Every way to wait for a kernel has its text written when it returns.
	{"BeforeSynchronizationsReturn", func(e *env, p *printed) {
		lengths := e.malloc(4 * 64)
		s := e.stream(0)
		v := e.event(0)
		f := e.kernel("services", "print_lines")
		for name, wait := range map[string]func(){
			"DeviceSynchronize": e.sync,
			"StreamSynchronize": func() { e.ok("StreamSynchronize", e.StreamSynchronize(e.th, s)) },
			"EventSynchronize": func() {
				e.ok("EventRecord", e.EventRecord(e.th, v, s))
				e.ok("EventSynchronize", e.EventSynchronize(e.th, v))
			},
			"Memcpy":      func() { e.download(lengths, 4) },
			"null stream": func() { e.ok("StreamSynchronize", e.StreamSynchronize(e.th, hip.StreamNull)) },
			"StreamQuery": func() {
				for {
					if err := e.StreamQuery(e.th, s); err != hip.ErrorNotReady {
						e.ok("StreamQuery", err)
						return
					}
				}
			},
		} {
			for from := range uint32(5) {
				e.launch(f, 1, 5, s, lengths, from)
				wait()
				out, _ := p.take()
				if want := fmt.Sprintf("thread %d of 5\nthread %d of 5\nthread %d of 5\n", from, from+2, from+3); out != want {
					e.Errorf("%s: %q, want %q", name, out, want)
				}
			}
		}
	}},
	{"ManyWaves", func(e *env, p *printed) {
		const n = 40 * 256
		lengths := e.upload(make([]byte, 4*n))
		e.launch(e.kernel("services", "print_lines"), 40, 256, 0, lengths, uint32(0))
		e.sync()
		out, _ := p.take()
		seen := map[string]int{}
		for _, line := range strings.SplitAfter(out, "\n") {
			seen[line]++
		}
		got := e.download(lengths, 4*n)
		for i := range n {
			line, times, length := fmt.Sprintf("thread %d of %d\n", i, n), 1, uint32(0)
			if i%3 == 1 {
				times = 0
			} else {
				length = uint32(len(line))
			}
			if seen[line] != times || u32At(got, i) != length {
				e.Fatalf("%q is there %d times, printf returned %d", line, seen[line], u32At(got, i))
			}
		}
	}},
	{"InOrderOfStream", func(e *env, p *printed) {
		lengths := e.malloc(4 * 64)
		f := e.kernel("services", "print_lines")
		var want strings.Builder
		for i := range uint32(50) {
			e.launch(f, 1, 1, 0, lengths, i)
			fmt.Fprintf(&want, "thread %d of 1\n", i)
		}
		e.sync()
		if out, _ := p.take(); out != want.String() {
			e.Errorf("%q", out)
		}
	}},
	{"Buffered", func(e *env, p *printed) {
		f := e.kernel("buffered", "printf_lines")
		var args []any
		args = append(args, uint32(7), uint32(0), uint64(0x4002000000000000)) // 2.25
		e.launch(f, 2, 3, 0, args...)
		e.launch(f, 1, 1, 0, uint32(100), uint32(0), uint64(0x4002000000000000))
		e.sync()
		out, _ := p.take()
		var first []string
		for i := range 6 {
			first = append(first, fmt.Sprintf("thread %d: abc 2.250 100%%\n", 7+i))
		}
		last := "thread 100: abc 2.250 100%\n"
		for _, line := range first {
			if strings.Count(out, line) != 1 {
				e.Errorf("%q lacks %q", out, line)
			}
		}
		if !strings.HasSuffix(out, last) || len(out) != len(strings.Join(first, ""))+len(last) {
			e.Errorf("%q does not end with %q", out, last)
		}
	}},
	// A buffer that is full takes no more: printf says so, and what is there is whole.
	{"BufferedFull", func(e *env, p *printed) {
		results := e.upload(make([]byte, 4*256))
		e.launch(e.kernel("buffered", "printf_much"), 1, 256, 0, results, uint32(2000))
		e.sync()
		out, _ := p.take()
		if n := strings.Count(out, "\n"); n < 1000 || n >= 256*2000 || !strings.HasSuffix(out, "\n") {
			e.Errorf("%d lines, the last is %q", n, out[max(0, len(out)-40):])
		}
		for i, b := 0, e.download(results, 4*256); i < 256; i++ {
			if int32(u32At(b, i)) >= 0 {
				e.Errorf("thread %d: printf returned %d", i, int32(u32At(b, i)))
				break
			}
		}
	}},
	// assert writes to standard error and traps.
	{"Assert", func(e *env, p *printed) {
		f := e.kernel("services", "print_and_trap")
		e.launch(f, 4, 64, 0, uint32(1000))
		e.sync()
		e.launch(f, 4, 64, 0, uint32(130))
		e.is("DeviceSynchronize", e.DeviceSynchronize(e.th), hip.ErrorAssert)
		if out, err := p.take(); out != "" || err != "thread 130: this cannot be\n" {
			e.Errorf("%q, %q", out, err)
		}
		e.is("and again", e.DeviceSynchronize(e.th), hip.ErrorAssert)
		e.ok("DeviceReset", e.DeviceReset(e.th))
		clear(e.mods)
		e.launch(e.kernel("services", "print_lines"), 1, 1, 0, e.malloc(4), uint32(5))
		e.sync()
		if out, _ := p.take(); out != "thread 5 of 1\n" {
			e.Errorf("after the reset: %q", out)
		}
	}},
	{"Memory", func(e *env, _ *printed) {
		const threads = 4 * 64
		blocks, wrong := e.malloc(8*threads), e.upload(u32s(0))
		borrow, giveBack := e.kernel("services", "borrow"), e.kernel("services", "give_back")
		before, _, err := e.MemGetInfo(e.th)
		e.ok("MemGetInfo", err)
		const size = 256 << 10
		for range 3 {
			e.launch(borrow, 4, 64, 0, blocks, uint64(size))
			e.sync()
			if free, _, _ := e.MemGetInfo(e.th); before-free < threads*size {
				e.Errorf("%d bytes are free, %d before", free, before)
			}
			seen := map[uint64]bool{}
			list := e.download(blocks, 8*threads)
			for i := range threads {
				b := binary.LittleEndian.Uint64(list[8*i:])
				if b == 0 || seen[b] {
					e.Fatalf("thread %d got %#x", i, b)
				}
				seen[b] = true
			}
			// The host reaches it; it is not the host's to free.
			first := hip.Ptr(binary.LittleEndian.Uint64(list[8:]))
			if got := binary.LittleEndian.Uint64(e.download(first, 8)); got != 1 {
				e.Errorf("thread 1 wrote %d", got)
			}
			if e.Free(e.th, first) == hip.Success {
				e.Error("Free of a kernel's memory")
			}
			e.launch(giveBack, 4, 64, 0, blocks, uint64(size), wrong)
			e.sync()
			if n := u32At(e.download(wrong, 4), 0); n != 0 {
				e.Errorf("%d blocks were not as they had been left", n)
			}
			if free, _, _ := e.MemGetInfo(e.th); free != before {
				e.Errorf("%d bytes are free, %d before", free, before)
			}
		}
		// There is no such amount.
		e.launch(borrow, 1, 2, 0, blocks, uint64(1)<<45)
		e.sync()
		if b := e.download(blocks, 16); string(b) != string(make([]byte, 16)) {
			e.Errorf("% x for more than there is", b)
		}
	}},
	// A kernel can ask for what the host must not do, and write into what the host reads.
	{"Hostile", func(e *env, p *printed) {
		answer := e.malloc(16)
		ask := func(service uint32, a, b uint64) uint64 {
			e.launch(e.kernel("services", "ask"), 1, 1, 0, service, uint32(0), a, b, answer)
			e.sync()
			return binary.LittleEndian.Uint64(e.download(answer, 16))
		}
		for _, a := range []uint64{1, 8, 0x401000, uint64(answer), ^uint64(0), ^uint64(7)} {
			ask(1, a, a) // a call of a host function
			ask(3, a, 0) // free
			ask(4, a, a) // there is no such service
			ask(2, a, a) // part of a message that never began
		}
		e.write(answer, make([]byte, 16)) // it has not been freed
		if b := ask(3, 0, 4096); b == 0 {
			e.Error("no memory after all that")
		}
		p.take()
		for seed := range uint32(5) {
			e.launch(e.kernel("services", "wreck"), 1, 1, 0, seed*7)
			e.DeviceSynchronize(e.th)
			e.ok("DeviceReset", e.DeviceReset(e.th))
			clear(e.mods)
			p.take()
			e.launch(e.kernel("services", "print_lines"), 1, 1, 0, e.malloc(4), uint32(5))
			e.sync()
			if out, _ := p.take(); out != "thread 5 of 1\n" {
				e.Errorf("after a reset: %q", out)
			}
		}
	}},
}
