//go:build linux && amd64

package exec

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// counted is a kernel that goes round a loop n times, adding one to v2 each
// time, and stores v2 at its argument.
func (d *device) counted(buf uint64, n uint16) *Dispatch {
	return d.assemble(buf, 1, 64,
		words("s_movk_i32 s4, n", 0xb0040000|uint32(n)), words("v_mov_b32_e32 v1, 0", 0x7e020280), words("v_mov_b32_e32 v2, 0", 0x7e040280),
		words("v_add_u32_e32 v2, 1, v2", 0x68040481), words("s_sub_u32 s4, s4, 1", 0x80848104), words("s_cmp_lg_u32 s4, 0", 0xbf078004), branchSCC1(-4),
		words("global_store_dword v1, v2, s[0:1]", 0xdc708000, 0x00000201), []uint32{endpgm})
}

// mustCount runs such a kernel and looks at what it stored.
func mustCount(t *testing.T, run *Dispatch, data []byte, n uint32) {
	t.Helper()
	clear(data[:4])
	if _, err := run.Run(context.Background(), 1); err != nil {
		t.Fatal(err)
	}
	if got := binary.LittleEndian.Uint32(data); got != n {
		t.Fatalf("%d rounds, want %d", got, n)
	}
}

// withOptions gives the device a program of its own.
func (d *device) withOptions(arch gcn.Arch, o Options) *Program {
	d.prog = NewProgram(arch, d.mem, o)
	return d.prog
}

// hasCode are the kept blocks and those of them that have machine code.
func (p *Program) hasCode() (blocks, translated int) {
	p.blocks.Range(func(_, v any) bool {
		blocks++
		if v.(*block).entry.Load() != nil {
			translated++
		}
		return true
	})
	return
}

func TestTranslateAfter(t *testing.T) {
	for _, c := range []struct {
		after, rounds int
		blocks, code  int // reached, and those of them with machine code
		regions       int
	}{
		{after: 1, rounds: 1, blocks: 3, code: 3, regions: 1}, // the loop, though nothing comes back to it
		{after: -1, rounds: 1000, blocks: 3},
		{after: 0, rounds: usualHeat, blocks: 3},
		{after: 0, rounds: usualHeat + 1, blocks: 3, code: 1, regions: 1},
		{after: 4, rounds: 5, blocks: 3, code: 1, regions: 1},
	} {
		d := newDevice(t, gcn.GFX942, 1<<20)
		p := d.withOptions(gcn.GFX942, Options{TranslateAfter: c.after})
		buf, data := d.alloc(page)
		mustCount(t, d.counted(buf, uint16(c.rounds)), data, uint32(c.rounds))
		regions := map[*region]bool{}
		p.blocks.Range(func(_, v any) bool {
			for _, r := range v.(*block).regions {
				regions[r] = true
			}
			return true
		})
		if blocks, code := p.hasCode(); blocks != c.blocks || code != c.code || len(regions) != c.regions {
			t.Errorf("after %d, %d rounds: %d of %d blocks are translated in %d regions, want %+v", c.after, c.rounds, code, blocks, len(regions), c)
		}
	}
}

// fewPages are code memory for a few kernels.
var fewPages = func() int {
	if !hasAVX512 {
		return 16 * page // several instructions for one
	}
	return 4 * page
}()

