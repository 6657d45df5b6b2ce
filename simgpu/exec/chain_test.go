package exec

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// told is a program whose waves, three of each workgroup, store what they begin with,
// and then leave behind what the next one must not find.
const told = "s_getreg_b32 s4, hwreg(HW_REG_MODE); s_getreg_b32 s5, hwreg(HW_REG_TRAPSTS); s_getreg_b32 s6, hwreg(HW_REG_STATUS, 3, 2); s_cselect_b32 s7, 1, 0; " +
	"v_lshrrev_b32_e32 v1, 6, v0; v_readfirstlane_b32 s8, v1; s_mul_i32 s9, s3, 13; s_add_i32 s9, s9, s2; s_mul_i32 s9, s9, 3; s_add_i32 s9, s9, s8; s_lshl_b32 s9, s9, 5; v_mov_b32_e32 v2, s9; " +
	"v_mov_b32_e32 v4, s4; v_mov_b32_e32 v5, s5; v_mov_b32_e32 v6, s6; v_mov_b32_e32 v7, s7; global_store_dwordx4 v2, v[4:7], s[0:1]; " +
	"v_mov_b32_e32 v4, s2; v_mov_b32_e32 v5, s60; v_mov_b32_e32 v6, exec_lo; v_mov_b32_e32 v7, vcc_hi; global_store_dwordx4 v2, v[4:7], s[0:1] offset:16; " +
	"s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 4), 5; s_setprio 2; s_movk_i32 s60, 0x7; s_mov_b64 vcc, -1; s_cmp_eq_u32 s60, s60; s_mov_b64 s[0:1], 0; s_mov_b64 exec, 1; s_endpgm"

// TestChainedWavesBeginAlike: waves that one structure executes one after the other find
// what they would find in structures of their own.
func TestChainedWavesBeginAlike(t *testing.T) {
	const mode = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 5; "
	for _, after := range []int{-1, 1, 4} {
		for _, text := range []string{told, told[:len(told)-len("s_endpgm")] + mode + "s_endpgm", told[:len(told)-len("s_endpgm")] + mode + "s_barrier; s_endpgm"} {
			for n := range 4 {
				workers := 1 + n&2
				d := newDevice(t, gcn.GFX90A, 1<<20)
				d.prog = NewProgram(gcn.GFX90A, d.mem, Options{TranslateAfter: after})
				buf, data := d.alloc(page)
				x := d.assemble(buf, 13, 192, assemble(t, gcn.GFX90A, text))
				x.DynamicLDS = uint32(n & 1)
				x.Grid[1], x.Desc.Rsrc2 = 2, x.Desc.Rsrc2|1<<8
				stats, err := x.Run(context.Background(), workers)
				if err != nil || stats.Workgroups != 26 || stats.Waves != 78 || stats.WriteBytes != 78*2*16*WaveSize {
					t.Fatalf("%d: %v, %+v", after, err, stats)
				}
				for i := range 78 {
					var got [8]uint32
					for j := range got {
						got[j] = binary.LittleEndian.Uint32(data[32*i+4*j:])
					}
					if want := [8]uint32{x.Desc.mode(), 0, 0, 0, uint32(i / 3 % 13), 0, ^uint32(0), 0}; got != want {
						t.Fatalf("translated after %d, %d workers, LDS of %d: wave %d begins with %#x, want %#x", after, workers, n&1, i, got, want)
					}
				}
			}
		}
	}
}

