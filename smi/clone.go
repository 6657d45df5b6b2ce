package smi

import "slices"

// Clone is a copy that shares nothing with m.
func (m *Metrics) Clone() *Metrics {
	if m == nil {
		return nil
	}
	c := *m
	c.Clocks, c.Temperatures = slices.Clone(m.Clocks), slices.Clone(m.Temperatures)
	return &c
}

// Clone is a copy that shares nothing with i.
func (i *Info) Clone() *Info {
	if i == nil {
		return nil
	}
	c := *i
	return &c
}

// CloneProcesses is a copy that shares nothing with ps.
func CloneProcesses(ps []Process) []Process {
	c := slices.Clone(ps)
	for i := range c {
		if c[i].Client != nil {
			own := *c[i].Client
			c[i].Client = &own
		}
	}
	return c
}
