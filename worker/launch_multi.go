package worker

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/wire"
)

// doLaunchKernelMultiDevice launches on several devices. The client waits for the streams itself: here nothing must.
func (s *session) doLaunchKernelMultiDevice(r *wire.Request) {
	dev, list, _, ok := hiprpc.DecodeLaunches(r.Fixed)
	if !ok {
		s.malformed(r)
		return
	}
	if !s.checked(r, s.device(dev)) {
		return
	}
	for i := range list {
		if !s.checked(r, s.checkLaunch(&list[i])) {
			return
		}
	}
	s.reply(r, s.rt.LaunchKernelMultiDevice(hip.Thread{Device: dev}, list, hip.CooperativeLaunchMultiDeviceNoPreSync|hip.CooperativeLaunchMultiDeviceNoPostSync), nil)
}

// checkLaunch checks a launch's handles.
func (s *session) checkLaunch(l *hip.Launch) hip.Error {
	if code := s.handles.check(hip.HandleFunction, uint64(l.Function)); code != hip.Success {
		return code
	}
	if code := s.handles.check(hip.HandleStream, uint64(l.Stream)); code != hip.Success {
		return code
	}
	for _, e := range [...]hip.Event{l.Start, l.Stop} {
		if e != 0 {
			if code := s.handles.check(hip.HandleEvent, uint64(e)); code != hip.Success {
				return code
			}
		}
	}
	return hip.Success
}