// scattered is a program whose waves, three of each workgroup, store scalar registers of several lines, and write them then: one of them
// only in workgroups from the sixth on, when what the first ones execute may have been translated.
const scattered = "v_lshrrev_b32_e32 v1, 6, v0; v_readfirstlane_b32 s8, v1; s_mul_i32 s9, s2, 3; s_add_i32 s9, s9, s8; s_lshl_b32 s9, s9, 4; v_mov_b32_e32 v2, s9; " +
	"v_mov_b32_e32 v4, s20; v_mov_b32_e32 v5, s41; v_mov_b32_e32 v6, s90; v_mov_b32_e32 v7, vcc_lo; global_store_dwordx4 v2, v[4:7], s[0:1]; " +
	"s_mov_b64 vcc, -1; s_movk_i32 s20, 0x1; s_mov_b64 s[40:41], -1; s_cmp_lt_u32 s2, 5; s_cbranch_scc1 2; s_movk_i32 s90, 0x7; s_branch 0; s_nop 0; s_endpgm"

// TestChainedScalarsBeginAlike: scalar registers that waves of a chain write are not there for the next one, wherever it was executed.
func TestChainedScalarsBeginAlike(t *testing.T) {
	for _, after := range []int{-1, 1, 2, 4, 9, 17} {
		d := newDevice(t, gcn.GFX90A, 1<<20)
		d.prog = NewProgram(gcn.GFX90A, d.mem, Options{TranslateAfter: after})
		buf, data := d.alloc(page)
		for round := range 6 {
			x := d.assemble(buf, 13, 192, assemble(t, gcn.GFX90A, scattered))
			x.DynamicLDS = uint32(round & 1)
			if _, err := x.Run(context.Background(), 1); err != nil {
				t.Fatal(err)
			}
			for i := range 4 * 39 {
				if got := binary.LittleEndian.Uint32(data[4*i:]); got != 0 {
					t.Fatalf("translated after %d, round %d: wave %d begins with %#x in place %d", after, round, i/4, got, i%4)
				}
			}
		}
	}
}

// TestWaveLines: what is moved by lines of the cache lies in them.
func TestWaveLines(t *testing.T) {
	w := wavePool.New().(*wave)
	for name, p := range map[string]unsafe.Pointer{"S": unsafe.Pointer(&w.S), "begin": unsafe.Pointer(&w.begin), "out": unsafe.Pointer(&w.out), "offs": unsafe.Pointer(&w.offs)} {
		if uintptr(p)%64 != 0 {
			t.Errorf("%s is at %p", name, p)
		}
	}
}

// TestChainFaults: a fault names the wave of the chain, and what ended before is counted.
func TestChainFaults(t *testing.T) {
	for n := range 8 {
		after := []int{-1, 1}[n/2%2]
		d := newDevice(t, gcn.GFX90A, 1<<20)
		d.prog = NewProgram(gcn.GFX90A, d.mem, Options{TranslateAfter: after})
		addr := uint64(1 << 40)
		if n >= 4 {
			addr = d.mem.Base + 1<<19 // of the device, and not allocated
		}
		x := d.assemble(addr, 20, 192, assemble(t, gcn.GFX90A, "v_lshrrev_b32_e32 v1, 6, v0; v_readfirstlane_b32 s8, v1; s_cmp_lg_u32 s2, 5; s_cbranch_scc1 4; s_cmp_lg_u32 s8, 1; s_cbranch_scc1 2; s_load_dword s4, s[0:1], 0x0; s_endpgm"))
		x.Grid[0] = 64 * 192 // so that there are chains as long as can be
		x.DynamicLDS = uint32(n & 1)
		stats, err := x.Run(context.Background(), 1)
		var f *Fault
		if !errors.As(err, &f) || f.Workgroup != [3]uint32{5, 0, 0} || f.Wave != 1 || f.Addr != addr {
			t.Fatalf("%d: %+v", after, err)
		}
		if stats.Workgroups != 5 || stats.Waves != 16 {
			t.Errorf("%d: %+v", after, stats)
		}
	}
}

