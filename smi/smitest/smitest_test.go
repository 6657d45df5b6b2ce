package smitest

import (
	"encoding/json"
	"testing"

	"github.com/rocwire/rocwire/smi"
)

func TestFakeConforms(t *testing.T) {
	Run(t, func(*testing.T) smi.Source {
		cards := Cards()
		cards[1].ProcessesErr = &smi.Failure{Code: smi.ErrNotSupported}
		return NewFake(cards...)
	})
}

func TestMachineConforms(t *testing.T) {
	for name, open := range map[string]func() smi.Source{
		"machine": func() smi.Source { return NewMachine(8, 3) },
		"faulty":  func() smi.Source { return NewFaulty(2, 1) },
		"shared":  func() smi.Source { return smi.Shared(NewFaulty(8, 3)) },
		"wrapped": func() smi.Source { return smi.WithSessions(NewFaulty(2, 3), Clients{}) },
	} {
		t.Run(name, func(t *testing.T) { Run(t, func(*testing.T) smi.Source { return open() }) })
	}
}

// The suite notices what must never leave a source.
func TestBadNumbers(t *testing.T) {
	for name, m := range map[string]smi.Metrics{
		"sentinel power":   {Power: smi.Power{Socket: smi.Some(smi.Watts(65535))}},
		"percent as ratio": {Activity: smi.Activity{GFX: smi.Some(smi.Ratio(75))}},
		"megahertz":        {Clocks: []smi.Clock{{Domain: "gfx", Current: smi.Some(smi.Hertz(210))}}},
		"millidegrees":     {Temperatures: []smi.Temperature{{Sensor: "edge", Current: smi.Some(smi.Celsius(45000))}}},
		"negative energy":  {Energy: smi.Some(smi.Joules(-1))},
		"sentinel clock":   {Clocks: []smi.Clock{{Domain: "gfx", Current: smi.Some(smi.Hertz(4294967295))}}},
		"millivolts":       {Voltages: smi.Voltages{GFX: smi.Some(smi.Volts(793))}},
		"gigatransfers":    {PCIe: smi.PCIe{Speed: smi.Some(smi.TransfersPerSecond(32))}},
		"sentinel counter": {PCIe: smi.PCIe{NAKsSent: smi.Some(uint64(1<<64 - 1))}},
		"sentinel memory":  {VRAM: smi.MemoryUse{Used: smi.Some(smi.Bytes(1<<64 - 1))}},
	} {
		b, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var tree any
		if err := json.Unmarshal(b, &tree); err != nil {
			t.Fatal(err)
		}
		if bad := badNumbers("m", tree); len(bad) != 1 {
			t.Errorf("%s: %q", name, bad)
		}
	}
}
