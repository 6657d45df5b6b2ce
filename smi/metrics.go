package smi

import "time"

// Metrics is what a card measures at one moment.
type Metrics struct {
	Time         time.Time     `json:"time" msgpack:"ti"` // when the source read it
	Activity     Activity      `json:"activity" msgpack:"ac"`
	VRAM         MemoryUse     `json:"vram" msgpack:"vr"`
	VisibleVRAM  MemoryUse     `json:"visible_vram" msgpack:"vv"` // the part of VRAM that the host's processors reach: all of it with a large BAR
	GTT          MemoryUse     `json:"gtt" msgpack:"gt"`          // the host's memory lent to the card
	Clocks       []Clock       `json:"clocks" msgpack:"cl,omitempty"`
	Power        Power         `json:"power" msgpack:"po"`
	Temperatures []Temperature `json:"temperatures" msgpack:"te,omitempty"`
	Energy       Opt[Joules]   `json:"energy_joules" msgpack:"en,omitempty"` // since the driver was loaded; never falls
	Voltages     Voltages      `json:"voltages" msgpack:"vo"`
	Fans         []Fan         `json:"fans" msgpack:"fa,omitempty"`
	PCIe         PCIe          `json:"pcie" msgpack:"pc"`
	Throttle     Throttle      `json:"throttle" msgpack:"th"`
	PerfLevel    string        `json:"performance_level,omitempty" msgpack:"pl,omitempty"` // one of the Perf… constants

	// Stale, when it is there, is how old these figures are: the card did not answer
	// in time, and they are the last that it told.
	Stale Opt[Duration] `json:"stale_seconds" msgpack:"st,omitempty"`
}

// Activity is the share of the last moments in which an engine was busy.
type Activity struct {
	GFX Opt[Ratio] `json:"gfx_ratio" msgpack:"g,omitempty"` // compute and graphics
	UMC Opt[Ratio] `json:"umc_ratio" msgpack:"u,omitempty"` // memory controller
	MM  Opt[Ratio] `json:"mm_ratio" msgpack:"m,omitempty"`  // video engines

	Engines []Engine `json:"engines,omitempty" msgpack:"e,omitempty"` // single engines, where the card tells them apart
}

// Engine is one engine of the card.
type Engine struct {
	Kind  string     `json:"engine" msgpack:"k"` // one of the Engine… constants
	Index int        `json:"index" msgpack:"i,omitempty"`
	Busy  Opt[Ratio] `json:"busy_ratio" msgpack:"b,omitempty"`
}

// Kinds of engine.
const (
	EngineGFX  = "gfx" // one accelerator die (XCC)
	EngineVCN  = "vcn"
	EngineJPEG = "jpeg"
)

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
	ClockDCEF  = "dcef" // display
	ClockPCIe  = "pcie"
)

// Temperature is one sensor of the card.
type Temperature struct {
	Sensor   string       `json:"sensor" msgpack:"s"` // one of the Sensor… constants
	Current  Opt[Celsius] `json:"current_celsius" msgpack:"c,omitempty"`
	Limit    Opt[Celsius] `json:"limit_celsius" msgpack:"l,omitempty"`    // where clocks are lowered
	Shutdown Opt[Celsius] `json:"shutdown_celsius" msgpack:"x,omitempty"` // where the card goes off
}

// Temperature sensors; single HBM stacks are "hbm0", "hbm1", …, single dies "xcd0", ….
const (
	SensorEdge    = "edge"
	SensorHotspot = "hotspot"
	SensorMem     = "mem"
	SensorPLX     = "plx" // PCIe bridge
	SensorVRGFX   = "vr_gfx"
	SensorVRSOC   = "vr_soc"
	SensorVRMem   = "vr_mem"
)

// Power is what the card draws and may draw.
type Power struct {
	Socket     Opt[Watts] `json:"socket_watts" msgpack:"s,omitempty"`      // now
	Average    Opt[Watts] `json:"average_watts" msgpack:"a,omitempty"`     // the card's own running average
	Cap        Opt[Watts] `json:"cap_watts" msgpack:"c,omitempty"`         // the limit in force
	DefaultCap Opt[Watts] `json:"default_cap_watts" msgpack:"d,omitempty"` // the limit after a reset
	MinCap     Opt[Watts] `json:"min_cap_watts" msgpack:"l,omitempty"`     // range the limit may be set in
	MaxCap     Opt[Watts] `json:"max_cap_watts" msgpack:"h,omitempty"`
	Managed    Opt[bool]  `json:"managed" msgpack:"m,omitempty"` // power management is on
}