// What is unloaded goes, what is not stays, and the room is there again.
func TestInvalidateDropsItsOwn(t *testing.T) {
	d := newDevice(t, gcn.GFX942, 1<<20)
	var log []string
	p := d.withOptions(gcn.GFX942, Options{TranslateAfter: 1, CodeMemory: fewPages, Logf: func(f string, a ...any) { log = append(log, fmt.Sprintf(f, a...)) }})
	buf, data := d.alloc(page)
	stays, goes := d.counted(buf, 3), d.counted(buf, 5)
	mustCount(t, stays, data, 3)
	entry := p.block(stays.Entry).entry.Load()
	if entry == nil {
		t.Fatal("not translated")
	}
	for i := range uint16(500) {
		binary.LittleEndian.PutUint16(d.data[goes.Entry-d.mem.Base:], i+1) // another module at its place
		mustCount(t, goes, data, uint32(i)+1)
		if p.block(goes.Entry).entry.Load() == nil {
			t.Fatalf("module %d is not translated: %v", i, log)
		}
		p.Invalidate(goes.Entry, page)
		if p.block(stays.Entry).entry.Load() != entry {
			t.Fatal("the other module's code is gone")
		}
	}
	if n := p.Untranslated(); n != 0 || len(log) != 0 {
		t.Errorf("%d untranslated: %q", n, log)
	}
	p.Invalidate(stays.Entry, page)
	if free := p.native.arena.free; len(free) != 1 || free[0] != (extent{0, fewPages}) || len(p.native.retired) != 0 {
		t.Errorf("left of the arena: %v, %d are retired", free, len(p.native.retired))
	}
}

// Code that jumped to what is gone finds what is there now.
func TestInvalidateUnlinks(t *testing.T) {
	d := newDevice(t, gcn.GFX942, 1<<20)
	buf, data := d.alloc(page)
	to := d.counted(buf, 3)
	at, code := d.alloc(page)
	binary.LittleEndian.PutUint32(code, 0xbf820000|uint32(uint16(int64(to.Entry-at-4)/4))) // s_branch
	from := *to
	from.Entry = at
	mustCount(t, &from, data, 3)
	binary.LittleEndian.PutUint16(d.data[to.Entry-d.mem.Base:], 4)
	d.prog.Invalidate(to.Entry, page)
	mustCount(t, &from, data, 4)
}

func TestNoRoomForCode(t *testing.T) {
	for name, size := range map[string]int{"full": 64, "none": 1 << 62} {
		d := newDevice(t, gcn.GFX942, 1<<20)
		lines := 0
		p := d.withOptions(gcn.GFX942, Options{TranslateAfter: 1, CodeMemory: size, Logf: func(f string, a ...any) { lines++; t.Logf(f, a...) }})
		buf, data := d.alloc(page)
		for i := range uint32(3) {
			mustCount(t, d.counted(buf, uint16(i+1)), data, i+1)
		}
		if _, code := p.hasCode(); code != 0 || lines != 1 || p.Untranslated() < 3 {
			t.Errorf("%s: %d blocks are translated, %d lines, %d untranslated", name, code, lines, p.Untranslated())
		}
	}
}

// More code than there is room for is translated all the same, again and again.
func TestMoreCodeThanRoom(t *testing.T) {
	d := newDevice(t, gcn.GFX942, 1<<20)
	p := d.withOptions(gcn.GFX942, Options{TranslateAfter: 1, CodeMemory: fewPages})
	buf, data := d.alloc(page)
	var all []*Dispatch
	for range 40 {
		all = append(all, d.counted(buf, 2))
	}
	for round := range 4 {
		translated := 0
		for _, k := range all {
			for range 3 { // one finds that there is no room, one drops what is there
				mustCount(t, k, data, 2)
			}
			if p.block(k.Entry).entry.Load() != nil {
				translated++
			}
		}
		if translated != len(all) || p.Untranslated() != 0 {
			t.Fatalf("round %d: %d of %d kernels are translated when they have been executed three times; %d untranslated", round, translated, len(all), p.Untranslated())
		}
	}
	p.Invalidate(d.mem.Base, d.mem.Size)
	if free := p.native.arena.free; len(free) != 1 || free[0].size != fewPages {
		t.Errorf("left of the arena: %v", free)
	}
}

