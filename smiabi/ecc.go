package smiabi

import (
	"math"
	"math/bits"
	"slices"

	"github.com/rocwire/rocwire/smi"
)

// block is one part of the card; AMDSMI_STATUS_INVAL for what is no part at all.
func (c card) block(b gpuBlock) (smi.ECCBlock, status) {
	if b == 0 || b&(b-1) != 0 || b > AMDSMI_GPU_BLOCK_LAST {
		return smi.ECCBlock{}, AMDSMI_STATUS_INVAL
	}
	e, st := c.ecc()
	if st != AMDSMI_STATUS_SUCCESS {
		return smi.ECCBlock{}, st
	}
	if i := bits.TrailingZeros64(uint64(b)); i < len(smi.ECCBlocks) {
		for _, x := range e.Blocks {
			if x.Block == smi.ECCBlocks[i] {
				return x, AMDSMI_STATUS_SUCCESS
			}
		}
	}
	return smi.ECCBlock{}, AMDSMI_STATUS_NOT_SUPPORTED
}

// amdsmiGetGPUECCCount is how many errors a part had. A count that is not known is 0:
// the interface has no other way to say so.
func amdsmiGetGPUECCCount(c card, b gpuBlock, ec *errorCount) status {
	x, st := c.block(b)
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	return count(ec, x.Correctable, x.Uncorrectable, x.Deferred)
}

// amdsmiGetGPUTotalECCCount is how many errors the card had.
func amdsmiGetGPUTotalECCCount(c card, ec *errorCount) status {
	e, st := c.ecc()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	return count(ec, e.Correctable, e.Uncorrectable, e.Deferred)
}

func count(ec *errorCount, correctable, uncorrectable, deferred smi.Opt[uint64]) status {
	if !correctable.Ok() && !uncorrectable.Ok() && !deferred.Ok() {
		return AMDSMI_STATUS_NOT_SUPPORTED
	}
	*ec = errorCount{correctableCount: correctable.Or(0), uncorrectableCount: uncorrectable.Or(0), deferredCount: deferred.Or(0)}
	return AMDSMI_STATUS_SUCCESS
}

// amdsmiGetGPUECCEnabled is the parts whose protection is on, as bits.
func amdsmiGetGPUECCEnabled(c card, enabled *uint64) status {
	e, st := c.ecc()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	*enabled = 0
	for _, x := range e.Blocks {
		if i := slices.Index(smi.ECCBlocks, x.Block); i >= 0 && guarded(x) {
			*enabled |= 1 << i
		}
	}
	return AMDSMI_STATUS_SUCCESS
}

// amdsmiGetGPUECCStatus is whether a part's protection is on. Of a card that tells its
// protected parts, the others have none; a part that counts errors has it on.
func amdsmiGetGPUECCStatus(c card, b gpuBlock, state *rasErrState) status {
	x, st := c.block(b)
	if st == AMDSMI_STATUS_NOT_SUPPORTED {
		if e, est := c.ecc(); est != AMDSMI_STATUS_SUCCESS || len(e.Blocks) == 0 {
			return st
		}
		x, st = smi.ECCBlock{State: smi.RASDisabled}, AMDSMI_STATUS_SUCCESS
	}
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	if guarded(x) {
		*state = AMDSMI_RAS_ERR_STATE_ENABLED
	} else {
		*state = AMDSMI_RAS_ERR_STATE_DISABLED
	}
	return AMDSMI_STATUS_SUCCESS
}

// guarded is whether a part's protection is on.
func guarded(x smi.ECCBlock) bool {
	return x.State == smi.RASEnabled || x.State == "" && (x.Correctable.Ok() || x.Uncorrectable.Ok() || x.Deferred.Ok())
}

// amdsmiGetGPURASBlockFeaturesEnabled is the same question in other words.
func amdsmiGetGPURASBlockFeaturesEnabled(c card, b gpuBlock, state *rasErrState) status {
	return amdsmiGetGPUECCStatus(c, b, state)
}

// amdsmiGetGPURASFeatureInfo is which protections the card has.
func amdsmiGetGPURASFeatureInfo(c card, f *rasFeature) status {
	e, st := c.ecc()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	kinds := []smi.Opt[bool]{e.Parity, e.SingleBit, e.DoubleBit, e.Poison}
	known := e.EEPROMVersion.Ok()
	var flags uint32
	for bit, k := range kinds {
		known = known || k.Ok()
		if k.Or(false) {
			flags |= 1 << bit
		}
	}
	if !known {
		return AMDSMI_STATUS_NOT_SUPPORTED
	}
	*f = rasFeature{rasEepromVersion: e.EEPROMVersion.Or(math.MaxUint32), eccCorrectionSchemaFlag: flags}
	if e.Poison.Or(false) {
		f.rasInfo = 1 << 2 // poisoning
	}
	return AMDSMI_STATUS_SUCCESS
}
