package sysfs

import (
	"slices"
	"strconv"
	"strings"

	"github.com/rocwire/rocwire/smi"
)

// sensors is what a card's hwmon directory has. Which files there are and what they
// are called is looked up once; hwmon's number changes when the driver comes back.
type sensors struct {
	dir   string // hwmon/hwmonN, below the card
	temps []tempFile
	freqs map[string]string // label → file
	volts map[string]string
	fans  []int
	files map[string]bool
}

type tempFile struct {
	sensor, file    string
	limit, shutdown smi.Opt[smi.Celsius]
}

// sensorNames are hwmon's labels in this project's words.
var sensorNames = map[string]string{"edge": smi.SensorEdge, "junction": smi.SensorHotspot, "mem": smi.SensorMem}

// sensors finds the card's hwmon; nil if it has none.
func (c *card) sensors() *sensors {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hw != nil && c.tree.exists(c.dir+"/"+c.hw.dir) {
		return c.hw
	}
	c.hw = c.findSensors()
	return c.hw
}

func (c *card) findSensors() *sensors {
	names, err := c.list("hwmon")
	if err != nil {
		return nil
	}
	slices.Sort(names)
	for _, n := range names {
		dir := "hwmon/" + n
		if c.line(dir+"/name") != "amdgpu" {
			continue
		}
		files, err := c.list(dir)
		if err != nil {
			continue
		}
		hw := &sensors{dir: dir, freqs: map[string]string{}, volts: map[string]string{}, files: map[string]bool{}}
		slices.Sort(files)
		for _, f := range files {
			hw.files[f] = true
		}
		for _, f := range files {
			base, ok := strings.CutSuffix(f, "_input")
			if !ok {
				continue
			}
			label := c.line(dir + "/" + base + "_label")
			switch {
			case strings.HasPrefix(base, "temp"):
				t := tempFile{sensor: sensorNames[label], file: dir + "/" + f}
				if t.sensor == "" && label == "" && base == "temp1" {
					t.sensor = smi.SensorEdge // kernels before labels had this one only
				}
				if t.sensor == "" {
					continue
				}
				if v, err := c.signed(dir + "/" + base + "_crit"); err == nil && v > 0 {
					t.limit = celsius(float64(v) / 1000)
				}
				if v, err := c.signed(dir + "/" + base + "_emergency"); err == nil && v > 0 {
					t.shutdown = celsius(float64(v) / 1000)
				}
				hw.temps = append(hw.temps, t)
			case strings.HasPrefix(base, "freq"):
				hw.freqs[label] = dir + "/" + f
			case strings.HasPrefix(base, "in"):
				hw.volts[label] = dir + "/" + f
			case strings.HasPrefix(base, "fan"):
				if i, err := strconv.Atoi(base[len("fan"):]); err == nil && i > 0 {
					hw.fans = append(hw.fans, i)
				}
			}
		}
		return hw
	}
	return nil
}

// temperatures adds hwmon's limits to the sensors of a table, and those sensors that
// the table has not. With prefer, hwmon's readings take the place of the table's.
func (hw *sensors) temperatures(c *card, ts []smi.Temperature, prefer bool) []smi.Temperature {
	if hw == nil {
		return ts
	}
	for _, f := range hw.temps {
		at := slices.IndexFunc(ts, func(t smi.Temperature) bool { return t.Sensor == f.sensor })
		if at < 0 || prefer {
			v, err := c.signed(f.file)
			now := celsius(float64(v) / 1000)
			if err != nil || !now.Ok() {
				continue
			}
			if at < 0 {
				ts, at = append(ts, smi.Temperature{Sensor: f.sensor}), len(ts)
			}
			ts[at].Current = now
		}
		ts[at].Limit, ts[at].Shutdown = f.limit, f.shutdown
	}
	return ts
}

// frequency is a clock from hwmon, in hertz there too.
func (hw *sensors) frequency(c *card, label string) (smi.Opt[smi.Hertz], bool) {
	if hw == nil || hw.freqs[label] == "" {
		return smi.None[smi.Hertz](), false
	}
	v, err := c.number(hw.freqs[label])
	h := hertz(float64(v))
	return h, err == nil && !ones(v) && h.Ok()
}

// voltages adds the rails that a table has not, from millivolts.
func (hw *sensors) voltages(c *card, v *smi.Voltages) {
	if hw == nil {
		return
	}
	for _, r := range []struct {
		label string
		at    *smi.Opt[smi.Volts]
	}{{"vddgfx", &v.GFX}, {"vddnb", &v.SOC}} {
		if r.at.Ok() || hw.volts[r.label] == "" {
			continue
		}
		if mv, err := c.number(hw.volts[r.label]); err == nil {
			*r.at = volts(float64(mv) / 1000)
		}
	}
}

// microwatts is one of hwmon's powers.
func (hw *sensors) microwatts(c *card, name string) smi.Opt[smi.Watts] {
	if hw == nil || !hw.files[name] {
		return smi.None[smi.Watts]()
	}
	v, err := c.number(hw.dir + "/" + name)
	if err != nil || ones(v) {
		return smi.None[smi.Watts]()
	}
	return watts(float64(v) / 1e6)
}

// power adds what a table has not and the limits. With prefer, hwmon's readings take
// the place of the table's.
func (hw *sensors) power(c *card, p *smi.Power, prefer bool) {
	if !p.Socket.Ok() || prefer {
		if w := hw.microwatts(c, "power1_input"); w.Ok() {
			p.Socket = w
		}
	}
	if !p.Average.Ok() || prefer {
		if w := hw.microwatts(c, "power1_average"); w.Ok() {
			p.Average = w
		}
	}
	p.Cap, p.DefaultCap = hw.microwatts(c, "power1_cap"), hw.microwatts(c, "power1_cap_default")
	p.MinCap, p.MaxCap = hw.capRange(c)
}

// capRange is where the cap may be set. A card that cannot be set says 0 to 0.
func (hw *sensors) capRange(c *card) (lo, hi smi.Opt[smi.Watts]) {
	lo, hi = hw.microwatts(c, "power1_cap_min"), hw.microwatts(c, "power1_cap_max")
	if hi.Or(0) == 0 {
		return smi.None[smi.Watts](), smi.None[smi.Watts]()
	}
	return lo, hi
}

// fanList is the card's fans; those of a data centre have none.
func (hw *sensors) fanList(c *card) (fans []smi.Fan) {
	if hw == nil {
		return nil
	}
	for _, i := range hw.fans {
		n := strconv.Itoa(i)
		f := smi.Fan{Index: i - 1}
		if v, err := c.number(hw.dir + "/fan" + n + "_input"); err == nil {
			f.Speed = rpm(float64(v))
		}
		if v, err := c.number(hw.dir + "/fan" + n + "_max"); err == nil && v > 0 {
			f.Max = rpm(float64(v))
		}
		if v, err := c.number(hw.dir + "/pwm" + n); err == nil {
			f.Duty = ratio(float64(v) / pwmMax)
		}
		if f.Speed.Ok() || f.Duty.Ok() {
			fans = append(fans, f)
		}
	}
	return fans
}

// pwmMax is hwmon's value for a fan at full speed.
const pwmMax = 255
