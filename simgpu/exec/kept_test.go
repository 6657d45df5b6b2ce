package exec

import (
	"encoding/binary"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// TestKept: code that is entered at each of its instructions has no more kept of it than a program may; what is not kept is the same code. When it is
// invalidated, there is room again.
func TestKept(t *testing.T) {
	d := newDevice(t, gcn.GFX942, 1<<20)
	const n = 512 // instructions: v_mov_b32 v0, a literal of its own
	at, code := d.alloc(8*n + 4)
	for i := range n {
		binary.LittleEndian.PutUint32(code[8*i:], 0x7e0002ff)
		binary.LittleEndian.PutUint32(code[8*i+4:], 1000+uint32(i))
	}
	binary.LittleEndian.PutUint32(code[8*n:], 0xbf810000) // s_endpgm
	p := d.prog
	p.most = 20_000
	for round := range 3 {
		passing := 0
		for i := range uint64(n) {
			b := p.block(at + 8*i)
			if b.passing {
				passing++
			}
			if want := min(maxBlock, n-int(i)); len(b.ops) < want || len(b.ops) > want+1 {
				t.Fatalf("%d instructions at %d, not %d", len(b.ops), i, want)
			}
			p.following(b)
		}
		held, blocks := 0, 0
		seen := map[*block]bool{}
		var count func(*block)
		count = func(b *block) {
			if b == nil || seen[b] {
				return
			}
			seen[b] = true
			held += b.cost
			blocks++
			count(b.next.Load())
			count(b.target.Load())
		}
		p.blocks.Range(func(_, v any) bool { count(v.(*block)); return true })
		if held > p.most || held != p.kept || blocks == 0 || passing == 0 || len(p.consts) > p.most {
			t.Fatalf("round %d: %d blocks that cost %d are reached, %d are counted, of %d that may be; %d were passing", round, blocks, held, p.kept, p.most, passing)
		}
		p.Invalidate(d.mem.Base, d.mem.Size)
		if p.kept != 0 || len(p.consts) != 0 {
			t.Errorf("%d are counted of nothing", p.kept)
		}
	}
}
