package hipremote

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/advice"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/wire"
)

// Managed and registered memory lie here as well as on the worker, so what was said of them is kept here. Other memory takes no advice, as the
// driver has it: what a card's memory or pinned memory is mapped at is nothing that pages move to.

// holding is the block that holds count bytes at p, nil if the client knows none. ErrorInvalidValue: they reach beyond its end.
func (c *Client) holding(p hip.Ptr, count uint64) (*block, hip.Error) {
	if p == 0 || count == 0 {
		return nil, hip.ErrorInvalidValue
	}
	b := c.mem.find(p)
	if b != nil && count > b.end()-uint64(p) {
		return nil, hip.ErrorInvalidValue
	}
	return b, hip.Success
}

// variable says that the worker has memory at an address of which this side knows nothing: a module's variable.
func (c *Client) variable(t hip.Thread, p hip.Ptr) bool {
	_, _, code := c.MemGetAddressRange(t, p)
	return code == hip.Success
}

// Among tells how many devices the program has, where others than this worker's are among them. Advice names devices by the program's numbers.
func (c *Client) Among(devices int32) { c.among.Store(devices) }

// allDevices is how many devices advice may name.
func (c *Client) allDevices() (int32, hip.Error) {
	n, code := c.GetDeviceCount()
	if all := c.among.Load(); code == hip.Success && all > 0 {
		n = all
	}
	return n, code
}

// MemAdvise is hipMemAdvise.
func (c *Client) MemAdvise(_ hip.Thread, p hip.Ptr, count uint64, a hip.MemoryAdvise, device int32) hip.Error {
	_, code := c.timed(hip.OpMemAdvise, func() (hip.Ptr, hip.Error) {
		n, code := c.allDevices()
		if code != hip.Success {
			return 0, code
		}
		check := advice.Check(a, device, n)
		if check == hip.ErrorInvalidDevice {
			return 0, check
		}
		b, code := c.holding(p, count)
		if code != hip.Success {
			return 0, code
		}
		if b == nil || !b.host.advised() || check != hip.Success {
			return 0, hip.ErrorInvalidValue
		}
		b.host.advice.Advise(uint64(p)-b.base, count, a, device)
		return 0, hip.Success
	})
	return code
}

// MemPrefetchAsync is hipMemPrefetchAsync. The memory is on both sides already.
func (c *Client) MemPrefetchAsync(t hip.Thread, p hip.Ptr, count uint64, device int32, st hip.Stream) hip.Error {
	_, code := c.timed(hip.OpMemPrefetchAsync, func() (hip.Ptr, hip.Error) {
		n, code := c.allDevices()
		if code == hip.Success {
			code = c.due(t, st)
		}
		if code != hip.Success {
			return 0, code
		}
		if p == 0 || count == 0 {
			return 0, hip.ErrorInvalidValue
		}
		if code := c.handles.stream(st); code != hip.Success {
			return 0, code
		}
		b, code := c.holding(p, count)
		switch {
		case code != hip.Success:
			return 0, code
		case device != hip.CPUDeviceID && (device < 0 || device >= n):
			return 0, hip.ErrorInvalidDevice
		case b == nil && device != hip.CPUDeviceID && !c.mem.inRange(p): // no device reaches memory that it was not told of
			return 0, hip.ErrorNotSupported
		case b == nil && device != hip.CPUDeviceID && !c.variable(t, p):
			return 0, hip.ErrorNotSupported
		case b != nil && b.host.advised():
			b.host.advice.Prefetch(uint64(p)-b.base, count, device)
		}
		return 0, hip.Success
	})
	return code
}

// MemRangeGetAttribute is hipMemRangeGetAttribute.
func (c *Client) MemRangeGetAttribute(t hip.Thread, size uint64, attribute hip.MemRangeAttribute, p hip.Ptr, count uint64) ([]byte, hip.Error) {
	ct := c.begin()
	b, code := c.rangeAttribute(&ct, t, size, attribute, p, count)
	c.end(&ct, hip.OpMemRangeGetAttribute, code)
	return b, code
}

func (c *Client) rangeAttribute(ct *callTime, t hip.Thread, size uint64, attribute hip.MemRangeAttribute, p hip.Ptr, count uint64) ([]byte, hip.Error) {
	l, code := c.ready()
	if code != hip.Success {
		return nil, code
	}
	b, code := c.holding(p, count)
	switch {
	case code != hip.Success:
		return nil, code
	case b == nil && !c.mem.inRange(p):
		return nil, hip.ErrorInvalidValue
	case b != nil && b.host.advised():
		return b.host.advice.Attribute(uint64(p)-b.base, count, attribute, size)
	case attribute != hip.MemRangeAttributeCoherencyMode || size != 4:
		return nil, hip.ErrorInvalidValue
	case b != nil:
		mode := hip.MemRangeCoherencyModeFineGrain
		if b.host != nil && b.host.flags&hip.HostMallocNonCoherent != 0 || b.host == nil && b.flags == hip.DeviceMallocDefault {
			mode = hip.MemRangeCoherencyModeCoarseGrain
		}
		return []byte{byte(mode), 0, 0, 0}, hip.Success
	}
	q := hiprpc.MemRangeGetAttributeRequest{Thread: t, DataSize: size, Attribute: attribute, DevPtr: p, Count: count}
	m := wire.GetMsg()
	defer wire.PutMsg(m)
	m.Req = q.Append(m.Req[:0])
	if err := ct.call(l, hip.OpMemRangeGetAttribute, m); err != nil {
		return nil, c.broken(l, err)
	}
	if code := hip.Error(m.Code); code != hip.Success {
		return nil, code
	}
	var rep hiprpc.MemRangeGetAttributeReply
	if !rep.Decode(m.Rep) || uint64(len(rep.Data)) > size {
		return nil, c.violation(hip.OpMemRangeGetAttribute)
	}
	return rep.Data, hip.Success
}

// StreamAttachMemAsync is hipStreamAttachMemAsync. No device needs to be told which stream uses memory: the arguments are judged.
func (c *Client) StreamAttachMemAsync(t hip.Thread, st hip.Stream, p hip.Ptr, length uint64, flags uint32) hip.Error {
	_, code := c.timed(hip.OpStreamAttachMemAsync, func() (hip.Ptr, hip.Error) {
		_, code := c.ready()
		if code == hip.Success {
			code = c.due(t, st)
		}
		if code != hip.Success {
			return 0, code
		}
		if p == 0 {
			return 0, hip.ErrorInvalidValue
		}
		if code := c.handles.stream(st); code != hip.Success {
			return 0, code
		}
		single := flags == hip.MemAttachSingle && st != hip.StreamNull
		if flags != hip.MemAttachGlobal && flags != hip.MemAttachHost && !single {
			return 0, hip.ErrorInvalidValue
		}
		b := c.mem.find(p)
		if b == nil || b.host != nil && length != 0 && length != b.want {
			return 0, hip.ErrorInvalidValue
		}
		return 0, hip.Success
	})
	return code
}
