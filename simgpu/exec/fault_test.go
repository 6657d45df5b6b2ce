package exec

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/rocwire/rocwire/examples/kernels"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// launcher runs kernels of one of the project's objects.
type launcher struct {
	*device
	m *module
}

func newLauncher(t testing.TB, arch gcn.Arch, object string) *launcher {
	t.Helper()
	image, err := kernels.Object(arch.String(), object)
	if err != nil {
		t.Fatal(err)
	}
	d := newDevice(t, arch, 64<<20)
	return &launcher{d, d.load(image)}
}

func args(v ...any) []byte {
	var b []byte
	for _, x := range v {
		switch x := x.(type) {
		case uint64:
			for len(b)%8 != 0 {
				b = append(b, 0)
			}
			b = binary.LittleEndian.AppendUint64(b, x)
		case uint32:
			b = binary.LittleEndian.AppendUint32(b, x)
		}
	}
	return b
}

func (l *launcher) run(name string, grid, block uint32, args []byte) (Stats, error) {
	d := l.dispatch(l.m, name, [3]uint32{grid, 1, 1}, [3]uint32{block, 1, 1}, 0, args)
	return d.Run(context.Background(), 2)
}

// wantFault checks a fault's particulars and that the device goes on working.
func wantFault(t *testing.T, err error, kind FaultKind, sentinel error, inst string) *Fault {
	t.Helper()
	var f *Fault
	if !errors.As(err, &f) {
		t.Fatalf("error is %v, want a fault", err)
	}
	if f.Kind != kind || !errors.Is(err, sentinel) {
		t.Fatalf("%v, want a %v", err, kind)
	}
	if !strings.Contains(f.Inst, inst) || f.PC == 0 || len(f.Bytes) < 4 || f.Kernel == "" {
		t.Fatalf("fault %+v does not name the instruction (%q) and where it stands", f, inst)
	}
	return f
}

func TestMemoryFaults(t *testing.T) {
	for _, arch := range arches {
		l := newLauncher(t, arch, "fault")
		buf, data := l.alloc(page)
		end := buf + page // an unmapped page
		unmapped := func(addr uint64) uint64 { return (addr - buf) / 4 }
		cases := []struct {
			name, kernel, inst string
			args               []byte
			addr               uint64
		}{
			{"store to an unmapped page", "store_at", "global_store", args(buf, unmapped(end), uint32(1)), end},
			{"store across its start", "store_at", "global_store", args(buf, unmapped(end-64), uint32(1)), end},
			{"load from an unmapped page", "load_at", "global_load", args(buf, unmapped(end), buf), end},
			{"scalar load", "load_uniform_at", "s_load", args(buf, unmapped(end), buf), end},
			{"atomic", "atomic_at", "global_atomic", args(buf, unmapped(end)), end},
			{"store before the range", "store_at", "global_store", args(l.mem.Base-4096, uint64(0), uint32(1)), l.mem.Base - 4096},
			{"store behind the range", "store_at", "global_store", args(l.mem.Base+l.mem.Size, uint64(0), uint32(1)), l.mem.Base + l.mem.Size},
			{"store to null", "store_at", "global_store", args(uint64(0), uint64(0), uint32(1)), 0},
			{"store to the highest address", "store_at", "global_store", args(^uint64(3)-255, uint64(63), uint32(1)), 0xfffffffffffffff9},
			{"load from a non-canonical address", "load_at", "global_load", args(uint64(0xdead)<<48, uint64(0), buf), 0xdead << 48},
			{"scalar load outside", "load_uniform_at", "s_load", args(uint64(64), uint64(0), buf), 64},
			{"atomic outside", "atomic_at", "global_atomic", args(uint64(4096), uint64(0)), 4096},
		}
		for _, c := range cases {
			t.Run(arch.String()+"/"+c.name, func(t *testing.T) {
				_, err := l.run(c.kernel, 64, 64, c.args)
				f := wantFault(t, err, MemoryFault, ErrMemory, c.inst)
				// A store or load of all lanes at once may be seen at its first lane.
				if f.Addr < c.addr || f.Addr-c.addr >= 256 {
					t.Errorf("address %#x, want %#x", f.Addr, c.addr)
				}
				if f.Kernel != c.kernel {
					t.Errorf("kernel %q", f.Kernel)
				}
				if _, err := l.run("store_at", 64, 64, args(buf, uint64(0), uint32(7))); err != nil {
					t.Fatalf("the device does not work any more: %v", err)
				}
			})
		}
		if got := binary.LittleEndian.Uint32(data[252:]); got != 7 {
			t.Errorf("lane 63 stored %d", got)
		}
	}
}

