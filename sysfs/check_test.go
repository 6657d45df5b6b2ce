package sysfs

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rocwire/rocwire/smi"
)

// metricsOf is everything that a table tells.
func metricsOf(t *table) *smi.Metrics {
	m := &smi.Metrics{Activity: t.activity(), Temperatures: t.temperatures(), Clocks: t.clocks(), Voltages: t.voltages(), PCIe: t.pcie()}
	m.Power.Socket, m.Power.Average = t.power()
	m.Throttle.Status = t.throttle()
	if v, ok := t.energy(); ok {
		m.Energy = smi.Some(smi.Joules(v))
	}
	var vs violations
	vs.look(t)
	m.Throttle.Violations = vs.look(t)
	return m
}

// figures are the figures of a table that are available, as text.
func figures(t *table) string {
	b, err := json.Marshal(metricsOf(t))
	if err != nil {
		return err.Error()
	}
	var tree any
	if err := json.Unmarshal(b, &tree); err != nil {
		return err.Error()
	}
	m := tree.(map[string]any)
	delete(m, "time")
	return strings.Join(available("", m), " ")
}

func available(path string, v any) (list []string) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			list = append(list, available(path+"."+k, e)...)
		}
	case []any:
		for i, e := range v {
			list = append(list, available(fmt.Sprintf("%s[%d]", path, i), e)...)
		}
	case float64, bool, string:
		list = append(list, fmt.Sprintf("%s=%v", path, v))
	}
	return list
}