// TestChainBreaks: a wave that waits for a later one of its workgroup, or for another
// workgroup that comes after it in its chain, gets what it waits for, and all of them are executed once.
func TestChainBreaks(t *testing.T) {
	// Wave 0 of workgroup 0, or of workgroup 3, waits until all others, which add 1, have been there.
	const first = "v_mov_b32_e32 v2, 0; v_mov_b32_e32 v3, 1; v_lshrrev_b32_e32 v1, 6, v0; v_readfirstlane_b32 s8, v1; s_or_b32 s8, s8, s2; s_cmp_eq_u32 s8, 0; s_cbranch_scc1 4; s_mov_b64 exec, 1; global_atomic_add v2, v3, s[0:1]; s_endpgm; "
	for name, wait := range map[string]string{
		"spinning": "s_load_dword s4, s[0:1], 0x0; s_waitcnt lgkmcnt(0); s_cmp_lg_u32 s4, 0x9f; s_cbranch_scc1 65530; s_endpgm",
		"sleeping": "s_sleep 1; s_load_dword s4, s[0:1], 0x0; s_waitcnt lgkmcnt(0); s_cmp_lg_u32 s4, 0x9f; s_cbranch_scc1 65529; s_endpgm",
	} {
		for _, after := range []int{-1, 1} {
			for n := range 4 {
				workers := 1 + n&2
				t.Run(fmt.Sprint(name, after, n), func(t *testing.T) {
					d := newDevice(t, gcn.GFX90A, 1<<20)
					d.prog = NewProgram(gcn.GFX90A, d.mem, Options{TranslateAfter: after})
					buf, data := d.alloc(page)
					ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
					defer cancel()
					text := first + wait
					if n&1 != 0 { // the first workgroup with an LDS is no chain
						text = strings.Replace(text, "s_or_b32 s8, s8, s2", "s_xor_b32 s9, s2, 3; s_or_b32 s8, s8, s9", 1)
					}
					x := d.assemble(buf, 40, 256, assemble(t, gcn.GFX90A, text))
					x.DynamicLDS = uint32(n & 1)
					stats, err := x.Run(ctx, workers)
					if err != nil || stats.Workgroups != 40 || stats.Waves != 160 || binary.LittleEndian.Uint32(data) != 159 {
						t.Errorf("%v, %d waves have been there, %+v", err, binary.LittleEndian.Uint32(data), stats)
					}
				})
			}
		}
	}
}

// TestChainClaimedBefore: a chain that was claimed before another goroutine's came to an end too early is executed, all of it.
func TestChainClaimedBefore(t *testing.T) {
	for n := range 4 {
		breaks := n&1 != 0
		d := newDevice(t, gcn.GFX90A, 1<<20)
		x := d.short(100)
		x.DynamicLDS = uint32(n & 2)
		s := &scheduler{d: x, groups: x.groups(), workers: 1, total: 100, limit: 1}
		var err error
		if s.init, err = x.prepare(); err != nil {
			t.Fatal(err)
		}
		s.chained.Store(true)
		s.stats.Waves, s.stats.Instructions[SALU] = 1000, 2000 // it is known that they are short
		first, more := s.claim()
		if first != 0 || more == 0 {
			t.Fatalf("claimed %d and %d more", first, more)
		}
		s.stats = Stats{}
		s.resident++
		if breaks {
			s.unchain(groupSpan{})
		}
		g := newWorkgroup(s, first, more)
		if fault, done := g.turn(&s.stop); fault != nil || !done {
			t.Fatalf("%v, done: %v", fault, done)
		}
		s.end(g)
		s.release(g)
		if s.finished != 1+more || s.stats.Workgroups != 1+more || s.stats.Waves != 1+more {
			t.Errorf("ended in between: %v: %d workgroups of %d were executed, %+v", breaks, s.finished, 1+more, s.stats)
		}
	}
}

