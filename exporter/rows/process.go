package rows

import (
	"strconv"

	"github.com/rocwire/rocwire/smi"
)

func (b *builder) processUsage(cards []card) {
	place := &b.maker.place
	host := []Value{textOf(place.Cluster), textOf(place.Host), textOf(place.Pool)}
	for i := range cards {
		c := &cards[i]
		gpu := textOf(strconv.Itoa(c.Device.Index))
		for _, p := range c.processes {
			values := append(host[:len(host):len(host)], gpu, c.uuid, textOf(number(p.PID)), textOf(p.Name), textOf(p.User))
			b.add(processUsage, append(values, described(p, c.shares[p.PID])...)...)
		}
	}
}

// described are the columns from pod on.
func described(p *smi.Process, v *interval) []Value {
	var client smi.Client
	if p.Client != nil {
		client = *p.Client
	}
	var at smi.Container
	if p.Container != nil {
		at = *p.Container
	}
	var length, ratio, clientPID, units Value
	if v.length > 0 {
		length = floatOf(v.length.Seconds())
	}
	if r, ok := v.ratio().Get(); ok {
		ratio = floatOf(r)
	}
	if client.PID != 0 {
		clientPID = intOf(int64(client.PID))
	}
	if n, ok := p.CUOccupancy.Get(); ok {
		units = intOf(int64(n))
	}
	return []Value{
		textOf(at.Pod), textOf(at.Namespace), textOf(p.Session),
		textOf(client.Host), textOf(client.User), textOf(client.Pod), textOf(client.Namespace),
		boolOf(p.Client != nil), clientPID, textOf(client.Executable), textOf(client.Address), textOf(client.Job),
		textOf(at.Name), textOf(at.ID), textOf(at.PodUID), textOf(p.Origin),
		bytesOf(p.VRAM), bytesOf(p.GTT), bytesOf(p.HostMemory), units,
		ratio, seconds(v.busy), seconds(v.sdma), seconds(v.evicted), length,
	}
}

func number(pid uint32) string { return strconv.FormatUint(uint64(pid), 10) }