// Code that is unloaded while it is executed, which it must not be, stays where
// it is until nobody executes it.
func TestCodeStaysWhileExecuted(t *testing.T) {
	d := newDevice(t, gcn.GFX942, 8<<20)
	p := d.withOptions(gcn.GFX942, Options{TranslateAfter: 1, CodeMemory: fewPages})
	buf, data := d.alloc(page)
	loop := slices.Concat(words("s_load_dword s4, s[0:1], 0x0", 0xc0020100, 0), words("s_waitcnt lgkmcnt(0)", 0xbf8cc07f), words("s_cmp_eq_u32 s4, 0", 0xbf068004))
	spin := d.assemble(buf, 1, 64, loop, branchSCC1(-len(loop)-1), []uint32{endpgm})
	done := make(chan error, 1)
	go func() { _, err := spin.Run(context.Background(), 1); done <- err }()
	for {
		if b, ok := p.blocks.Load(spin.Entry); ok && b.(*block).entry.Load() != nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	other, got := d.alloc(page)
	for i := range uint32(200) {
		p.Invalidate(spin.Entry, page)
		run := d.counted(other, uint16(i+1))
		mustCount(t, run, got, i+1)
		p.Invalidate(run.Entry, page)
		select {
		case err := <-done:
			t.Fatalf("it has ended: %v", err)
		default:
		}
	}
	binary.LittleEndian.PutUint32(data, 1)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	p.Invalidate(d.mem.Base, d.mem.Size)
	if free := p.native.arena.free; len(free) != 1 || free[0].size != fewPages {
		t.Errorf("left of the arena: %v", free)
	}
}

// The arena against a map of what is taken.
func TestCodeArena(t *testing.T) {
	const size = 16 * page
	a := codeArena{size: size}
	if err := a.open(); err != nil {
		t.Fatal(err)
	}
	defer a.release()
	r := rand.New(rand.NewPCG(1, 1))
	var taken [size]byte // whose it is
	var held []extent
	full := 0
	for range 5000 {
		if len(held) > 0 && r.IntN(2) == 0 {
			i := r.IntN(len(held))
			e := held[i]
			for at := e.at; at < e.end(); at++ {
				if a.exec[at] != taken[at] {
					t.Fatalf("byte %d is %d, want %d", at, a.exec[at], taken[at])
				}
			}
			clear(taken[e.at:e.end()])
			a.drop(e)
			held = slices.Delete(held, i, i+1)
			continue
		}
		code := make([]byte, codeAlign*(1+r.IntN(60)))
		id := byte(1 + r.IntN(255))
		for i := range code {
			code[i] = id
		}
		e, _, err := a.add(code)
		if err != nil {
			full++
			continue
		}
		for at := e.at; at < e.end(); at++ {
			if taken[at] != 0 {
				t.Fatalf("%v is taken", e)
			}
			taken[at] = id
		}
		held = append(held, e)
	}
	for _, e := range held {
		a.drop(e)
	}
	if len(a.free) != 1 || a.free[0] != (extent{0, size}) || full == 0 {
		t.Errorf("left %v; it was full %d times", a.free, full)
	}
}

func init() { keepPanics = true } // a test is to fail then

// TestTranslatorFails: a kernel for which the translator fails is executed by functions, with the right result, and the log says once why it is slow.
func TestTranslatorFails(t *testing.T) {
	d := newDevice(t, gcn.GFX942, 1<<20)
	var log []string
	p := d.withOptions(gcn.GFX942, Options{TranslateAfter: 1, Logf: func(f string, a ...any) { log = append(log, fmt.Sprintf(f, a...)) }})
	was := nativeVector["v_mov_b32"]
	defer func() { keepPanics, nativeVector["v_mov_b32"] = true, was }()
	keepPanics = false
	nativeVector["v_mov_b32"] = func(*nativeGen, *gcn.Inst) bool { panic("it does not know how") }
	buf, data := d.alloc(page)
	for _, n := range []uint16{3, 7} {
		mustCount(t, d.counted(buf, n), data, uint32(n))
	}
	if len(log) != 1 || !strings.Contains(log[0], "it does not know how") || p.Untranslated() == 0 {
		t.Errorf("%d untranslated; %q", p.Untranslated(), log)
	}
	nativeVector["v_mov_b32"] = was
	last := d.counted(buf, 5)
	if mustCount(t, last, data, 5); p.block(last.Entry).entry.Load() == nil {
		t.Error("nothing is translated any more")
	}
}
