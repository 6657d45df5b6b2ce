package sysfs

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/rocwire/rocwire/smi"
)

// rasBlocks are the parts of a card in the order of their bits in ras/features.
var rasBlocks = append(slices.Clone(smi.ECCBlocks), "mmsch")

// Kinds of protection in ras/schema.
const (
	schemaParity = 1 << iota
	schemaSingleBit
	schemaDoubleBit
	schemaPoison
)

// ECC implements smi.Source.
func (s *source) ECC(ctx context.Context, index int) (*smi.ECC, error) {
	return ask(ctx, s, "ecc", index, (*smi.ECC).Clone, s.ecc)
}

func (s *source) ecc(c *card) (*smi.ECC, error) {
	names, err := c.list("ras")
	if err != nil {
		return nil, c.lost(err)
	}
	e := &smi.ECC{}
	mask, masked := valueAfter(c, "ras/features", "feature mask:")
	for _, n := range names {
		block, ok := strings.CutSuffix(n, "_err_count")
		if !ok || !identifier(block) {
			continue
		}
		b := smi.ECCBlock{Block: block}
		if i := slices.Index(rasBlocks, block); i >= 0 && masked {
			b.State = smi.RASDisabled
			if mask>>i&1 != 0 {
				b.State = smi.RASEnabled
			}
		}
		text, err := c.text("ras/" + n)
		if err != nil {
			if lost := c.present(); lost != nil {
				return nil, lost
			}
		} else {
			parseErrors(text, &b)
		}
		e.Blocks = append(e.Blocks, b)
	}
	slices.SortFunc(e.Blocks, func(a, b smi.ECCBlock) int { return blockOrder(a.Block) - blockOrder(b.Block) })
	for _, b := range e.Blocks {
		add(&e.Correctable, b.Correctable)
		add(&e.Uncorrectable, b.Uncorrectable)
		add(&e.Deferred, b.Deferred)
	}
	if v, ok := valueAfter(c, "ras/version", "table version:"); ok && v < 0xffffffff {
		e.EEPROMVersion = smi.Some(uint32(v))
	}
	if v, ok := valueAfter(c, "ras/schema", "schema:"); ok {
		has := func(bit uint64) smi.Opt[bool] { return smi.Some(v&bit != 0) }
		e.Parity, e.SingleBit, e.DoubleBit, e.Poison = has(schemaParity), has(schemaSingleBit), has(schemaDoubleBit), has(schemaPoison)
	}
	// The parameter is -1 or -2 when the driver works the limit out itself.
	if v, err := c.tree.signed("sys/module/amdgpu/parameters/bad_page_threshold"); err == nil && v > 0 && v < 1<<31 {
		e.BadPageLimit = smi.Some(uint32(v))
	}
	return e, nil
}

func add(sum *smi.Opt[uint64], v smi.Opt[uint64]) {
	if n, ok := v.Get(); ok {
		*sum = smi.Some(sum.Or(0) + n)
	}
}

func blockOrder(name string) int {
	if i := slices.Index(rasBlocks, name); i >= 0 {
		return i
	}
	return len(rasBlocks)
}

// valueAfter is the number behind a word in a file, in hexadecimal with 0x.
func valueAfter(c *card, name, word string) (uint64, bool) {
	s, err := c.text(name)
	if err != nil {
		return 0, false
	}
	_, s, ok := strings.Cut(s, word)
	if !ok {
		return 0, false
	}
	f := strings.Fields(s)
	if len(f) == 0 {
		return 0, false
	}
	v, err := strconv.ParseUint(f[0], 0, 64)
	return v, err == nil
}

// parseErrors reads "ue: 0\nce: 4\nde: 0"; a card without deferred errors has no de.
func parseErrors(s string, b *smi.ECCBlock) {
	for line := range strings.Lines(s) {
		k, val, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok {
			continue
		}
		v, err := strconv.ParseUint(strings.TrimSpace(val), 10, 64)
		if err != nil {
			continue
		}
		switch k {
		case "ue":
			b.Uncorrectable = count(v)
		case "ce":
			b.Correctable = count(v)
		case "de":
			b.Deferred = count(v)
		}
	}
}

// BadPages implements smi.Source.
func (s *source) BadPages(ctx context.Context, index int) ([]smi.BadPage, error) {
	return ask(ctx, s, "pages", index, slices.Clone[[]smi.BadPage], s.badPages)
}

func (s *source) badPages(c *card) (pages []smi.BadPage, err error) {
	err = c.tree.with(c.at("ras/gpu_vram_bad_pages"), maxPages, func(b []byte) error {
		pages = parseBadPages(string(b))
		return nil
	})
	return pages, c.lost(err)
}

// rasPageShift turns the kernel's page number into an address: pages of 4 KiB.
const rasPageShift = 12

var pageStates = map[string]string{"R": smi.PageReserved, "P": smi.PagePending, "F": smi.PageUnreservable}

// parseBadPages reads lines "0x00000001 : 0x00001000 : R" of page number, size and
// state.
func parseBadPages(s string) (pages []smi.BadPage) {
	for line := range strings.Lines(s) {
		f := strings.Split(strings.TrimSpace(line), ":")
		if len(f) != 3 {
			continue
		}
		page, ok1 := hexID(strings.TrimSpace(f[0]))
		size, ok2 := hexID(strings.TrimSpace(f[1]))
		state := pageStates[strings.TrimSpace(f[2])]
		if !ok1 || !ok2 || state == "" || page >= 1<<(56-rasPageShift) || size == 0 || size > 1<<30 {
			continue
		}
		pages = append(pages, smi.BadPage{Address: page << rasPageShift, Size: smi.Bytes(size), State: state})
	}
	return pages
}
