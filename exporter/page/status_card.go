package page

import (
	"cmp"
	"math"
	"slices"

	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/smi"
)

// States of a card.
const (
	StateOK      = "ok"      // it tells its figures
	StatePartial = "partial" // some of them could not be read; Problems say why
	StateStale   = "stale"   // some of them are the last it told, and it did not answer in time since
	StateGone    = "gone"    // it is asked and tells nothing at all; Problems say why
	StateSilent  = "silent"  // nothing recent is known
)

// Card is one card as it is now.
type Card struct {
	Index  int          `json:"gpu"`
	Name   string       `json:"name"`
	UUID   string       `json:"uuid"`
	BDF    string       `json:"bdf"`
	Target string       `json:"target"`
	State  string       `json:"state"`
	Age    smi.Duration `json:"age_seconds"`
	// Problems are why some figures are not there.
	Problems []string `json:"problems"`

	Busy       smi.Opt[smi.Ratio] `json:"busy_ratio"`
	MemoryBusy smi.Opt[smi.Ratio] `json:"memory_busy_ratio"`
	VideoBusy  smi.Opt[smi.Ratio] `json:"video_busy_ratio"`
	VRAMUsed   smi.Opt[smi.Bytes] `json:"vram_used_bytes"`
	VRAMSize   smi.Opt[smi.Bytes] `json:"vram_size_bytes"`
	GTTUsed    smi.Opt[smi.Bytes] `json:"gtt_used_bytes"`
	Power      smi.Opt[smi.Watts] `json:"power_watts"`
	PowerCap   smi.Opt[smi.Watts] `json:"power_cap_watts"`
	// Energy since the driver was loaded.
	Energy smi.Opt[smi.Joules] `json:"energy_joules"`

	Temperatures []Temperature `json:"temperatures"`
	Clocks       []Clock       `json:"clocks"`
	Fans         []Fan         `json:"fans"`
	PCIe         PCIe          `json:"pcie"`
	Throttle     []string      `json:"throttle"` // limits that lower the clocks now
	Performance  string        `json:"performance_level"`

	// Errors since the driver was loaded; of a card that tells them no more the last it told.
	Correctable   smi.Opt[uint64] `json:"ecc_correctable_total"`
	Uncorrectable smi.Opt[uint64] `json:"ecc_uncorrectable_total"`
	Deferred      smi.Opt[uint64] `json:"ecc_deferred_total"`

	Voltages  Voltages     `json:"voltages"`
	Partition Partition    `json:"partition"`
	BadPages  smi.Opt[int] `json:"bad_pages"`
	Links     []Link       `json:"xgmi_links"`
	Events    []Event      `json:"events"` // what its driver reported since the exporter began to listen

	ComputeUnits smi.Opt[int] `json:"compute_units"`
	MemoryType   string       `json:"vram_type"`
	Driver       string       `json:"driver"`
	VBIOS        string       `json:"vbios"`
	Processes    smi.Opt[int] `json:"processes"`
}

// Temperature is one sensor.
type Temperature struct {
	Sensor  string               `json:"sensor"`
	Celsius smi.Opt[smi.Celsius] `json:"celsius"`
	Limit   smi.Opt[smi.Celsius] `json:"limit_celsius"`
}

// Clock is one clock domain: its fastest clock.
type Clock struct {
	Domain string             `json:"domain"`
	Hertz  smi.Opt[smi.Hertz] `json:"hertz"`
	Max    smi.Opt[smi.Hertz] `json:"max_hertz"`
}

// Fan is one fan.
type Fan struct {
	Speed smi.Opt[smi.RPM]   `json:"speed_rpm"`
	Duty  smi.Opt[smi.Ratio] `json:"duty_ratio"`
}

// PCIe is the card's link.
type PCIe struct {
	Width    smi.Opt[int]                    `json:"width_lanes"`
	MaxWidth smi.Opt[int]                    `json:"max_width_lanes"`
	Speed    smi.Opt[smi.TransfersPerSecond] `json:"speed_transfers_per_second"`
	MaxSpeed smi.Opt[smi.TransfersPerSecond] `json:"max_speed_transfers_per_second"`
	Sent     smi.Opt[smi.BytesPerSecond]     `json:"sent_bytes_per_second"`
	Received smi.Opt[smi.BytesPerSecond]     `json:"received_bytes_per_second"`
	Replays  smi.Opt[uint64]                 `json:"replays_total"`
}

// Voltages of the card's rails.
type Voltages struct {
	GFX smi.Opt[smi.Volts] `json:"gfx_volts"`
	SOC smi.Opt[smi.Volts] `json:"soc_volts"`
	Mem smi.Opt[smi.Volts] `json:"mem_volts"`
}

// Partition is how the card is divided; empty is not known.
type Partition struct {
	Compute string `json:"compute"`
	Memory  string `json:"memory"`
}

// Link is one link to another card.
type Link struct {
	Peer  string `json:"peer_bdf"`
	State string `json:"state"`
}

// Event is how often something happened.
type Event struct {
	Kind  string `json:"kind"`
	Count uint64 `json:"count"`
}

// maxParts is how many sensors, clocks or fans of one card are shown.
const maxParts = 32

