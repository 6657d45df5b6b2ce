package smi

import "context"

// Injector is a Source whose cards can be told to fail: simulated ones.
type Injector interface {
	// Inject makes a card suffer a fault until a Fault of the same Kind with Clear.
	// A Kind the card does not know is ErrInvalid and names those it does.
	Inject(ctx context.Context, index int, f Fault) error
}

// InjectorOf is the Injector behind src: src itself, or a source that it stands in
// front of and gives by Unwrap; nil if there is none.
func InjectorOf(src Source) Injector {
	in, _ := behind[Injector](src)
	return in
}

// Fault is what may go wrong with a card. Which fields matter depends on Kind.
type Fault struct {
	Kind  string `json:"kind" msgpack:"k"`                      // one of the Fault… constants
	Clear bool   `json:"clear,omitempty" msgpack:"x,omitempty"` // end it

	Block       string                  `json:"block,omitempty" msgpack:"b,omitempty"`                     // FaultECC: the part, default "umc"
	Error       string                  `json:"error,omitempty" msgpack:"e,omitempty"`                     // FaultECC: "correctable" (default), "uncorrectable", "deferred"
	Count       uint64                  `json:"count,omitempty" msgpack:"c,omitempty"`                     // FaultECC: how many, default 1
	Width       Opt[int]                `json:"width_lanes,omitzero" msgpack:"w,omitempty"`                // FaultLink
	Speed       Opt[TransfersPerSecond] `json:"speed_transfers_per_second,omitzero" msgpack:"s,omitempty"` // FaultLink
	Temperature Opt[Celsius]            `json:"celsius,omitzero" msgpack:"t,omitempty"`                    // FaultThermal: of the hot spot, default above its limit
}

// Faults.
const (
	FaultECC     = "ecc"     // errors are counted; nothing to clear
	FaultThermal = "thermal" // the card is too hot and lowers its clocks
	FaultHang    = "hang"    // queues do not get on
	FaultReset   = "reset"   // the card is reset: what runs on it is lost; nothing to clear
	FaultLink    = "link"    // the PCIe link is slower
	FaultGone    = "gone"    // the card does not answer at all
)
