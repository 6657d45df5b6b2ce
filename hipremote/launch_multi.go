package hipremote

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/wire"
)

// LaunchKernelMultiDevice launches on several devices. Waiting for the streams before and after is this side's part, so that nothing waits on the
// worker's line.
func (c *Client) LaunchKernelMultiDevice(t hip.Thread, launches []hip.Launch, flags uint32) hip.Error {
	const both = hip.CooperativeLaunchMultiDeviceNoPreSync | hip.CooperativeLaunchMultiDeviceNoPostSync
	if len(launches) == 0 || len(launches) > hiprpc.MaxLaunches || flags&^both != 0 {
		return hip.ErrorInvalidValue
	}
	wait := func() {
		for i := range launches {
			c.StreamSynchronize(t, launches[i].Stream) // what went wrong there is not this call's
		}
	}
	if flags&hip.CooperativeLaunchMultiDeviceNoPreSync == 0 {
		wait()
	}
	ct := c.begin()
	code := c.launchMulti(&ct, t, launches)
	c.end(&ct, hip.OpLaunchKernelMultiDevice, code)
	if code == hip.Success && flags&hip.CooperativeLaunchMultiDeviceNoPostSync == 0 {
		wait()
	}
	return code
}

func (c *Client) launchMulti(ct *callTime, t hip.Thread, launches []hip.Launch) hip.Error {
	l, code := c.ready()
	if code == hip.Success {
		code = c.due(t, hip.StreamNull)
	}
	for i := range launches {
		if code == hip.Success {
			code = c.judge(&launches[i])
		}
		if code == hip.Success {
			code = c.beforeLaunch(l, launches[i].Args)
		}
	}
	if code != hip.Success {
		return code
	}
	m := wire.GetMsg()
	defer wire.PutMsg(m)
	m.Req = hiprpc.AppendLaunches(m.Req[:0], t.Device, launches, hip.CooperativeLaunchMultiDeviceNoPreSync|hip.CooperativeLaunchMultiDeviceNoPostSync)
	count := func() {
		for i := range launches {
			c.tasksOf(c.streamDevice(t, launches[i].Stream)).add()
		}
	}
	c.recordings.mu.Lock() // launches record events
	defer c.recordings.mu.Unlock()
	c.recordings.forget()
	count()
	err := ct.call(l, hip.OpLaunchKernelMultiDevice, m)
	count()
	if err != nil {
		return c.broken(l, err)
	}
	if code = hip.Error(m.Code); !code.Valid() {
		return hip.ErrorUnknown
	}
	return code
}