func cardOf(c *exporter.Card) Card {
	d := &c.Device
	v := Card{
		Index: d.Index, Name: clean(d.Name), UUID: clean(d.UUID), Target: clean(d.Target), State: StateOK, Age: smi.Duration(c.Age),
		Problems: []string{}, Temperatures: []Temperature{}, Clocks: []Clock{}, Fans: []Fan{}, Throttle: []string{},
		Links: []Link{}, Events: []Event{},
	}
	if b, ok := d.BDF.Get(); ok {
		v.BDF = b.String()
	}
	if !c.Fresh {
		v.State = StateSilent
		return v
	}
	for _, f := range []*smi.Failure{c.MetricsErr, c.ProcessesErr, c.ECCErr, c.InfoErr} {
		if f != nil && f.Code != smi.ErrNotSupported {
			v.State = StatePartial
			if why := reason(f.Err()); !slices.Contains(v.Problems, why) {
				v.Problems = append(v.Problems, why)
			}
		}
	}
	if v.State == StatePartial && c.Metrics == nil && c.ECC == nil && len(c.Processes) == 0 {
		v.State = StateGone
	}
	if i := c.Info; i != nil {
		v.info(i)
	}
	if m := c.Metrics; m != nil {
		v.metrics(m)
		v.stale(m.Stale)
	}
	if e := c.ECC; e != nil {
		v.Correctable, v.Uncorrectable, v.Deferred = e.Correctable, e.Uncorrectable, e.Deferred
		v.stale(e.Stale)
	}
	v.detail(&c.Detail)
	if c.ProcessesErr == nil {
		v.Processes = smi.Some(len(c.Processes))
		v.stale(c.ProcessesStale)
	}
	return v
}

// stale notes that some figures are older than their reading.
func (v *Card) stale(age smi.Opt[smi.Duration]) {
	if d, ok := age.Get(); ok {
		v.State = StateStale
		v.Age = max(v.Age, d)
	}
}

func (v *Card) info(i *smi.Info) {
	v.ComputeUnits, v.MemoryType = i.ASIC.ComputeUnits, clean(i.VRAM.Type)
	v.Driver, v.VBIOS = clean(joinWords(i.Driver.Name, i.Driver.Version)), clean(cmp.Or(i.VBIOS.Version, i.VBIOS.PartNumber))
	v.PCIe.MaxWidth, v.PCIe.MaxSpeed = i.PCIe.MaxWidth, finite(i.PCIe.MaxSpeed)
	v.VRAMSize = i.VRAM.Size
}

func joinWords(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + " " + b
}

func (v *Card) metrics(m *smi.Metrics) {
	v.Busy, v.MemoryBusy, v.VideoBusy = finite(m.Activity.GFX), finite(m.Activity.UMC), finite(m.Activity.MM)
	v.VRAMUsed, v.GTTUsed = m.VRAM.Used, m.GTT.Used
	if m.VRAM.Total.Ok() {
		v.VRAMSize = m.VRAM.Total
	}
	v.Power, v.PowerCap, v.Energy = finite(m.Power.Draw()), finite(m.Power.Cap), finite(m.Energy)
	v.Performance = clean(m.PerfLevel)
	v.Voltages = Voltages{finite(m.Voltages.GFX), finite(m.Voltages.SOC), finite(m.Voltages.Mem)}
	for _, t := range m.Temperatures[:min(len(m.Temperatures), maxParts)] {
		v.Temperatures = append(v.Temperatures, Temperature{clean(t.Sensor), finite(t.Current), finite(t.Limit)})
	}
	for _, c := range m.Clocks[:min(len(m.Clocks), maxParts)] {
		v.clock(Clock{clean(c.Domain), finite(c.Current), finite(c.Max)})
	}
	for _, f := range m.Fans[:min(len(m.Fans), maxParts)] {
		v.Fans = append(v.Fans, Fan{finite(f.Speed), finite(f.Duty)})
	}
	v.PCIe.Width, v.PCIe.Speed = m.PCIe.Width, finite(m.PCIe.Speed)
	v.PCIe.Sent, v.PCIe.Received, v.PCIe.Replays = finite(m.PCIe.Sent), finite(m.PCIe.Received), m.PCIe.Replays
	for _, x := range m.Throttle.Violations[:min(len(m.Throttle.Violations), maxParts)] {
		if x.Active.Or(false) && x.Kind != smi.ViolationLowUse {
			v.Throttle = append(v.Throttle, clean(x.Kind))
		}
	}
}

func (v *Card) detail(d *exporter.Detail) {
	if p := d.Partitions; p != nil {
		v.Partition = Partition{clean(p.Compute), clean(p.Memory)}
	}
	if d.BadPages != nil {
		v.BadPages = smi.Some(len(d.BadPages))
	}
	if x := d.XGMI; x != nil {
		for _, l := range x.Links[:min(len(x.Links), maxParts)] {
			k := Link{State: clean(l.State)}
			if b, ok := l.Peer.Get(); ok {
				k.Peer = b.String()
			}
			v.Links = append(v.Links, k)
		}
	}
}

func (v *Card) events(list []exporter.EventCount) {
	for _, e := range list {
		if e.Device == v.Index && e.Count > 0 && len(v.Events) < maxParts {
			v.Events = append(v.Events, Event{clean(e.Kind), e.Count})
		}
	}
}

// clock adds a clock; of one domain the fastest is kept.
func (v *Card) clock(c Clock) {
	for i := range v.Clocks {
		if k := &v.Clocks[i]; k.Domain == c.Domain {
			if c.Hertz.Or(-1) > k.Hertz.Or(-1) {
				*k = c
			}
			return
		}
	}
	v.Clocks = append(v.Clocks, c)
}

// finite is v if JSON can tell it.
func finite[T ~float64](v smi.Opt[T]) smi.Opt[T] {
	if f := float64(v.Or(0)); math.IsNaN(f) || math.IsInf(f, 0) {
		return smi.None[T]()
	}
	return v
}
