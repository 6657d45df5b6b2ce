package smi

// Topology says how the cards of a machine reach each other.
type Topology struct {
	// Paths has an entry for every ordered pair of different cards.
	Paths []Path `json:"paths" msgpack:"p,omitempty"`
}

// Path is the way from one card to another.
type Path struct {
	From int `json:"from" msgpack:"f,omitempty"` // index of a card
	To   int `json:"to" msgpack:"t,omitempty"`

	Type   string      `json:"type,omitempty" msgpack:"y,omitempty"` // LinkPCIe or LinkXGMI
	Weight Opt[uint64] `json:"weight" msgpack:"w,omitempty"`         // the kernel's measure of distance
	Hops   Opt[uint64] `json:"hops" msgpack:"h,omitempty"`
	Access Opt[bool]   `json:"access" msgpack:"a,omitempty"` // one may address the other's memory

	Coherent      Opt[bool]           `json:"coherent" msgpack:"c,omitempty"`
	Atomics32     Opt[bool]           `json:"atomics_32bit" msgpack:"m,omitempty"`
	Atomics64     Opt[bool]           `json:"atomics_64bit" msgpack:"n,omitempty"`
	DMA           Opt[bool]           `json:"dma" msgpack:"d,omitempty"`
	Bidirectional Opt[bool]           `json:"bidirectional" msgpack:"b,omitempty"`
	MinBandwidth  Opt[BytesPerSecond] `json:"min_bandwidth_bytes_per_second" msgpack:"l,omitempty"`
	MaxBandwidth  Opt[BytesPerSecond] `json:"max_bandwidth_bytes_per_second" msgpack:"u,omitempty"`
}

// Kinds of path.
const (
	LinkPCIe = "PCIE"
	LinkXGMI = "XGMI"
)

// Path is the way from one card to another, nil if there is none.
func (t *Topology) Path(from, to int) *Path {
	for i := range t.Paths {
		if t.Paths[i].From == from && t.Paths[i].To == to {
			return &t.Paths[i]
		}
	}
	return nil
}
