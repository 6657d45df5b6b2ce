package smi

// Setting is one change of a card. Exactly one of its fields is set.
type Setting struct {
	PowerCap         Opt[Watts]  `json:"power_cap_watts,omitzero" msgpack:"p,omitempty"`
	PerfLevel        string      `json:"performance_level,omitempty" msgpack:"l,omitempty"` // one of the Perf… constants
	Clock            *ClockRange `json:"clock,omitempty" msgpack:"c,omitempty"`
	Determinism      Opt[Hertz]  `json:"determinism_hertz,omitzero" msgpack:"d,omitempty"` // sets PerfDeterminism with this GFX clock
	Fan              Opt[Ratio]  `json:"fan_duty_ratio,omitzero" msgpack:"f,omitempty"`
	FanAuto          bool        `json:"fan_auto,omitempty" msgpack:"fa,omitempty"` // the card's own control
	ComputePartition string      `json:"compute_partition,omitempty" msgpack:"cp,omitempty"`
	MemoryPartition  string      `json:"memory_partition,omitempty" msgpack:"mp,omitempty"`
	Reset            bool        `json:"reset,omitempty" msgpack:"r,omitempty"` // of the whole card: all work on it is lost
}

// ClockRange is the range a clock may run in.
type ClockRange struct {
	Domain string     `json:"domain" msgpack:"d"`                       // one of the Clock… constants
	Min    Opt[Hertz] `json:"min_hertz,omitzero" msgpack:"l,omitempty"` // as it is, if not available
	Max    Opt[Hertz] `json:"max_hertz,omitzero" msgpack:"h,omitempty"`
}

// Check says whether exactly one field is set.
func (s *Setting) Check() error {
	n := 0
	for _, set := range []bool{
		s.PowerCap.Ok(), s.PerfLevel != "", s.Clock != nil, s.Determinism.Ok(), s.Fan.Ok(), s.FanAuto,
		s.ComputePartition != "", s.MemoryPartition != "", s.Reset,
	} {
		if set {
			n++
		}
	}
	if n != 1 {
		return Errorf(ErrInvalid, "a setting changes one thing, not %d", n)
	}
	return nil
}
