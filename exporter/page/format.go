package page

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// missing stands for a figure that is not available.
const missing = "–"

// scaled is v with the largest unit that leaves at least 1 before the point, to
// three digits.
func scaled(v, base float64, units ...string) string {
	i := 0
	for math.Abs(v) >= base*0.9995 && i < len(units)-1 {
		v /= base
		i++
	}
	return digits(v) + " " + units[i]
}

func digits(v float64) string {
	switch a := math.Abs(v); {
	case a == math.Trunc(a) && a < 1000 || a >= 99.95:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

var byteUnits = []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}

func bytesText(v smi.Opt[smi.Bytes]) string {
	n, ok := v.Get()
	if !ok {
		return missing
	}
	return scaled(float64(n), 1024, byteUnits...)
}

func rateText(v smi.Opt[float64]) string {
	n, ok := v.Get()
	if !ok {
		return missing
	}
	return scaled(n, 1024, byteUnits...) + "/s"
}

func wattsText(v smi.Opt[smi.Watts]) string {
	n, ok := v.Get()
	if !ok {
		return missing
	}
	return fmt.Sprintf("%.0f W", float64(n))
}

func percentText(v smi.Opt[smi.Ratio]) string {
	n, ok := v.Get()
	if !ok {
		return missing
	}
	p := 100 * float64(n)
	if p > 0 && p < 1 {
		return fmt.Sprintf("%.1f %%", p)
	}
	return fmt.Sprintf("%.0f %%", math.Round(p))
}

func celsiusText(v smi.Opt[smi.Celsius]) string {
	n, ok := v.Get()
	if !ok {
		return missing
	}
	return fmt.Sprintf("%.0f °C", math.Round(float64(n)))
}

func hertzText(v smi.Opt[smi.Hertz]) string {
	n, ok := v.Get()
	if !ok {
		return missing
	}
	return scaled(float64(n), 1000, "Hz", "kHz", "MHz", "GHz")
}

func countText(v smi.Opt[uint64]) string {
	n, ok := v.Get()
	if !ok {
		return missing
	}
	return strconv.FormatUint(n, 10)
}

// secondsText is a latency: nanoseconds to seconds, or more.
func secondsText(v any) string {
	var s float64
	switch v := v.(type) {
	case float64:
		s = v
	case smi.Opt[float64]:
		n, ok := v.Get()
		if !ok {
			return missing
		}
		s = n
	case smi.Opt[smi.Duration]:
		n, ok := v.Get()
		if !ok {
			return missing
		}
		s = n.Seconds()
	}
	if math.IsNaN(s) {
		return missing
	}
	if s >= 1 || s == 0 {
		return digits(s) + " s"
	}
	return scaled(s*1e9, 1000, "ns", "µs", "ms", "s")
}

// ageText is how long ago something was.
func ageText(d smi.Duration) string {
	t := time.Duration(d)
	switch {
	case t < 10*time.Second:
		return fmt.Sprintf("%.1f s", t.Seconds())
	case t < 2*time.Minute:
		return fmt.Sprintf("%.0f s", t.Seconds())
	case t < 2*time.Hour:
		return fmt.Sprintf("%d min", t/time.Minute)
	case t < 48*time.Hour:
		return fmt.Sprintf("%d h", t/time.Hour)
	}
	return fmt.Sprintf("%d d", t/(24*time.Hour))
}

// hottest is the figure of the first of the sensors that say most of the card.
func hottest(list []Temperature) smi.Opt[smi.Celsius] {
	for _, sensor := range []string{smi.SensorHotspot, smi.SensorEdge, smi.SensorMem} {
		for _, t := range list {
			if t.Sensor == sensor && t.Celsius.Ok() {
				return t.Celsius
			}
		}
	}
	return smi.None[smi.Celsius]()
}

func clockOf(domain string, list []Clock) smi.Opt[smi.Hertz] {
	for _, c := range list {
		if c.Domain == domain {
			return c.Hertz
		}
	}
	return smi.None[smi.Hertz]()
}

// whoText is a client in one line: user@host, or where it comes from.
func whoText(c *Client) string {
	if c == nil {
		return "local"
	}
	who := c.Host
	if who == "" {
		who = c.Address
	}
	if c.User != "" {
		who = c.User + "@" + who
	}
	if c.Pod != "" {
		who = strings.TrimPrefix(c.Namespace+"/"+c.Pod, "/") + " · " + who
	}
	return who
}
