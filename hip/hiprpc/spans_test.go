package hiprpc

import (
	"testing"

	"github.com/rocwire/rocwire/hip"
)

// TestSpans: what sessions that share a range have of it lies in it and does not overlap, and every address of it tells its session.
func TestSpans(t *testing.T) {
	for _, r := range []hip.Span{{Base: 0x100000000000, Size: 1 << 40}, {Base: 0x200000000000, Size: 1 << 30}, {Base: 4096, Size: 3 << 30}} {
		for _, parts := range []uint32{1, 2, 3, 7, 64} {
			owner := map[uint64]int{} // by the first address
			var spans []hip.Span
			add := func(s hip.Span, part int) {
				spans = append(spans, s)
				owner[s.Base] = part
				if s.Size == 0 || !r.Contains(s.Base, s.Size) {
					t.Fatalf("%+v of %+v", s, r)
				}
			}
			add(HostSpan(r, parts), -1)
			for i := range parts {
				add(PlaceSpan(r, i, parts), int(i))
				add(OwnSpan(r, i, parts), int(i))
			}
			for i, a := range spans {
				for _, b := range spans[:i] {
					if a.Base < b.Base+b.Size && b.Base < a.Base+a.Size {
						t.Errorf("%d parts: %+v and %+v overlap", parts, a, b)
					}
				}
				want := owner[a.Base]
				for _, p := range []uint64{a.Base, a.Base + a.Size/2, a.Base + a.Size - 1} {
					got, ok := PartAt(r, parts, hip.Ptr(p))
					if ok != (want >= 0) || ok && int(got) != want {
						t.Errorf("%d parts: %#x is of %d, %v; want %d", parts, p, got, ok, want)
					}
				}
			}
			for _, p := range []uint64{0, r.Base - 1, r.Base + r.Size, ^uint64(0)} {
				if got, ok := PartAt(r, parts, hip.Ptr(p)); ok {
					t.Errorf("%#x, outside, is of %d", p, got)
				}
			}
		}
		whole := PlaceSpan(r, 0, 0)
		if own := OwnSpan(r, 0, 0); whole.Base != r.Base || own.Base != whole.Base+whole.Size || own.Base+own.Size != r.Base+r.Size || HostSpan(r, 0) != whole {
			t.Errorf("alone: %+v and %+v of %+v", whole, own, r)
		}
	}
}