// TestMissingWorkgroups: a dispatch that nobody has ended and that has not executed all of its workgroups is no success.
func TestMissingWorkgroups(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := &scheduler{d: &Dispatch{Kernel: "test"}, total: 3, stats: Stats{Workgroups: 2}}
	var f *Fault
	if err := s.missing(ctx); !errors.As(err, &f) || f.Kind != InternalFault || f.Detail != "2 of 3 workgroups were executed" {
		t.Errorf("two of three: %v", err)
	}
	if cancel(); !errors.Is(s.missing(ctx), context.Canceled) {
		t.Errorf("cancelled: %v", s.missing(ctx))
	}
	if s.stats.Workgroups = 3; s.missing(ctx) != nil {
		t.Errorf("all of them: %v", s.missing(ctx))
	}
}

// TestChainFrom: chains do not go beyond what is alike, nor leave other goroutines without work.
func TestChainFrom(t *testing.T) {
	d := newDevice(t, gcn.GFX90A, 1<<20)
	for _, c := range []struct {
		grid, group [3]uint32
		workers     int
		n, want     uint64
		lds         uint32
		insts       uint64 // of 100 waves
	}{
		{[3]uint32{1 << 20, 1, 1}, [3]uint32{64, 1, 1}, 1, 0, 128, 0, 0},
		{[3]uint32{1 << 20, 1, 1}, [3]uint32{64, 1, 1}, 1, 0, 2048, 0, 200},
		{[3]uint32{1 << 20, 1, 1}, [3]uint32{1024, 1, 1}, 1, 0, 8, 0, 0},
		{[3]uint32{64 * 50, 1, 1}, [3]uint32{64, 1, 1}, 1, 48, 2, 0, 0},
		{[3]uint32{64 * 50, 1, 1}, [3]uint32{64, 1, 1}, 2, 48, 1, 0, 0},
		{[3]uint32{64*50 + 1, 3, 1}, [3]uint32{64, 1, 1}, 1, 40, 10, 0, 0},
		{[3]uint32{64*50 + 1, 3, 1}, [3]uint32{64, 1, 1}, 1, 50, 1, 0, 0}, // a small one
		{[3]uint32{64 * 500, 3, 1}, [3]uint32{32, 2, 1}, 1, 1000, 1, 0, 0},
		{[3]uint32{64 * 64, 1, 1}, [3]uint32{64, 1, 1}, 4, 0, 5, 0, 0},
		{[3]uint32{1 << 20, 1, 1}, [3]uint32{256, 1, 1}, 1, 0, 1, 16, 0}, // nobody knows how long they take
		{[3]uint32{1 << 20, 1, 1}, [3]uint32{256, 1, 1}, 1, 0, 64, 16, 100 * 128},
		{[3]uint32{1 << 20, 1, 1}, [3]uint32{1024, 1, 1}, 1, 0, 16, 16, 100 * 128},
		{[3]uint32{1 << 20, 1, 1}, [3]uint32{256, 1, 1}, 1, 0, 1, 16, 100 * 5000}, // too long for two of them
		{[3]uint32{256 * 64, 1, 1}, [3]uint32{256, 1, 1}, 4, 0, 5, 16, 100 * 128},
		{[3]uint32{256*50 + 64, 1, 1}, [3]uint32{256, 1, 1}, 1, 48, 2, 16, 100 * 128},
		{[3]uint32{32 * 500, 1, 1}, [3]uint32{32, 1, 1}, 1, 0, 1, 16, 100 * 128}, // not all lanes
	} {
		x := d.short(1)
		x.Grid, x.Group, x.DynamicLDS = c.grid, c.group, c.lds
		s := &scheduler{d: x, groups: x.groups(), workers: c.workers}
		s.total = uint64(s.groups[0]) * uint64(s.groups[1])
		var err error
		if s.init, err = x.prepare(); err != nil {
			t.Fatal(err)
		}
		s.chained.Store(x.chains(&s.init))
		if c.insts > 0 {
			s.stats.Waves, s.stats.Instructions[VALU] = 100, c.insts
		}
		if got := s.chainFrom(c.n); got != c.want {
			t.Errorf("%+v: %d workgroups", c, got)
		}
	}
}
