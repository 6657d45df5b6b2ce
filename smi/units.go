package smi

import (
	"fmt"
	"strconv"
	"time"
)

// Bytes is an amount of memory.
type Bytes uint64

// BytesPerSecond is a bandwidth.
type BytesPerSecond float64

// TransfersPerSecond is the rate of one lane of a link; 16e9 is "16 GT/s".
type TransfersPerSecond float64

// BitsPerSecond is the rate of a link.
type BitsPerSecond float64

// Volts is an electrical potential.
type Volts float64

// RPM is the speed of a fan in turns per minute.
type RPM float64

// Watts is electrical power.
type Watts float64

// Joules is energy.
type Joules float64

// Celsius is a temperature.
type Celsius float64

// Hertz is a frequency; a card's clocks are some 1e8 to 1e10 of them.
type Hertz float64

// Ratio is a share of a whole, 0 to 1 (busy time, utilisation).
type Ratio float64

// Duration is a span of time, kept in nanoseconds; JSON shows seconds.
type Duration time.Duration

// Seconds is d in seconds.
func (d Duration) Seconds() float64 { return time.Duration(d).Seconds() }

// MarshalJSON is the span in seconds.
func (d Duration) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, d.Seconds(), 'f', -1, 64), nil
}

// UnmarshalJSON reads a span in seconds.
func (d *Duration) UnmarshalJSON(b []byte) error {
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil || f != f || f > 9e9 || f < -9e9 {
		return fmt.Errorf("smi: %q is not a span in seconds", b)
	}
	*d = Duration(f*1e9 + 0.5)
	return nil
}

// MHz is a frequency given in megahertz, the unit of the vendor's interfaces.
func MHz(v float64) Hertz { return Hertz(v * 1e6) }

// Percent is a share given in percent, the unit of the vendor's interfaces.
func Percent(v float64) Ratio { return Ratio(v / 100) }

// MiB is an amount of memory given in mebibytes.
func MiB(v uint64) Bytes { return Bytes(v << 20) }