func TestOneLaneAstray(t *testing.T) {
	for _, arch := range arches {
		l := newLauncher(t, arch, "fault")
		buf, data := l.alloc(page)
		_, err := l.run("store_one_astray", 256, 256, args(buf, uint64(1<<40), uint32(200)))
		f := wantFault(t, err, MemoryFault, ErrMemory, "global_store")
		if f.Lane != 200%64 || f.Wave != 3 || f.Addr != buf+4<<40 {
			t.Errorf("%s: lane %d of wave %d at %#x, want lane %d of wave 3 at %#x", arch, f.Lane, f.Wave, f.Addr, 200%64, buf+4<<40)
		}
		if got := binary.LittleEndian.Uint32(data[4:]); got != 1 {
			t.Errorf("%s: the wave before did not store: %d", arch, got)
		}
	}
}

func TestTrap(t *testing.T) {
	for _, arch := range arches {
		l := newLauncher(t, arch, "fault")
		buf, data := l.alloc(page)
		if _, err := l.run("trap_if", 256, 64, args(buf, uint32(256))); err != nil {
			t.Fatal(err)
		}
		data[4*70] = 1
		_, err := l.run("trap_if", 256, 64, args(buf, uint32(256)))
		if f := wantFault(t, err, TrapFault, ErrTrap, "s_trap"); f.Workgroup != [3]uint32{1, 0, 0} {
			t.Errorf("workgroup %v", f.Workgroup)
		}
	}
}

func TestEndlessKernelIsCancelled(t *testing.T) {
	for _, arch := range arches {
		l := newLauncher(t, arch, "spin")
		buf, data := l.alloc(page)
		d := l.dispatch(l.m, "spin_forever", [3]uint32{640, 1, 1}, [3]uint32{64, 1, 1}, 0, args(buf))
		cause := errors.New("enough")
		ctx, cancel := context.WithCancelCause(context.Background())
		go func() {
			for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
				if *(*uint32)(l.mem.at(buf)) > 10 { // it is on its way
					break
				}
			}
			cancel(cause)
		}()
		stats, err := d.Run(ctx, 2)
		if err != cause {
			t.Fatalf("error %v, want %v", err, cause)
		}
		if stats.Waves != 0 || data[0] == 0 && data[1] == 0 {
			t.Errorf("%+v, counter % x", stats, data[:4])
		}
		// A context that has ended before runs nothing.
		if _, err := d.Run(ctx, 2); err != cause {
			t.Errorf("error %v, want %v", err, cause)
		}
	}
}

// A workgroup that waits for a later one must not keep it from running.
func TestWorkgroupsWaitForEachOther(t *testing.T) {
	for _, arch := range arches {
		for _, cooperative := range []bool{false, true} {
			l := newLauncher(t, arch, "spin")
			buf, data := l.alloc(page)
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			// The waiting dispatch and the one that sets the flag run at the same time.
			wait := l.dispatch(l.m, "spin_until", [3]uint32{256, 1, 1}, [3]uint32{64, 1, 1}, 0, args(buf, buf+1024))
			wait.Cooperative = cooperative
			set := newLauncher(t, arch, "fault")
			set.device, set.m = l.device, l.load(must(kernels.Object(arch.String(), "fault"))(t))
			done := make(chan error, 1)
			go func() {
				_, err := wait.Run(ctx, 2)
				done <- err
			}()
			if _, err := set.run("store_at", 1, 1, args(buf, uint64(0), uint32(77))); err != nil {
				t.Fatal(err)
			}
			if err := <-done; err != nil {
				t.Fatalf("%s: %v", arch, err)
			}
			if got := binary.LittleEndian.Uint32(data[1024+255*4:]); got != 77 {
				t.Errorf("%s: saw %d", arch, got)
			}
		}
	}
}

