package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/rocwire/rocwire/cmd/smi-remote/internal/text"
	"github.com/rocwire/rocwire/smi"
)

// faultKinds are the faults there are, with the settings each may have.
var faultKinds = map[string][]string{
	smi.FaultECC: {"block", "error", "count"}, smi.FaultThermal: {"temperature"}, smi.FaultHang: nil, smi.FaultReset: nil,
	smi.FaultLink: {"width", "speed"}, smi.FaultGone: nil,
}

func faultNames() []string {
	return []string{smi.FaultECC, smi.FaultThermal, smi.FaultHang, smi.FaultReset, smi.FaultLink, smi.FaultGone}
}

// momentary are the faults that have nothing to end.
func momentary(kind string) bool { return kind == smi.FaultECC || kind == smi.FaultReset }

// order is one line of a scenario, or of sim set: a fault of a card.
type order struct {
	gpu   string // "": the only one
	fault smi.Fault
}

func (o *order) String() string {
	s := o.fault.Kind
	if o.fault.Clear {
		s = "end of " + s
	}
	return s
}

// parseOrder reads KIND [GPU] key=value…, or with clear KIND [GPU].
func parseOrder(words []string, clear bool) (order, error) {
	if len(words) == 0 {
		return order{}, usagef("which fault? There are: %s", strings.Join(faultNames(), ", "))
	}
	o := order{fault: smi.Fault{Kind: words[0], Clear: clear}}
	keys, ok := faultKinds[o.fault.Kind]
	if !ok {
		return order{}, usagef("there is no fault %q; there are: %s", words[0], strings.Join(faultNames(), ", "))
	}
	if clear && momentary(o.fault.Kind) {
		return order{}, usagef("%s happens once: there is nothing to clear", o.fault.Kind)
	}
	for i, w := range words[1:] {
		key, value, pair := strings.Cut(w, "=")
		switch {
		case !pair && i == 0:
			if w != all {
				if _, err := parseSelector(w); err != nil {
					return order{}, err
				}
			}
			o.gpu = w
		case !pair || clear:
			return order{}, usagef("%q is too much", w)
		case !slices.Contains(keys, key):
			return order{}, usagef("%s has no setting %q%s", o.fault.Kind, key, thereAre(keys))
		default:
			if err := setFault(&o.fault, key, value); err != nil {
				return order{}, err
			}
		}
	}
	return o, nil
}

func thereAre(keys []string) string {
	if len(keys) == 0 {
		return ": it has none"
	}
	return "; there are: " + strings.Join(keys, ", ")
}

func setFault(f *smi.Fault, key, value string) error {
	switch key {
	case "block":
		f.Block = value
	case "error":
		if !slices.Contains([]string{"correctable", "uncorrectable", "deferred"}, value) {
			return usagef("error=%s: there are correctable, uncorrectable and deferred", value)
		}
		f.Error = value
	case "count":
		n, err := strconv.ParseUint(value, 10, 32)
		if err != nil || n == 0 {
			return usagef("count=%s is no number of errors", value)
		}
		f.Count = n
	case "width":
		n, err := strconv.ParseUint(value, 10, 6)
		if err != nil {
			return usagef("width=%s is no number of lanes", value)
		}
		f.Width = smi.Some(int(n))
	case "speed":
		v, err := number(value, "speed of a link, like 8 or 8GT/s", map[string]float64{"": 1e9, "gt/s": 1e9})
		if err != nil {
			return err
		}
		f.Speed = smi.Some(smi.TransfersPerSecond(v))
	case "temperature":
		v, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSuffix(value, "C"), "°"), 64)
		if err != nil || math.IsNaN(v) || v < -50 || v > 250 {
			return usagef("temperature=%s is no temperature in °C", value)
		}
		f.Temperature = smi.Some(smi.Celsius(v))
	}
	return nil
}

// inject does one order.
func (a *app) inject(ctx context.Context, o *order) error {
	var words []string
	if o.gpu != "" && o.gpu != all {
		words = []string{o.gpu}
	}
	cards, p, err := a.cards(ctx, words, false)
	if err != nil {
		return err
	}
	if o.gpu == "" && len(cards) > 1 {
		return usagef("which GPU? There are %d; a number, a PCI address, a UUID or all", len(cards))
	}
	return a.change(ctx, cards, p, o.String(), func(ctx context.Context, c *card) error {
		return c.client.Inject(ctx, c.Device.Index, o.fault)
	})
}

// scenario does what a file says, in time. Without do it only checks the file.
func (a *app) scenario(ctx context.Context, file string, dry bool) error {
	in := a.stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		defer f.Close() // it was only read
		in = f
	}
	steps, err := parseScenario(in)
	if err != nil {
		return err
	}
	if dry {
		for _, s := range steps {
			fmt.Fprintf(&a.out, "%8s  %s %s\n", s.at, s.String(), text.Dash(s.gpu))
		}
		return nil
	}
	return a.play(ctx, steps)
}
