package simgpu

import (
	"cmp"
	"context"
	"slices"

	"github.com/rocwire/rocwire/smi"
)

// eccCount are the errors of one block.
type eccCount struct{ correctable, uncorrectable, deferred uint64 }

const (
	pageBytes = 4096
	// maxBadPages bounds how many bad pages are listed.
	maxBadPages = 4096
	// pageCover is how much memory the driver reckons with for each bad page it tolerates.
	pageCover = 100 << 20
)

// badPageLimit is how many pages may be bad before the card is not to be used.
func badPageLimit(capacity uint64) uint32 {
	return uint32(min(max(capacity/pageCover, 1), maxBadPages))
}

// ECC is how many errors were injected since the card was reset: there are no others.
func (s *Source) ECC(ctx context.Context, index int) (*smi.ECC, error) {
	var e *smi.ECC
	err := s.look(ctx, index, func(g *gauge) {
		c := s.product.chip
		e = &smi.ECC{
			EEPROMVersion: smi.Some(c.eeprom), Parity: smi.Some(false), SingleBit: smi.Some(true), DoubleBit: smi.Some(true), Poison: smi.Some(true),
			BadPageLimit: smi.Some(badPageLimit(g.now.Capacity)),
		}
		var sum eccCount
		for _, name := range smi.ECCBlocks {
			if c.unsafe[name] {
				e.Blocks = append(e.Blocks, smi.ECCBlock{Block: name, State: smi.RASDisabled})
				continue
			}
			var n eccCount
			if k := g.ecc[name]; k != nil {
				n = *k
			}
			sum.correctable = saturated(sum.correctable, n.correctable)
			sum.uncorrectable = saturated(sum.uncorrectable, n.uncorrectable)
			sum.deferred = saturated(sum.deferred, n.deferred)
			e.Blocks = append(e.Blocks, smi.ECCBlock{
				Block: name, State: smi.RASEnabled, Correctable: smi.Some(n.correctable), Uncorrectable: smi.Some(n.uncorrectable), Deferred: smi.Some(n.deferred),
			})
		}
		e.Correctable, e.Uncorrectable, e.Deferred = smi.Some(sum.correctable), smi.Some(sum.uncorrectable), smi.Some(sum.deferred)
	})
	return e, err
}

// maxErrors is where a counter of errors stops: no sentinel, and exact in JSON.
const maxErrors = 1<<53 - 1

func saturated(a, b uint64) uint64 {
	if a > maxErrors || b > maxErrors-a {
		return maxErrors
	}
	return a + b
}

// BadPages lists the pages that uncorrectable errors of the memory took out of use.
func (s *Source) BadPages(ctx context.Context, index int) ([]smi.BadPage, error) {
	list := []smi.BadPage{}
	err := s.look(ctx, index, func(g *gauge) { list = append(list, g.pages...) })
	if err != nil {
		return nil, err
	}
	return list, nil
}

// retire takes n more pages of a card's memory out of use; where they lie follows
// from how many there were. A page is pending while processes hold memory.
func (s *Source) retire(index int, n uint64) {
	g := &s.cards[index]
	total := g.now.Capacity / pageBytes
	state := smi.PageReserved
	if g.now.Used > 0 {
		state = smi.PagePending
	}
	// A step without a common divisor visits every page once.
	step := total/3 | 1
	for gcd(step, total) != 1 {
		step += 2
	}
	first := identity(s.product, "page", index)
	for ; n > 0 && len(g.pages) < maxBadPages && uint64(len(g.pages)) < total; n-- {
		page := (first%total + uint64(len(g.pages))%total*step) % total
		g.pages = append(g.pages, smi.BadPage{Address: page * pageBytes, Size: pageBytes, State: state})
	}
	g.pending = g.pending || state == smi.PagePending
	slices.SortFunc(g.pages, func(a, b smi.BadPage) int { return cmp.Compare(a.Address, b.Address) })
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// reserve takes pending pages out of use, once nobody holds them.
func (g *gauge) reserve() {
	for i := range g.pages {
		g.pages[i].State = smi.PageReserved
	}
	g.pending = false
}
