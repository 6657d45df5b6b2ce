// Package model says how warm, fast and hungry a simulated card is for what it
// executes. It is a pure function of counters and time: no clock, no
// randomness.
//
// The simulator is slower than a card by a factor that depends on the machine
// it runs on, so absolute rates say nothing. What counts is the share of time
// in which the card worked, and what the work consisted of: a card that spends
// all its time in matrix instructions draws its limit, one that waits in
// scalar code far less. Times are in seconds, power in watts, temperatures in
// degrees Celsius, clocks in hertz.
//
// What the card is allowed (Limits: power cap, clock ranges) and how hot it is
// decide what its work gets. The core clock f is the lowest of what the work, the
// limits and the temperature allow, and power above idle goes with f²: voltage
// falls with the clock, though not to nothing.
package model

import (
	"math"

	"github.com/rocwire/rocwire/simgpu/card"
)

// Card is what distinguishes one product from another.
type Card struct {
	WaveSize  float64 // lanes of a wave
	IdlePower float64 // nothing runs
	MaxPower  float64 // the power cap

	GFXIdle, GFXMax float64 // clocks; below the lowest that can be set (GFXMin) the core sleeps
	MemIdle, MemMax float64
	SOCIdle, SOCMax float64
	GFXMin          float64 // 0: GFXIdle

	GFXVoltsMin, GFXVoltsMax float64 // at GFXMin and GFXMax

	Ambient float64
	// Degrees per watt above ambient in the steady state, and the time in
	// which 63 % of a change happens.
	EdgeRise, HotspotRise, MemRise    float64
	EdgeTau, HotspotTau, MemTau       float64
	VRRise, VRTau                     float64 // voltage regulators
	EdgeLimit, HotspotLimit, MemLimit float64
	EdgeOff, HotspotOff, MemOff       float64
}

// Interval is what happened in a stretch of time.
type Interval struct {
	Seconds  float64
	Busy     float64 // seconds in which a kernel ran
	CopyBusy float64 // seconds of copies; copies may overlap
	UnitTime float64 // seconds × compute units that kernels could fill
	Stalled  bool    // what runs does not get on
	Work     card.Work
}

// State is what a card carries from one interval to the next.
type State struct {
	Energy                 float64 // joules
	Edge, Hotspot, Mem, VR float64 // temperatures

	// Seconds in which power, temperature and either of the two held it back.
	PowerLimited, HeatLimited, Limited float64
}

// Reading is what a card showed during an interval.
type Reading struct {
	GFX, UMC           float64 // activity, 0 to 1
	Units              float64 // compute units that were filled while kernels ran
	Power              float64 // average of the interval
	GFXClock, MemClock float64
	SOCClock           float64
	GFXVolts           float64

	Speed                     float64 // of the core compared with a card of the same load without limits; 1: not held back
	PowerLimited, HeatLimited float64 // share of the interval in which power and temperature held it back
}

// Start is a card that has been idle for long.
func (c *Card) Start() State {
	return State{
		Edge:    c.Ambient + c.EdgeRise*c.IdlePower,
		Hotspot: c.Ambient + c.HotspotRise*c.IdlePower,
		Mem:     c.Ambient + c.MemRise*c.IdlePower,
		VR:      c.Ambient + c.VRRise*c.IdlePower,
	}
}

// weight is what an instruction of a class draws, as a share of the power
// between idle and the cap, when the card executes nothing else.
var weight = [card.NumClasses]float64{
	card.SALU:   0.30,
	card.SMEM:   0.35,
	card.Branch: 0.25,
	card.VALU:   0.75,
	card.MFMA:   1.00,
	card.VMEM:   0.65,
	card.LDS:    0.55,
}

const (
	unknownMix = 0.5  // a kernel that has not reported what it executes yet
	memoryFull = 1.0  // bytes per lane of a wave and instruction with which the memory is busy all the time
	memoryPart = 0.25 // of the power is the memory's
	stalled    = 0.10 // a kernel that does not get on
	holdPart   = 0.08 // of the power between idle and cap for an idle core that is held at its highest clock
	copyPart   = 0.20 // of the power between idle and cap for copies without kernels
)

