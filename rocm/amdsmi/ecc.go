package amdsmi

import (
	"context"

	"github.com/rocwire/rocwire/smi"
)

// ECC implements smi.Source.
func (s *Source) ECC(ctx context.Context, index int) (*smi.ECC, error) {
	return ask(ctx, s, index, askECC, (*reader).ecc)
}

func (r *reader) ecc() (*smi.ECC, error) {
	l := &r.l().errorCount
	b := r.get(fnTotalECC, l.size)
	e := &smi.ECC{
		Correctable: b.counter(l.correctableCount), Uncorrectable: b.counter(l.uncorrectableCount), Deferred: b.counter(l.deferredCount),
	}
	if enabled, ok := r.getUint64(fnECCEnabled).Get(); ok {
		for i, name := range smi.ECCBlocks {
			e.Blocks = append(e.Blocks, r.eccBlock(name, 1<<i, enabled))
		}
	}
	f := &r.l().rasFeature
	b = r.get(fnRASFeature, f.size)
	e.EEPROMVersion = asUint32(b.num(f.rasEepromVersion))
	if bits, ok := b.num(f.eccCorrectionSchemaFlag).Get(); ok {
		has := func(bit int) smi.Opt[bool] { return smi.Some(bits>>bit&1 == 1) }
		e.Parity, e.SingleBit, e.DoubleBit, e.Poison = has(0), has(1), has(2), has(3)
	}
	e.BadPageLimit = asUint32(r.getUint32(fnBadPageThreshold))
	return answer(r, e)
}

// eccBlock is one part of the card. One whose protection is off counts nothing, and
// the library is not asked.
func (r *reader) eccBlock(name string, bit, enabled uint64) smi.ECCBlock {
	if enabled&bit == 0 {
		return smi.ECCBlock{Block: name, State: smi.RASDisabled}
	}
	l := &r.l().errorCount
	b := r.get(fnBlockECC, l.size, bit)
	return smi.ECCBlock{
		Block: name, State: smi.RASEnabled,
		Correctable: b.counter(l.correctableCount), Uncorrectable: b.counter(l.uncorrectableCount), Deferred: b.counter(l.deferredCount),
	}
}
