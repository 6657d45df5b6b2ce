package exec

import (
	"encoding/binary"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// TestKept: code that is entered at each of its instructions has no more kept of it than a program may, and one block; what has been dropped is decoded again.
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
	dropped, largest := 0, 0
	for range 3 {
		for i := range uint64(n) {
			was := p.kept
			b := p.block(at + 8*i)
			if want := min(maxBlock, n-int(i)); len(b.ops) < want || len(b.ops) > want+1 {
				t.Fatalf("%d instructions at %d, not %d", len(b.ops), i, want)
			}
			p.following(b)
			if p.kept < was {
				dropped++
			}
			held := 0
			largest = max(largest, b.cost)
			p.blocks.Range(func(_, v any) bool {
				o := v.(*block)
				held += o.cost
				for _, to := range []*block{o.next.Load(), o.target.Load()} {
					if to != nil && to.dead.Load() {
						t.Fatalf("%d: what has been dropped follows", i)
					}
				}
				return true
			})
			if held != p.kept || held > p.most+largest {
				t.Fatalf("%d: what costs %d is kept, %d is counted, of %d that may be", i, held, p.kept, p.most)
			}
		}
	}
	if dropped < 3 {
		t.Errorf("dropped %d times", dropped)
	}
	p.Invalidate(d.mem.Base, d.mem.Size)
	if p.kept != 0 || len(p.consts) != 0 {
		t.Errorf("%d are counted of nothing", p.kept)
	}
}