// mix is the power of what was executed, as a share of the power between idle
// and the cap, and the share of the time in which memory was busy.
func (c *Card) mix(w *card.Work) (power, memory float64) {
	total := float64(w.TotalInstructions())
	if total == 0 {
		return unknownMix, 0
	}
	for i, n := range w.Instructions {
		share := float64(n) / total
		// Lanes that are switched off draw nothing.
		lanes := 1.0
		if n > 0 && w.Lanes[i] > 0 {
			lanes = math.Min(1, float64(w.Lanes[i])/(c.WaveSize*float64(n)))
		}
		power += weight[i] * share * (0.4 + 0.6*lanes)
	}
	memory = math.Min(1, (float64(w.ReadBytes)+float64(w.WriteBytes))/(total*c.WaveSize*memoryFull))
	return math.Min(1, power*(1-memoryPart)+memoryPart*memory), memory
}

// Read is what the card shows over an interval, at a temperature of its hot spot
// and under limits.
func (c *Card) Read(in Interval, hotspot float64, l *Limits) Reading {
	gfx, mem, soc := c.clocks(l)
	r := Reading{GFXClock: gfx.rest, MemClock: mem.rest, SOCClock: soc.rest, Speed: 1}
	idle := c.IdlePower + c.holding(gfx)
	r.Power = math.Min(idle, c.cap(l))
	r.GFXVolts = c.volts(r.GFXClock)
	if in.Seconds <= 0 {
		return r
	}
	share := func(s float64) float64 { return math.Min(1, math.Max(0, s/in.Seconds)) }
	r.GFX = share(in.Busy)
	if in.Busy > 0 {
		r.Units = in.UnitTime / in.Busy
	}
	copies := share(in.CopyBusy)
	power, memory := c.mix(&in.Work)
	if in.Stalled {
		power, memory = stalled, 0
	}
	r.UMC = math.Min(1, r.GFX*memory+copies*(1-r.GFX*memory))
	load := math.Min(1, r.GFX*power+copies*copyPart)

	// The core clock gives way when the power nears the highest cap: full load of the
	// hungriest kind runs at three quarters of it.
	near := math.Max(0, load-0.8) / 0.2
	free := c.GFXMax * (1 - 0.25*near)
	low := c.lowest()
	heat := low + (free-low)*c.heat(hotspot)
	clock := math.Min(math.Min(free, gfx.high), heat)
	dynamic := (c.MaxPower - c.IdlePower) * load * square(clock/free)
	if room := math.Max(0, c.cap(l)-idle); dynamic > room {
		clock = math.Max(low, clock*math.Sqrt(room/dynamic))
		dynamic = room
		near = 1
	}
	r.Power = math.Min(idle+dynamic, c.cap(l))
	r.Speed = math.Min(1, clock/free)
	if near > 0 {
		r.PowerLimited = r.GFX
	}
	if c.heat(hotspot) < 1 {
		r.HeatLimited = 1
	}
	r.GFXClock = gfx.rest + (clock-gfx.rest)*r.GFX
	r.MemClock = mem.rest + (mem.high-mem.rest)*math.Max(r.GFX, copies)
	r.SOCClock = soc.rest + (soc.high-soc.rest)*math.Max(r.GFX, copies)
	r.GFXVolts = c.volts(r.GFXClock)
	return r
}

func square(x float64) float64 { return x * x }

// Step is the state after an interval.
func (c *Card) Step(s State, in Interval, l *Limits) State {
	if in.Seconds <= 0 {
		return s
	}
	r := c.Read(in, s.Hotspot, l)
	s.Energy += r.Power * in.Seconds
	s.PowerLimited += r.PowerLimited * in.Seconds
	s.HeatLimited += r.HeatLimited * in.Seconds
	s.Limited += math.Max(r.PowerLimited, r.HeatLimited) * in.Seconds
	s.Edge = approach(s.Edge, c.Ambient+c.EdgeRise*r.Power, in.Seconds/c.EdgeTau)
	s.Mem = approach(s.Mem, c.Ambient+c.MemRise*r.Power, in.Seconds/c.MemTau)
	if c.VRTau > 0 {
		s.VR = approach(s.VR, c.Ambient+c.VRRise*r.Power, in.Seconds/c.VRTau)
	}
	s.Hotspot = approach(s.Hotspot, c.Ambient+c.HotspotRise*r.Power, in.Seconds/c.HotspotTau)
	if l != nil && l.Heat > 0 {
		s.Hotspot = l.Heat
	}
	return s
}

// approach is the exact solution of a first-order change towards target over
// t time constants.
func approach(from, target, t float64) float64 {
	return target + (from-target)*math.Exp(-t)
}
