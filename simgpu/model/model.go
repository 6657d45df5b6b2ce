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
package model

import (
	"math"

	"github.com/rocwire/rocwire/simgpu/card"
)

// Card is what distinguishes one product from another.
type Card struct {
	IdlePower float64 // nothing runs
	MaxPower  float64 // the power cap

	GFXIdle, GFXMax float64 // clocks
	MemIdle, MemMax float64
	SOCIdle, SOCMax float64

	Ambient float64
	// Degrees per watt above ambient in the steady state, and the time in
	// which 63 % of a change happens.
	EdgeRise, HotspotRise, MemRise    float64
	EdgeTau, HotspotTau, MemTau       float64
	EdgeLimit, HotspotLimit, MemLimit float64
	EdgeOff, HotspotOff, MemOff       float64
}

// Interval is what happened in a stretch of time.
type Interval struct {
	Seconds  float64
	Busy     float64 // seconds in which a kernel ran
	CopyBusy float64 // seconds of copies; copies may overlap
	Work     card.Work
}

// State is what a card carries from one interval to the next.
type State struct {
	Energy             float64 // joules
	Edge, Hotspot, Mem float64 // temperatures
}

// Reading is what a card showed during an interval.
type Reading struct {
	GFX, UMC           float64 // activity, 0 to 1
	Power              float64 // average of the interval
	GFXClock, MemClock float64
	SOCClock           float64
}

// Start is a card that has been idle for long.
func (c *Card) Start() State {
	return State{
		Edge:    c.Ambient + c.EdgeRise*c.IdlePower,
		Hotspot: c.Ambient + c.HotspotRise*c.IdlePower,
		Mem:     c.Ambient + c.MemRise*c.IdlePower,
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
	memoryFull = 64.0 // bytes per wave instruction with which the memory is busy all the time
	memoryPart = 0.25 // of the power is the memory's
	copyPart   = 0.20 // of the power between idle and cap for copies without kernels
)

// mix is the power of what was executed, as a share of the power between idle
// and the cap, and the share of the time in which memory was busy.
func mix(w *card.Work) (power, memory float64) {
	total := float64(w.TotalInstructions())
	if total == 0 {
		return unknownMix, 0
	}
	for i, n := range w.Instructions {
		share := float64(n) / total
		// Lanes that are switched off draw nothing.
		lanes := 1.0
		if n > 0 && w.Lanes[i] > 0 {
			lanes = math.Min(1, float64(w.Lanes[i])/(64*float64(n)))
		}
		power += weight[i] * share * (0.4 + 0.6*lanes)
	}
	memory = math.Min(1, (float64(w.ReadBytes)+float64(w.WriteBytes))/(total*memoryFull))
	return math.Min(1, power*(1-memoryPart)+memoryPart*memory), memory
}

// Read is what the card shows over an interval.
func (c *Card) Read(in Interval) Reading {
	if in.Seconds <= 0 {
		return Reading{Power: c.IdlePower, GFXClock: c.GFXIdle, MemClock: c.MemIdle, SOCClock: c.SOCIdle}
	}
	share := func(s float64) float64 { return math.Min(1, math.Max(0, s/in.Seconds)) }
	var r Reading
	r.GFX = share(in.Busy)
	copies := share(in.CopyBusy)
	power, memory := mix(&in.Work)
	r.UMC = math.Min(1, r.GFX*memory+copies*(1-r.GFX*memory))
	load := math.Min(1, r.GFX*power+copies*copyPart)
	r.Power = c.IdlePower + (c.MaxPower-c.IdlePower)*load
	// The core clock follows activity and gives way when the power nears the
	// cap: full load of the hungriest kind runs at three quarters.
	throttle := 1 - 0.25*math.Max(0, load-0.8)/0.2
	r.GFXClock = c.GFXIdle + (c.GFXMax*throttle-c.GFXIdle)*r.GFX
	r.MemClock = c.MemIdle + (c.MemMax-c.MemIdle)*math.Max(r.GFX, copies)
	r.SOCClock = c.SOCIdle + (c.SOCMax-c.SOCIdle)*math.Max(r.GFX, copies)
	return r
}

// Step is the state after an interval.
func (c *Card) Step(s State, in Interval) State {
	if in.Seconds <= 0 {
		return s
	}
	p := c.Read(in).Power
	s.Energy += p * in.Seconds
	s.Edge = approach(s.Edge, c.Ambient+c.EdgeRise*p, in.Seconds/c.EdgeTau)
	s.Hotspot = approach(s.Hotspot, c.Ambient+c.HotspotRise*p, in.Seconds/c.HotspotTau)
	s.Mem = approach(s.Mem, c.Ambient+c.MemRise*p, in.Seconds/c.MemTau)
	return s
}

// approach is the exact solution of a first-order change towards target over
// t time constants.
func approach(from, target, t float64) float64 {
	return target + (from-target)*math.Exp(-t)
}
