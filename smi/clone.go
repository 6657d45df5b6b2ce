package smi

import "slices"

// Clone is a copy that shares nothing with m.
func (m *Metrics) Clone() *Metrics {
	if m == nil {
		return nil
	}
	c := *m
	c.Clocks, c.Temperatures, c.Fans = slices.Clone(m.Clocks), slices.Clone(m.Temperatures), slices.Clone(m.Fans)
	c.Activity.Engines, c.Throttle.Violations = slices.Clone(m.Activity.Engines), slices.Clone(m.Throttle.Violations)
	return &c
}

// Clone is a copy that shares nothing with i.
func (i *Info) Clone() *Info {
	if i == nil {
		return nil
	}
	c := *i
	c.Caches = slices.Clone(i.Caches)
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
		if c[i].Container != nil {
			own := *c[i].Container
			c[i].Container = &own
		}
	}
	return c
}

// Clone is a copy that shares nothing with e.
func (e *ECC) Clone() *ECC {
	if e == nil {
		return nil
	}
	c := *e
	c.Blocks = slices.Clone(e.Blocks)
	return &c
}

// Clone is a copy that shares nothing with x.
func (x *XGMI) Clone() *XGMI {
	if x == nil {
		return nil
	}
	c := *x
	c.Links = slices.Clone(x.Links)
	return &c
}

// Clone is a copy that shares nothing with p.
func (p *Partitions) Clone() *Partitions {
	if p == nil {
		return nil
	}
	c := *p
	c.Memories, c.Profiles, c.Parts = slices.Clone(p.Memories), slices.Clone(p.Profiles), slices.Clone(p.Parts)
	for i := range c.Profiles {
		c.Profiles[i].Memories = slices.Clone(c.Profiles[i].Memories)
		c.Profiles[i].Resources = slices.Clone(c.Profiles[i].Resources)
	}
	return &c
}

// Clone is a copy that shares nothing with t.
func (t *Topology) Clone() *Topology {
	if t == nil {
		return nil
	}
	c := *t
	c.Paths = slices.Clone(t.Paths)
	return &c
}
