package smi

// XGMI is what a card's links to other cards do.
type XGMI struct {
	Hive   Opt[uint64] `json:"hive_id" msgpack:"h,omitempty"`          // the same for cards that are linked
	Node   Opt[uint64] `json:"node_id" msgpack:"n,omitempty"`          // place in the hive
	Lanes  Opt[int]    `json:"lanes" msgpack:"w,omitempty"`            // of one link
	Errors string      `json:"errors,omitempty" msgpack:"e,omitempty"` // one of the XGMI… constants
	Links  []XGMILink  `json:"links,omitempty" msgpack:"l,omitempty"`

	// Stale, when it is there, is how old these figures are, as Metrics.Stale.
	Stale Opt[Duration] `json:"stale_seconds" msgpack:"st,omitempty"`
}

// Whether a card's links had errors since they were last asked.
const (
	XGMINoErrors       = "none"
	XGMIError          = "one"
	XGMIMultipleErrors = "several"
)

// XGMILink is one link. Counters never fall while the driver is loaded.
type XGMILink struct {
	Peer         Opt[BDF]           `json:"peer_bdf" msgpack:"p,omitempty"`                      // the card at its other end
	State        string             `json:"state,omitempty" msgpack:"s,omitempty"`               // LinkUp, LinkDown or LinkDisabled
	Rate         Opt[BitsPerSecond] `json:"rate_bits_per_second" msgpack:"r,omitempty"`          // of one lane
	MaxBandwidth Opt[BitsPerSecond] `json:"max_bandwidth_bits_per_second" msgpack:"b,omitempty"` // of the link, one way
	Read         Opt[Bytes]         `json:"read_bytes" msgpack:"i,omitempty"`                    // by this card over the link
	Written      Opt[Bytes]         `json:"written_bytes" msgpack:"o,omitempty"`
}

// States of a link.
const (
	LinkUp       = "up"
	LinkDown     = "down"
	LinkDisabled = "disabled"
)
