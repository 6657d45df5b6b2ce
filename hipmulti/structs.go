package hipmulti

import "github.com/rocwire/rocwire/hip"

// Structs that hold numbers of devices or handles, as their worker knows them. What is passed in is not changed.

// noDevice is a number that no worker's device has.
const noDevice = 1 << 30

// location leaves a device that there is not for the worker to judge: what is wrong about it depends on the call.
func (c *call) location(l *hip.MemLocation) *hip.MemLocation {
	if l == nil || l.Type != hip.MemLocationTypeDevice || c.err != hip.Success {
		return l
	}
	x := *l
	if _, there := c.devs.at(l.Id); there {
		x.Id = c.device(l.Id)
	} else if l.Id >= 0 {
		x.Id = noDevice
	}
	return &x
}

// poolProps, allocationProp: the device of memory that is to be made tells the worker, where the thread does not.
func (c *call) poolProps(p *hip.MemPoolProps) *hip.MemPoolProps {
	if p == nil {
		return nil
	}
	x := *p
	x.Location = *c.location(&p.Location)
	return &x
}

func (c *call) allocationProp(p *hip.MemAllocationProp) *hip.MemAllocationProp {
	if p == nil {
		return nil
	}
	x := *p
	x.Location = *c.location(&p.Location)
	return &x
}

// allocationPropOut is the opposite.
func (c *call) allocationPropOut(p *hip.MemAllocationProp) {
	if p.Location.Type == hip.MemLocationTypeDevice {
		p.Location.Id = c.number(p.Location.Id)
	}
}

// accessDescs cannot give devices of another worker access.
func (c *call) accessDescs(list []hip.MemAccessDesc) []hip.MemAccessDesc {
	out := make([]hip.MemAccessDesc, len(list))
	for i, d := range list {
		out[i] = d
		out[i].Location = *c.location(&d.Location)
	}
	return out
}

func (c *call) resource(d *hip.ResourceDesc) *hip.ResourceDesc {
	if d == nil {
		return nil
	}
	x := *d
	c.resourceOf(x.ResType, &x.Res[0])
	return &x
}

func (c *call) drvResource(d *hip.DrvResourceDesc) *hip.DrvResourceDesc {
	if d == nil {
		return nil
	}
	x := *d
	c.resourceOf(hip.ResourceType(x.ResType), &x.Res[0]) // the same numbers
	return &x
}

// resourceOf makes the handle in a resource the worker's; an address tells the worker.
func (c *call) resourceOf(kind hip.ResourceType, first *uint64) {
	switch kind {
	case hip.ResourceTypeArray:
		*first = c.handle(hip.HandleArray, *first)
	case hip.ResourceTypeMipmappedArray:
		*first = c.handle(hip.HandleMipmappedArray, *first)
	case hip.ResourceTypeLinear, hip.ResourceTypePitch2D:
		c.address(hip.Ptr(*first))
	}
}
