package model

import "math"

// Limits are what a card is held to. The zero value, and nil, hold it to nothing
// but what the product can do.
type Limits struct {
	PowerCap      float64 // watts, 0: MaxPower
	GFX, Mem, SOC Range   // that the clocks may run in
	// Heat, when it is not 0, is a temperature at which the hot spot is held from
	// outside.
	Heat float64
}

// Range is a range of clocks; a zero bound is the product's.
type Range struct{ Low, High float64 }

// clock is what a domain may do: it rests when there is nothing to do, and is not
// driven below low or above high when there is.
type clock struct{ rest, low, high float64 }

// clocks are what the limits leave of the product's clocks.
func (c *Card) clocks(l *Limits) (gfx, mem, soc clock) {
	if l == nil {
		l = &Limits{}
	}
	// A clock that is held above where it rests does not rest; one that is held below
	// its lowest setting does not exist.
	left := func(r Range, rest, lowest, highest float64) clock {
		k := clock{rest, lowest, highest}
		if r.High > 0 {
			k.high = math.Max(math.Min(r.High, highest), lowest)
			k.rest = math.Min(rest, k.high)
		}
		if r.Low > 0 {
			k.low = math.Min(math.Max(r.Low, lowest), k.high)
			if k.low > lowest {
				k.rest = math.Max(k.rest, k.low)
			}
		}
		return k
	}
	return left(l.GFX, c.GFXIdle, c.lowest(), c.GFXMax), left(l.Mem, c.MemIdle, c.MemIdle, c.MemMax), left(l.SOC, c.SOCIdle, c.SOCIdle, c.SOCMax)
}

// lowest is the lowest clock that the core works at.
func (c *Card) lowest() float64 {
	if c.GFXMin > 0 {
		return c.GFXMin
	}
	return c.GFXIdle
}

// cap is the power cap in force.
func (c *Card) cap(l *Limits) float64 {
	if l == nil || l.PowerCap <= 0 {
		return c.MaxPower
	}
	return l.PowerCap
}

// holding is the power of an idle core that is not allowed to rest.
func (c *Card) holding(k clock) float64 {
	if k.rest <= c.GFXIdle || c.GFXMax <= c.GFXIdle {
		return 0
	}
	return holdPart * (c.MaxPower - c.IdlePower) * square((k.rest-c.GFXIdle)/(c.GFXMax-c.GFXIdle))
}

// heat is what is left of the way from the lowest clock to the highest at a
// temperature of the hot spot: all of it up to the limit, nothing where the card
// would go off.
func (c *Card) heat(hotspot float64) float64 {
	if c.HotspotOff <= c.HotspotLimit || hotspot <= c.HotspotLimit {
		return 1
	}
	return math.Max(0, 1-(hotspot-c.HotspotLimit)/(c.HotspotOff-c.HotspotLimit))
}

// TooHot reports whether a temperature of the hot spot lowers the clocks.
func (c *Card) TooHot(hotspot float64) bool { return c.heat(hotspot) < 1 }

// volts is the core's voltage at a clock: a straight line between the lowest clock
// and the highest.
func (c *Card) volts(clock float64) float64 {
	low := c.lowest()
	if c.GFXMax <= low {
		return c.GFXVoltsMax
	}
	x := math.Min(1, math.Max(0, (clock-low)/(c.GFXMax-low)))
	return c.GFXVoltsMin + (c.GFXVoltsMax-c.GFXVoltsMin)*x
}
