package hipremote

import "github.com/rocwire/rocwire/hip"

// writes judges memory that a posted call is going to write, n times unit bytes at p, and says where the worker has it.
func (c *Client) writes(l *link, p hip.Ptr, n uint64, unit uint64) (hip.Ptr, hip.Error) {
	if unit > 1 && n > 1<<46 {
		return p, hip.ErrorInvalidValue
	}
	return c.writesBytes(l, p, n*unit)
}

// writesRows does the same for height rows of width bytes.
func (c *Client) writesRows(l *link, p hip.Ptr, pitch, width, height uint64) (hip.Ptr, hip.Error) {
	if width == 0 || height == 0 {
		return c.writesBytes(l, p, 0)
	}
	s := shape{dpitch: pitch, spitch: pitch, width: width, height: height}
	if s.check(p, p) != hip.Success {
		return p, hip.ErrorInvalidValue // of a pitch, too: only copies have a code for it
	}
	return c.writesBytes(l, p, s.extent(pitch))
}

func (c *Client) writesBytes(l *link, p hip.Ptr, n uint64) (hip.Ptr, hip.Error) {
	if n != 0 {
		if p == 0 {
			return p, hip.ErrorInvalidValue
		}
		if c.mem.has(p, n) { // nearly always
			return p, hip.Success
		}
		at, code := c.locate(p, n, true)
		if code != hip.Success {
			return p, code
		}
		if !at.device {
			if b := c.mem.find(p); b == nil || b.host == nil {
				return p, hip.ErrorInvalidValue
			}
		}
	}
	return c.touch(l, p)
}
