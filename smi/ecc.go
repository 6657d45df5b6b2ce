package smi

import "math"

// ECC is how many errors a card had since its driver was loaded. The counters fall
// only when the card is reset.
type ECC struct {
	Correctable   Opt[uint64] `json:"correctable" msgpack:"c,omitempty"`
	Uncorrectable Opt[uint64] `json:"uncorrectable" msgpack:"u,omitempty"`
	Deferred      Opt[uint64] `json:"deferred" msgpack:"d,omitempty"` // found, but not used yet

	Blocks []ECCBlock `json:"blocks,omitempty" msgpack:"b,omitempty"`

	EEPROMVersion Opt[uint32] `json:"eeprom_version" msgpack:"e,omitempty"` // of the table of bad pages
	// Kinds of protection the card has.
	Parity       Opt[bool]   `json:"parity" msgpack:"p,omitempty"`
	SingleBit    Opt[bool]   `json:"single_bit_correction" msgpack:"s,omitempty"`
	DoubleBit    Opt[bool]   `json:"double_bit_detection" msgpack:"t,omitempty"`
	Poison       Opt[bool]   `json:"poison" msgpack:"o,omitempty"`
	BadPageLimit Opt[uint32] `json:"bad_page_limit" msgpack:"l,omitempty"` // bad pages after which the card is not to be used any more

	// Stale, when it is there, is how old these figures are, as Metrics.Stale.
	Stale Opt[Duration] `json:"stale_seconds" msgpack:"st,omitempty"`
}

// UncorrectableErrors is how many errors the card had that could not be corrected. A card may tell them of its parts and no
// total, or the other way round: it is the greater one of its total and of what its parts have together; 0 where it tells neither.
// Parts for which except is true are left out of both; nil leaves out none.
func (e *ECC) UncorrectableErrors(except func(block string) bool) uint64 {
	total, parts := e.Uncorrectable.Or(0), uint64(0)
	for i := range e.Blocks {
		n := e.Blocks[i].Uncorrectable.Or(0)
		if except != nil && except(e.Blocks[i].Block) {
			total -= min(total, n) // the card's total has them, too
		} else if parts += n; parts < n {
			parts = math.MaxUint64
		}
	}
	return max(total, parts)
}

// WornOut reports whether a card with so many bad pages is not to be used any more; false where it tells no limit.
func (e *ECC) WornOut(pages int) bool {
	limit, ok := e.BadPageLimit.Get()
	return ok && limit > 0 && pages >= int(limit)
}

// ECCBlocks are the parts of a card that all sources know, in the order of their bits
// in the kernel's ras/features and in AMD SMI's amdsmi_gpu_block_t.
var ECCBlocks = []string{
	"umc", "sdma", "gfx", "mmhub", "athub", "pcie_bif", "hdp", "xgmi_wafl", "df", "smn", "sem", "mp0", "mp1",
	"fuse", "mca", "vcn", "jpeg", "ih", "mpio",
}

// ECCBlock is one part of the card.
type ECCBlock struct {
	Block         string      `json:"block" msgpack:"n"`                     // as the kernel's RAS files name it, lower case; see ECCBlocks
	State         string      `json:"state,omitempty" msgpack:"s,omitempty"` // one of the RAS… constants
	Correctable   Opt[uint64] `json:"correctable" msgpack:"c,omitempty"`
	Uncorrectable Opt[uint64] `json:"uncorrectable" msgpack:"u,omitempty"`
	Deferred      Opt[uint64] `json:"deferred" msgpack:"d,omitempty"`
}

// States of a block's error protection.
const (
	RASEnabled  = "enabled"
	RASDisabled = "disabled"
)

// BadPage is a page of the card's memory that is no longer given out.
type BadPage struct {
	Address uint64 `json:"address" msgpack:"a"` // in the card's memory
	Size    Bytes  `json:"size_bytes" msgpack:"s"`
	State   string `json:"state" msgpack:"t"` // one of the Page… constants
}

// States of a bad page.
const (
	PageReserved     = "reserved"     // taken out of use
	PagePending      = "pending"      // will be, once nobody holds it
	PageUnreservable = "unreservable" // could not be
)
