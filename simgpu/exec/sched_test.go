package exec

import (
	"context"
	"encoding/binary"
	"testing"
	"time"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// assemble puts code into device memory and describes a kernel of it whose
// first SGPRs are an address and the workgroup's number.
func (d *device) assemble(buf uint64, groups, size uint32, parts ...[]uint32) *Dispatch {
	d.t.Helper()
	addr, mem := d.alloc(page)
	for _, p := range parts {
		covers(d.prog.arch, p)
		for _, w := range p {
			binary.LittleEndian.PutUint32(mem, w)
			mem = mem[4:]
		}
	}
	return &Dispatch{Program: d.prog, Kernel: "test", Entry: addr, Kernarg: buf,
		Grid: [3]uint32{groups * size, 1, 1}, Group: [3]uint32{size, 1, 1},
		Desc: Descriptor{Rsrc1: 0xaf0000, Rsrc2: 2<<1 | 1<<7, Rsrc3: 1, Properties: propKernargPtr}}
}

func branchSCC1(n int) []uint32 { return []uint32{0xbf850000 | uint32(uint16(n))} }

// All workgroups but the last one wait for it. One goroutine executes them all.
func TestWaitForLaterWorkgroup(t *testing.T) {
	const groups = 40
	for name, wait := range map[string][]uint32{"spinning": nil, "sleeping": words("s_sleep 1", 0xbf8e0001)} {
		for _, cooperative := range []bool{false, true} {
			d := newDevice(t, gcn.GFX90A, 1<<20)
			buf, data := d.alloc(page)
			loop := append(append(words("s_load_dword s4, s[0:1], 0x0", 0xc0020100, 0x00000000), wait...), words("s_cmp_eq_u32 s4, 0", 0xbf068004)...)
			back := branchSCC1(-len(loop) - 1) // to the load
			run := d.assemble(buf, groups, 64,
				words("s_cmpk_eq_u32 s2, 0x27", 0xb4020027), branchSCC1(len(loop)+2), // to the last part
				loop, back, []uint32{endpgm},
				words("v_mov_b32_e32 v0, 1", 0x7e000281), words("v_mov_b32_e32 v1, 0", 0x7e020280), words("global_store_dword v1, v0, s[0:1]", 0xdc708000, 0x00000001), []uint32{endpgm})
			run.Cooperative = cooperative
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			stats, err := run.Run(ctx, 1)
			cancel()
			if err != nil {
				t.Fatalf("%s, cooperative %v: %v", name, cooperative, err)
			}
			if stats.Workgroups != groups || stats.Waves != groups || binary.LittleEndian.Uint32(data) != 1 {
				t.Errorf("%s, cooperative %v: %+v", name, cooperative, stats)
			}
		}
	}
}

// TestWaitForEarlierWorkgroup: each workgroup waits for the one before it, and the first one for number 40, so that many have been started by then.
// From there on those that get on have their turns first: none spends one on waiting, however many there are.
func TestWaitForEarlierWorkgroup(t *testing.T) {
	const text = "v_mov_b32_e32 v1, 0; v_mov_b32_e32 v2, 1; s_lshl_b32 s3, s2, 2; s_add_u32 s4, s0, s3; s_addc_u32 s5, s1, 0; " + // its own word
		"s_cmp_lg_u32 s2, 40; s_cbranch_scc1 2; global_store_dword v1, v2, s[0:1]; " + // that there is number 40
		"s_load_dword s6, s[4:5], 0x0; s_waitcnt lgkmcnt(0); s_cmp_eq_u32 s6, 0; s_cbranch_scc1 65531; " +
		"global_store_dword v1, v2, s[4:5] offset:4; s_endpgm"
	instructions := func(groups uint32) uint64 {
		d := newDevice(t, gcn.GFX90A, 1<<20)
		d.prog = NewProgram(gcn.GFX90A, d.mem, Options{TranslateAfter: -1}) // turns are of blocks then, at all times
		buf, data := d.alloc(page)
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
		defer cancel()
		stats, err := d.assemble(buf, groups, 64, assemble(t, gcn.GFX90A, text)).Run(ctx, 1)
		if err != nil || stats.Workgroups != uint64(groups) || binary.LittleEndian.Uint32(data[4*groups:]) != 1 {
			t.Fatalf("%d workgroups: %v, %+v", groups, err, stats)
		}
		return stats.TotalInstructions()
	}
	few, more := instructions(200), instructions(400)
	if more-few > 200*50 {
		t.Errorf("200 more workgroups, %d more instructions", more-few)
	}
}

// TestLowestFirst: of those that are parked in whatever order, the one with the lowest number is next when a workgroup has finished.
func TestLowestFirst(t *testing.T) {
	s := &scheduler{d: &Dispatch{}, ended: true}
	for _, id := range [][3]uint32{{7, 0, 1}, {3, 2, 0}, {9, 1, 0}, {4, 1, 0}, {0, 3, 0}} {
		s.parked = append(s.parked, &workgroup{id: id})
	}
	for i, want := range [][3]uint32{{4, 1, 0}, {7, 0, 1}, {3, 2, 0}, {9, 1, 0}, {0, 3, 0}} { // the others as they were
		g, _, _, _ := s.choose()
		if g == nil || g.id != want {
			t.Fatalf("%d: %+v, want %v", i, g, want)
		}
	}
}

// Waves of a workgroup meet at barriers, also those that have ended by then.
func TestBarrier(t *testing.T) {
	d := newDevice(t, gcn.GFX942, 1<<20)
	buf, data := d.alloc(page)
	// Lane 0 of each wave adds to a counter, waits, and stores what the counter is
	// then; the last wave ends before.
	var body []uint32
	for _, p := range [][]uint32{
		words("s_lshl_b32 s5, s2, 8", 0x8e058802), words("v_mov_b32_e32 v4, s5", 0x7e080205),
		words("v_mbcnt_lo_u32_b32 v5, -1, 0", 0xd28c0005, 0x000100c1), words("v_cmp_eq_u32_e32 vcc, 0, v5", 0x7d940a80), words("s_and_b64 exec, vcc, 1", 0x86fe816a),
		words("global_atomic_add v4, v2, s[0:1]", 0xdd088000, 0x00000204), words("s_barrier", 0xbf8a0000),
		words("global_load_dword v6, v4, s[0:1]", 0xdc508000, 0x06000004), words("v_lshl_add_u32 v4, v3, 2, v4", 0xd1fd0004, 0x04110503),
		words("global_store_dword v4, v6, s[0:1] offset:64", 0xdc708040, 0x00000604),
	} {
		body = append(body, p...)
	}
	run := d.assemble(buf, 2, 256,
		words("v_mov_b32_e32 v2, 1", 0x7e040281), words("v_mov_b32_e32 v1, 0", 0x7e020280),
		words("v_lshrrev_b32_e32 v3, 6, v0", 0x20060086), words("v_readfirstlane_b32 s3, v3", 0x7e060503), words("s_cmp_eq_u32 s3, 3", 0xbf068303), branchSCC1(len(body)),
		body, []uint32{endpgm})
	stats, err := run.Run(context.Background(), 2)
	if err != nil {
		t.Fatal(err)
	}
	for g := range 2 {
		for w := range 3 {
			if got := binary.LittleEndian.Uint32(data[g*256+64+4*w:]); got != 3 {
				t.Errorf("workgroup %d, wave %d saw %d at the barrier, want 3", g, w, got)
			}
		}
	}
	if stats.Waves != 8 || stats.Workgroups != 2 || stats.Atomics != 6 || stats.Instructions[VMEM] != 18 || stats.Lanes[VMEM] != 18 || stats.ReadBytes != 24 || stats.WriteBytes != 24 {
		t.Errorf("statistics %+v", stats)
	}
}

// The state in which waves start.
func TestLaunchState(t *testing.T) {
	for _, arch := range arches {
		d := newDevice(t, arch, 1<<20)
		buf, data := d.alloc(page)
		binary.LittleEndian.PutUint32(data[8:], 0x1234)
		binary.LittleEndian.PutUint32(data[12:], 0x5678)
		disp := &Dispatch{Program: d.prog, Kernel: "test", Entry: buf, Kernarg: buf, DispatchPtr: 0x1111_2222, QueuePtr: 0x3333_4444, DispatchID: 0x55,
			Grid: [3]uint32{20, 10, 3}, Group: [3]uint32{8, 4, 2}, ScratchPerLane: 100,
			Desc: Descriptor{Rsrc1: 3 | 0xaf0000, Rsrc3: 3, Rsrc2: 1 | 16<<1 | 7<<7 | 1<<10 | 2<<11,
				Properties:     propPrivateSegmentBuffer | propDispatchPtr | propQueuePtr | propKernargPtr | propDispatchID | propFlatScratchInit,
				KernargPreload: 2 | 2<<7}}
		if arch == gcn.GFX90A {
			disp.Desc.Properties &^= propDispatchID // they would be more than 16
		}
		s := &scheduler{d: disp, groups: disp.groups()}
		var err error
		if s.init, err = disp.prepare(); err != nil {
			t.Fatal(err)
		}
		if s.groups != [3]uint32{3, 3, 2} {
			t.Errorf("%v workgroups", s.groups)
		}
		g := newWorkgroup(s, 2+3*2+9*1, 0) // the last one: 4 × 2 × 1 work-items
		w := g.waves[0]
		if g.id != [3]uint32{2, 2, 1} || g.size != [3]uint32{4, 2, 1} || len(g.waves) != 1 {
			t.Fatalf("workgroup %v of %v, %d waves", g.id, g.size, len(g.waves))
		}
		n := 0
		next := func(what string, want ...uint32) {
			t.Helper()
			for _, v := range want {
				if w.S[n] != v {
					t.Errorf("%s: s%d (%s) is %#x, want %#x", arch, n, what, w.S[n], v)
				}
				n++
			}
		}
		if arch == gcn.GFX90A {
			next("private segment buffer", 0, 1<<15|1<<31, 112*64, 1<<23|3<<21|1<<19)
		}
		next("dispatch packet", 0x1111_2222, 0)
		next("queue", 0x3333_4444, 0)
		next("kernel arguments", uint32(buf), uint32(buf>>32))
		if arch == gcn.GFX942 {
			next("dispatch id", 0x55, 0)
		}
		next("flat scratch", 0, 1<<15)
		next("preloaded arguments", 0x1234, 0x5678)
		n = 16
		next("workgroup id", 2, 2, 1)
		next("workgroup info", 1|1<<31)
		if got := w.s64(regEXEC); got != 0xff {
			t.Errorf("EXEC %#x", got)
		}
		if want := uint32(3 | 1<<10); w.V[0][7] != want {
			t.Errorf("work-item 7 is %#x, want %#x", w.V[0][7], want)
		}
		if len(w.V) != 16 || len(w.A) != 16 || len(w.scratch) != 112*64 || disp.entry() != buf+256 || w.mode != 0x3f0 {
			t.Errorf("%d vector, %d accumulation registers, %d bytes of scratch, entry %#x, mode %#x", len(w.V), len(w.A), len(w.scratch), disp.entry(), w.mode)
		}
	}
}
