package hipremote

import "github.com/rocwire/rocwire/hip"

// What this process does in a stream's turn, it does in a host function of that stream.

// Turn waits until it would be the turn of what is queued on a stream now: also behind what the null stream has before it, which who waits for the stream does not
// wait for.
func (c *Client) Turn(t hip.Thread, st hip.Stream) hip.Error { return c.turn(nil, t, st) }

func (c *Client) turn(ct *callTime, t hip.Thread, st hip.Stream) hip.Error {
	if !c.work.busy() {
		return hip.Success
	}
	if st > hip.StreamLegacy {
		if code := c.launchHostFunc(ct, t, st, func() {}); code != hip.Success {
			return code
		}
	}
	return c.StreamSynchronize(t, st)
}

// InTurn has f run when a stream comes to it, and the stream waits for it. What f answers is an asynchronous error of the stream's device. Memory that f uses may
// be freed behind it: see FreeAsync.
func (c *Client) InTurn(t hip.Thread, st hip.Stream, f func() hip.Error) hip.Error {
	return c.inTurn(nil, t, st, f)
}

func (c *Client) inTurn(ct *callTime, t hip.Thread, st hip.Stream, f func() hip.Error) hip.Error {
	device, life := c.streamDevice(t, st), c.async.life.Load()
	c.inTurns.Add(1)
	code := c.launchHostFunc(ct, t, st, func() {
		defer c.inTurns.Add(-1)
		if code := f(); code != hip.Success {
			c.async.local(device, life, code)
		}
	})
	if code != hip.Success {
		c.inTurns.Add(-1)
	}
	return code
}
