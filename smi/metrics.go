package smi

import "time"

// Metrics is what a card measures at one moment.
type Metrics struct {
	Time         time.Time     `json:"time" msgpack:"ti"` // when the source read it
	Activity     Activity      `json:"activity" msgpack:"ac"`
	VRAM         MemoryUse     `json:"vram" msgpack:"vr"`
	GTT          MemoryUse     `json:"gtt" msgpack:"gt"` // the host's memory lent to the card
	Clocks       []Clock       `json:"clocks" msgpack:"cl,omitempty"`
	Power        Power         `json:"power" msgpack:"po"`
	Temperatures []Temperature `json:"temperatures" msgpack:"te,omitempty"`
	Energy       Opt[Joules]   `json:"energy_joules" msgpack:"en,omitempty"` // since the driver was loaded; never falls
}

// Activity is the share of the last moments in which an engine was busy.
type Activity struct {
	GFX Opt[Ratio] `json:"gfx_ratio" msgpack:"g,omitempty"` // compute and graphics
	UMC Opt[Ratio] `json:"umc_ratio" msgpack:"u,omitempty"` // memory controller
	MM  Opt[Ratio] `json:"mm_ratio" msgpack:"m,omitempty"`  // video engines
}

// MemoryUse is how full a memory is.
type MemoryUse struct {
	Total Opt[Bytes] `json:"total_bytes" msgpack:"t,omitempty"`
	Used  Opt[Bytes] `json:"used_bytes" msgpack:"u,omitempty"`
}

// Clock is one clock of the card. Several clocks of one domain (one for each
// chiplet) differ in Index.
type Clock struct {
	Domain    string     `json:"domain" msgpack:"d"` // one of the Clock… constants
	Index     int        `json:"index" msgpack:"i,omitempty"`
	Current   Opt[Hertz] `json:"current_hertz" msgpack:"c,omitempty"`
	Min       Opt[Hertz] `json:"min_hertz" msgpack:"l,omitempty"`
	Max       Opt[Hertz] `json:"max_hertz" msgpack:"h,omitempty"`
	Locked    Opt[bool]  `json:"locked" msgpack:"k,omitempty"`
	DeepSleep Opt[bool]  `json:"deep_sleep" msgpack:"s,omitempty"`
}

// Clock domains.
const (
	ClockGFX   = "gfx"
	ClockMem   = "mem"
	ClockSOC   = "soc"
	ClockDF    = "df"
	ClockVideo = "vclk"
	ClockData  = "dclk"
)

// Temperature is one sensor of the card.
type Temperature struct {
	Sensor   string       `json:"sensor" msgpack:"s"` // one of the Sensor… constants
	Current  Opt[Celsius] `json:"current_celsius" msgpack:"c,omitempty"`
	Limit    Opt[Celsius] `json:"limit_celsius" msgpack:"l,omitempty"`    // where clocks are lowered
	Shutdown Opt[Celsius] `json:"shutdown_celsius" msgpack:"x,omitempty"` // where the card goes off
}

// Temperature sensors; single HBM stacks are "hbm0", "hbm1", ….
const (
	SensorEdge    = "edge"
	SensorHotspot = "hotspot"
	SensorMem     = "mem"
)

// Power is what the card draws and may draw.
type Power struct {
	Socket     Opt[Watts] `json:"socket_watts" msgpack:"s,omitempty"`      // now
	Average    Opt[Watts] `json:"average_watts" msgpack:"a,omitempty"`     // the card's own running average
	Cap        Opt[Watts] `json:"cap_watts" msgpack:"c,omitempty"`         // the limit in force
	DefaultCap Opt[Watts] `json:"default_cap_watts" msgpack:"d,omitempty"` // the limit after a reset
	MinCap     Opt[Watts] `json:"min_cap_watts" msgpack:"l,omitempty"`     // range the limit may be set in
	MaxCap     Opt[Watts] `json:"max_cap_watts" msgpack:"h,omitempty"`
}

// Clock is the current frequency of a domain's first clock.
func (m *Metrics) Clock(domain string) Opt[Hertz] {
	for _, c := range m.Clocks {
		if c.Domain == domain {
			return c.Current
		}
	}
	return Opt[Hertz]{}
}

// Temperature is what a sensor shows.
func (m *Metrics) Temperature(sensor string) Opt[Celsius] {
	for _, t := range m.Temperatures {
		if t.Sensor == sensor {
			return t.Current
		}
	}
	return Opt[Celsius]{}
}

// Draw is the best figure for the power drawn: now, else the average.
func (p Power) Draw() Opt[Watts] {
	if p.Socket.Ok() {
		return p.Socket
	}
	return p.Average
}