// Voltages of the card's rails.
type Voltages struct {
	GFX Opt[Volts] `json:"gfx_volts" msgpack:"g,omitempty"`
	SOC Opt[Volts] `json:"soc_volts" msgpack:"s,omitempty"`
	Mem Opt[Volts] `json:"mem_volts" msgpack:"m,omitempty"`
}

// Fan is one fan of the card; most cards of a data centre have none.
type Fan struct {
	Index int        `json:"index" msgpack:"i,omitempty"`
	Speed Opt[RPM]   `json:"speed_rpm" msgpack:"s,omitempty"`
	Duty  Opt[Ratio] `json:"duty_ratio" msgpack:"d,omitempty"` // of the highest speed
	Max   Opt[RPM]   `json:"max_speed_rpm" msgpack:"m,omitempty"`
}

// PCIe is what the card's link does now. Counters never fall while the driver is
// loaded.
type PCIe struct {
	Width           Opt[int]                `json:"width_lanes" msgpack:"w,omitempty"`
	Speed           Opt[TransfersPerSecond] `json:"speed_transfers_per_second" msgpack:"s,omitempty"` // per lane
	Bandwidth       Opt[BytesPerSecond]     `json:"bandwidth_bytes_per_second" msgpack:"b,omitempty"` // carried now, both ways together
	Sent            Opt[BytesPerSecond]     `json:"sent_bytes_per_second" msgpack:"tx,omitempty"`     // by the card
	Received        Opt[BytesPerSecond]     `json:"received_bytes_per_second" msgpack:"rx,omitempty"` // by the card
	Replays         Opt[uint64]             `json:"replays" msgpack:"r,omitempty"`
	ReplayRollovers Opt[uint64]             `json:"replay_rollovers" msgpack:"rr,omitempty"`
	Recoveries      Opt[uint64]             `json:"recoveries" msgpack:"l,omitempty"` // from L0
	NAKsSent        Opt[uint64]             `json:"naks_sent" msgpack:"ns,omitempty"`
	NAKsReceived    Opt[uint64]             `json:"naks_received" msgpack:"nr,omitempty"`
}

// Throttle is what keeps the card from running faster.
type Throttle struct {
	// Status is the card's own bit set of reasons, as the vendor defines it in
	// gpu_metrics (indep_throttle_status).
	Status Opt[uint64] `json:"status_bits" msgpack:"s,omitempty"`
	// Violations say for how long each limit was in force.
	Violations []Violation `json:"violations,omitempty" msgpack:"v,omitempty"`
}

// Violation is one limit that lowers the card's clocks.
type Violation struct {
	Kind   string        `json:"kind" msgpack:"k"`                    // one of the Violation… constants
	Index  int           `json:"index" msgpack:"i,omitempty"`         // of the die, for the limits that single dies have
	Total  Opt[Duration] `json:"total_seconds" msgpack:"t,omitempty"` // it was in force since the driver was loaded; never falls
	Ratio  Opt[Ratio]    `json:"ratio" msgpack:"r,omitempty"`         // of the last moments in which it was
	Active Opt[bool]     `json:"active" msgpack:"a,omitempty"`
}

// Limits that lower a card's clocks.
const (
	ViolationProcHot       = "prochot" // the baseboard asked for it
	ViolationPower         = "ppt"     // package power
	ViolationSocketThermal = "socket_thermal"
	ViolationVRThermal     = "vr_thermal"
	ViolationHBMThermal    = "hbm_thermal"
	ViolationHostLimit     = "gfx_clock_below_host_limit"       // of any cause
	ViolationHostPower     = "gfx_clock_below_host_limit_power" // of single dies, as the next two
	ViolationHostThermal   = "gfx_clock_below_host_limit_thermal"
	ViolationHostTotal     = "gfx_clock_below_host_limit_total"
	ViolationLowUse        = "low_utilization"
)

// Performance levels, as the kernel's power_dpm_force_performance_level names them.
const (
	PerfAuto        = "auto"
	PerfLow         = "low"
	PerfHigh        = "high"
	PerfManual      = "manual"
	PerfStandard    = "profile_standard"
	PerfPeak        = "profile_peak"
	PerfMinMem      = "profile_min_mclk"
	PerfMinGFX      = "profile_min_sclk"
	PerfDeterminism = "perf_determinism"
)

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
