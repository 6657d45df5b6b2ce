package collector

import (
	"errors"
	"strconv"

	"github.com/rocwire/rocwire/smi"
)

func init() {
	register("ecc", func(*Options) collector { return eccCollector{} })
}

// The card's totals are a metric of their own: a sum over all series of either
// counts nothing twice.
var (
	eccErrors = define(counter, "gpu_ecc_errors_total",
		"Memory and data errors of the GPU since its driver was loaded: correctable, uncorrectable, deferred (found, not used yet).", "gpu", "severity")
	eccBlockErrors = define(counter, "gpu_ecc_block_errors_total",
		"Memory and data errors since the driver was loaded by the part of the GPU that had them: umc (memory controller), sdma, gfx, ….", "gpu", "block", "severity")
	eccEnabled  = define(gauge, "gpu_ecc_block_enabled", "1 if error protection of a part of the GPU is on, 0 if it is off.", "gpu", "block")
	eccFeature  = define(gauge, "gpu_ecc_feature_enabled", "1 if the GPU has a kind of protection, else 0: parity, single_bit_correction, double_bit_detection, poison.", "gpu", "feature")
	eccBadLimit = define(gauge, "gpu_ecc_bad_page_limit", "Bad pages after which the GPU is not to be used any more.", "gpu")
	eccInfo     = define(gauge, "gpu_ecc_info", "Version of the GPU's table of bad pages.", "gpu", "eeprom_version")
)

// eccCollector makes the error counters of the cards.
type eccCollector struct{}

func (eccCollector) update(v *View, emit *emitter) error {
	errs := []error{v.Err}
	for i := range v.Cards {
		c := &v.Cards[i]
		if !c.Fresh {
			continue
		}
		gpu := strconv.Itoa(c.Snap.Device.Index)
		stale := smi.Opt[smi.Duration]{}
		if c.Snap.ECC != nil {
			stale = c.Snap.ECC.Stale
			emit.gauge(eccStale, staleSeconds(c, stale), gpu)
		}
		e, err := current(v, c, c.Snap.ECC, c.Snap.ECCErr, stale, "errors")
		errs = append(errs, err)
		if e != nil {
			cardECC(gpu, e, emit)
		}
	}
	return errors.Join(errs...)
}

// Severities of errors.
const (
	correctable   = "correctable"
	uncorrectable = "uncorrectable"
	deferred      = "deferred"
)

func cardECC(gpu string, e *smi.ECC, emit *emitter) {
	counterOpt(emit, eccErrors, e.Correctable, gpu, correctable)
	counterOpt(emit, eccErrors, e.Uncorrectable, gpu, uncorrectable)
	counterOpt(emit, eccErrors, e.Deferred, gpu, deferred)
	for i := range e.Blocks {
		b := &e.Blocks[i]
		counterOpt(emit, eccBlockErrors, b.Correctable, gpu, b.Block, correctable)
		counterOpt(emit, eccBlockErrors, b.Uncorrectable, gpu, b.Block, uncorrectable)
		counterOpt(emit, eccBlockErrors, b.Deferred, gpu, b.Block, deferred)
		if b.State == smi.RASEnabled || b.State == smi.RASDisabled {
			boolOpt(emit, eccEnabled, smi.Some(b.State == smi.RASEnabled), gpu, b.Block)
		}
	}
	boolOpt(emit, eccFeature, e.Parity, gpu, "parity")
	boolOpt(emit, eccFeature, e.SingleBit, gpu, "single_bit_correction")
	boolOpt(emit, eccFeature, e.DoubleBit, gpu, "double_bit_detection")
	boolOpt(emit, eccFeature, e.Poison, gpu, "poison")
	gaugeOpt(emit, eccBadLimit, e.BadPageLimit, gpu)
	emit.info(eccInfo, gpu, hex(e.EEPROMVersion))
}
