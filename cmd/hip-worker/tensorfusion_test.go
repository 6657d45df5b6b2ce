package main

import (
	"testing"

	"github.com/rocwire/rocwire/smi"
)

// What TensorFusion writes into a worker's environment is what its sessions are held to, and what it would not write ends the worker
// before it serves anybody without limits.
func TestHardLimits(t *testing.T) {
	memory := func(n smi.Bytes) smi.Quota { return smi.Quota{Memory: smi.Some(n)} }
	for _, c := range []struct {
		env  map[string]string
		want smi.Quota
		bad  bool
	}{
		{nil, smi.Quota{}, false},
		{map[string]string{tfMemory: "8192", tfMemoryOld: "8192"}, memory(8 << 30), false},
		{map[string]string{tfMemoryOld: "1"}, memory(1 << 20), false},
		{map[string]string{tfMemory: "0", tfCompute: "0"}, smi.Quota{}, false},
		{map[string]string{tfCompute: "100"}, smi.Quota{}, false},
		{map[string]string{tfCompute: "25"}, smi.Quota{Compute: smi.Some(smi.Ratio(0.25))}, false},
		{map[string]string{tfCompute: "12500m"}, smi.Quota{Compute: smi.Some(smi.Ratio(0.125))}, false},
		{map[string]string{tfMemory: "8Gi"}, smi.Quota{}, true},
		{map[string]string{tfMemory: "-1"}, smi.Quota{}, true},
		{map[string]string{tfMemory: "17592186044416"}, smi.Quota{}, true},
		{map[string]string{tfCompute: "101"}, smi.Quota{}, true},
		{map[string]string{tfCompute: "-1"}, smi.Quota{}, true},
		{map[string]string{tfCompute: "NaN"}, smi.Quota{}, true},
		{map[string]string{tfCompute: "half"}, smi.Quota{}, true},
	} {
		getenv := func(k string) string { return c.env[k] }
		o, err := parse([]string{"--session-memory", "16G"}, getenv)
		if (err != nil) != c.bad {
			t.Errorf("%v: %v", c.env, err)
			continue
		}
		if err == nil && (o.most != c.want || o.quota != memory(16<<30)) {
			t.Errorf("%v: %+v, %+v", c.env, o.most, o.quota)
		}
	}
}