// A workgroup that waits by looking at the clock lets the others run: with one
// goroutine for all it comes last none the less.
func TestWaitByClock(t *testing.T) {
	for _, arch := range arches {
		l := newLauncher(t, arch, "grid")
		buf, data := l.alloc(page)
		d := l.dispatch(l.m, "late", [3]uint32{64 * 30, 1, 1}, [3]uint32{64, 1, 1}, 0, args(buf, buf+64, uint64(2000000)))
		d.Cooperative = true
		if _, err := d.Run(context.Background(), 1); err != nil {
			t.Fatal(err)
		}
		if n := binary.LittleEndian.Uint32(data[64:]); n != 29 {
			t.Errorf("%s: %d workgroups came before the one that waits", arch, n)
		}
	}
}

func must(b []byte, err error) func(t testing.TB) []byte {
	return func(t testing.TB) []byte {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
}

func TestConfigurationFaults(t *testing.T) {
	l := newLauncher(t, gcn.GFX942, "spin")
	good := func() *Dispatch {
		return l.dispatch(l.m, "spin", [3]uint32{64, 1, 1}, [3]uint32{64, 1, 1}, 0, args(uint64(0), uint64(0), uint32(0)))
	}
	if _, err := good().Run(context.Background(), 1); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(d *Dispatch){
		"no program":         func(d *Dispatch) { d.Program = nil },
		"empty grid":         func(d *Dispatch) { d.Grid[1] = 0 },
		"empty workgroup":    func(d *Dispatch) { d.Group[2] = 0 },
		"too many threads":   func(d *Dispatch) { d.Group = [3]uint32{1024, 2, 1} },
		"one huge dimension": func(d *Dispatch) { d.Group = [3]uint32{math.MaxUint32, 1, 1} },
		"too much LDS":       func(d *Dispatch) { d.DynamicLDS = 65537 },
		"LDS that wraps":     func(d *Dispatch) { d.DynamicLDS, d.Desc.GroupSegmentSize = 1<<31, 1<<31 },
		"too much scratch":   func(d *Dispatch) { d.ScratchPerLane = 1 << 30 },
		"entry outside":      func(d *Dispatch) { d.Entry = 4096 },
		"entry misaligned":   func(d *Dispatch) { d.Entry += 2 },
		"wave32":             func(d *Dispatch) { d.Desc.Properties |= propWave32 },
		"too many user SGPR": func(d *Dispatch) { d.Desc.Rsrc2 |= 31 << 1 },
		"cooperative, huge":  func(d *Dispatch) { d.Cooperative, d.Grid = true, [3]uint32{1 << 30, 1, 1} },
	} {
		d := good()
		change(d)
		if _, err := d.Run(context.Background(), 1); !errors.Is(err, ErrConfiguration) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestMostScratch: the hardware counts scratch for a wave, so lanes of small waves can have more.
func TestMostScratch(t *testing.T) {
	for arch, most := range map[gcn.Arch]uint32{gcn.GFX90A: 128 << 10, gcn.GFX1100: 256 << 10} {
		l := newLauncher(t, arch, "spin")
		for more, want := range map[uint32]error{0: nil, 16: ErrConfiguration} {
			d := l.dispatch(l.m, "spin", [3]uint32{64, 1, 1}, [3]uint32{64, 1, 1}, 0, args(uint64(0), uint64(0), uint32(0)))
			d.ScratchPerLane = most + more
			if _, err := d.Run(context.Background(), 1); !errors.Is(err, want) {
				t.Errorf("%s: %d bytes: %v", arch, d.ScratchPerLane, err)
			}
		}
	}
}
