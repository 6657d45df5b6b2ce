package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/smi"
)

const alumetHead = "metric;timestamp;value;resource_kind;resource_id;consumer_kind;consumer_id;memory_type;thermal_zone;__late_attributes\n"

func TestAlumetRows(t *testing.T) {
	got, err := readAlumet(strings.NewReader(alumetHead + "amd_gpu_voltage_mV;2026-11-29T15:17:31Z;650.5;gpu;GPU-1;local_machine;;;;\n" +
		"amd_gpu_memory_usage_B;2026-11-29T15:17:31Z;7;gpu;GPU-2;process;12;memory_video_computing;;\n"))
	want := []alumetRow{{"voltage_mV", "GPU-1", "", 650.5}, {"memory_usage_B/memory_video_computing", "GPU-2", "12", 7}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, text := range []string{"", alumetHead, strings.Replace(alumetHead, "value", "v", 1) + "a;b;1;g;G;l;;;;\n", alumetHead + "a;b;x;g;G;l;;;;\n", alumetHead + "a;b\n"} {
		if rows, err := readAlumet(strings.NewReader(text)); err == nil {
			t.Errorf("%q: %+v", text, rows)
		}
	}
}

func TestAlumetCompared(t *testing.T) {
	card := func(watts, joules float64) *machine {
		m := smi.Metrics{Temperatures: []smi.Temperature{{Sensor: smi.SensorHotspot, Current: smi.Some(smi.Celsius(40))}}, Energy: smi.Some(smi.Joules(joules))}
		m.Power.Socket, m.Voltages.GFX, m.VRAM.Used = smi.Some(smi.Watts(watts)), smi.Some(smi.Volts(0.65)), smi.Some(smi.Bytes(4096))
		var in smi.Info
		in.UUID = "GPU-1"
		return &machine{info: []smi.Info{in}, metrics: []smi.Metrics{m}}
	}
	row := func(what string, value float64) alumetRow { return alumetRow{what: what, card: "GPU-1", value: value} }
	right := []alumetRow{row("power_consumption_W", 105), row("voltage_mV", 650), row("temperature_°C/thermal_hotspot", 40), row("memory_usage_B/memory_video_computing", 4096),
		row("energy_consumption_mJ", 2000), row("energy_consumption_mJ", 2500)}
	for name, c := range map[string]struct {
		rows  []alumetRow
		wrong int
	}{
		"right":            {right, 0},
		"none":             {nil, 5},
		"another card":     {[]alumetRow{{what: "voltage_mV", card: "GPU-2", value: 1}}, 5},
		"too much power":   {append(slices.Clone(right), row("power_consumption_W", 111)), 1},
		"too much energy":  {append(slices.Clone(right), row("energy_consumption_mJ", 600)), 1},
		"no energy at all": {right[:4], 1},
	} {
		var o outcome
		(&comparison{outcome: &o, before: card(100, 10), after: card(110, 15)}).alumet(c.rows)
		if len(o.wrong) != c.wrong {
			t.Errorf("%s: %q", name, o.wrong)
		}
	}
}
