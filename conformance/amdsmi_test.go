package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/smi"
)

// sample is a machine of one card.
func sample() *machine {
	d := smi.Device{BDF: smi.Some(smi.BDF{Bus: 0x10}), UUID: "GPU-1", Name: "card"}
	return &machine{
		info:      []smi.Info{{Device: d, IDs: smi.IDs{KFD: smi.Some(uint64(7)), KFDNode: smi.Some(uint32(1))}}},
		metrics:   []smi.Metrics{{Power: smi.Power{Socket: smi.Some(smi.Watts(138))}}},
		processes: []smi.Process{{PID: 42, VRAM: smi.Some(smi.Bytes(held))}},
		ecc:       []smi.ECC{{}},
	}
}

func compared(t *testing.T, check func(*comparison, any), before, after *machine, text string) outcome {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	var o outcome
	check(&comparison{&o, before, after}, v)
	return o
}

// Each of these differs from what smi-remote says, and must be found out.
func TestComparisonsFail(t *testing.T) {
	m := sample()
	list := `[{"gpu": 0, "bdf": "0000:10:00.0", "uuid": "gpu-1", "kfd_id": 7, "node_id": 1}]`
	process := `[{"gpu": 0, "process_list": [{"process_info": {"pid": 42, "memory_usage": {"vram_mem": {"value": 100663296, "unit": "B"}}}}]}]`
	power := func(c *comparison, v any) {
		c.measured(0, "power", at(v, "power"), half, func(m *smi.Metrics) float64 { return float64(m.Power.Draw().Or(0)) })
	}
	for _, k := range []struct {
		check      func(*comparison, any)
		right      string
		agreed     int
		from, into string
	}{
		{checkList, list, 4, "0000:10", "0000:11"},
		{checkList, list, 4, `"kfd_id": 7`, `"kfd_id": 8`},
		{checkList, list, 4, `"uuid": "gpu-1"`, `"uuid": null`},
		{checkList, list, 4, "[{", `[{"bdf": ""}, {`},
		{checkProcess, process, 1, `"pid": 42`, `"pid": 43`},
		{checkProcess, process, 1, "100663296", "100663297"},
		{checkProcess, process, 1, "[{\"process_info\"", `[{"process_info": {"pid": 5}}, {"process_info"`},
		{checkProcess, process, 1, `{"process_info"`, `{"another"`},
		{power, `{"power": {"value": 138, "unit": "W"}}`, 1, "138", "139"},
		{power, `{"power": 138}`, 1, "138", `"N/A"`},
	} {
		if o := compared(t, k.check, m, m, k.right); len(o.wrong) > 0 || o.agreed != k.agreed {
			t.Errorf("%s: %d agree, %q", k.right, o.agreed, o.wrong)
		}
		wrong := strings.Replace(k.right, k.from, k.into, 1)
		if o := compared(t, k.check, m, m, wrong); len(o.wrong) == 0 {
			t.Errorf("%s passed", wrong)
		}
	}
}

// A figure that changes may be anything between what was seen before and after.
func TestComparisonOfWhatChanges(t *testing.T) {
	before, after := sample(), sample()
	after.metrics[0].Power.Socket = smi.Some(smi.Watts(150.4))
	for text, good := range map[string]bool{"137": false, "138": true, "144": true, "150": true, "151": false} {
		o := compared(t, func(c *comparison, v any) {
			c.measured(0, "power", v, half, func(m *smi.Metrics) float64 { return float64(m.Power.Draw().Or(0)) })
		}, before, after, text)
		if (len(o.wrong) == 0) != good {
			t.Errorf("%s W: %q", text, o.wrong)
		}
	}
}
