package hiptest

import (
	"github.com/rocwire/rocwire/hip"
)

var deviceTests = []test{
	{"Properties", func(e *env) {
		n, err := e.GetDeviceCount()
		e.ok("GetDeviceCount", err)
		if n < 1 {
			e.Fatalf("%d devices", n)
		}
		for id := range n {
			p, err := e.GetDevicePropertiesR0600(id)
			e.ok("GetDeviceProperties", err)
			if text(p.Name[:]) == "" || text(p.GcnArchName[:]) == "" || p.TotalGlobalMem == 0 || p.WarpSize != 64 && p.WarpSize != 32 {
				e.Errorf("device %d: %q, %q, %d bytes, %d lanes", id, p.Name, p.GcnArchName, p.TotalGlobalMem, p.WarpSize)
			}
			for _, a := range []struct {
				attr hip.DeviceAttribute
				want int32
			}{
				{hip.DeviceAttributeWarpSize, p.WarpSize},
				{hip.DeviceAttributeMultiprocessorCount, p.MultiProcessorCount},
				{hip.DeviceAttributeMaxThreadsPerBlock, p.MaxThreadsPerBlock},
				{hip.DeviceAttributeMaxSharedMemoryPerBlock, int32(p.SharedMemPerBlock)},
				{hip.DeviceAttributeMaxBlockDimX, p.MaxThreadsDim[0]},
				{hip.DeviceAttributeMaxGridDimX, p.MaxGridSize[0]},
				{hip.DeviceAttributeClockRate, p.ClockRate},
				{hip.DeviceAttributeComputeCapabilityMajor, p.Major},
				{hip.DeviceAttributePciBusId, p.PciBusID},
				{hip.DeviceAttributeL2CacheSize, p.L2CacheSize},
				{hip.DeviceAttributeCooperativeLaunch, p.CooperativeLaunch},
			} {
				got, err := e.DeviceGetAttribute(a.attr, id)
				e.ok("DeviceGetAttribute", err)
				if got != a.want {
					e.Errorf("device %d: attribute %d is %d, the property says %d", id, a.attr, got, a.want)
				}
			}
		}
	}},
	{"Errors", func(e *env) {
		n, _ := e.GetDeviceCount()
		for _, id := range []int32{-1, n, 1 << 30} {
			_, err := e.GetDevicePropertiesR0600(id)
			e.is("GetDeviceProperties", err, hip.ErrorInvalidDevice)
			_, err = e.DeviceGetAttribute(hip.DeviceAttributeWarpSize, id)
			e.is("DeviceGetAttribute", err, hip.ErrorInvalidDevice)
		}
		_, err := e.DeviceGetAttribute(123456, 0)
		e.is("an attribute that does not exist", err, hip.ErrorInvalidValue)
	}},
	{"Peers", func(e *env) {
		n, _ := e.GetDeviceCount()
		can, err := e.DeviceCanAccessPeer(0, 0)
		if e.ok("DeviceCanAccessPeer", err); can != 0 {
			e.Error("a device is its own peer")
		}
		_, err = e.DeviceCanAccessPeer(0, n)
		e.is("DeviceCanAccessPeer of no device", err, hip.ErrorInvalidDevice)
		e.is("EnablePeerAccess of no device", e.DeviceEnablePeerAccess(e.th, n, 0), hip.ErrorInvalidDevice)
		if n < 2 {
			return
		}
		if can, err = e.DeviceCanAccessPeer(0, 1); err != hip.Success || can == 0 {
			return
		}
		e.is("DisablePeerAccess before it is enabled", e.DeviceDisablePeerAccess(e.th, 1), hip.ErrorPeerAccessNotEnabled)
		e.is("EnablePeerAccess", e.DeviceEnablePeerAccess(e.th, 1, 0), hip.Success)
		e.is("EnablePeerAccess again", e.DeviceEnablePeerAccess(e.th, 1, 0), hip.ErrorPeerAccessAlreadyEnabled)
		e.is("DisablePeerAccess", e.DeviceDisablePeerAccess(e.th, 1), hip.Success)
	}},
	{"Reset", func(e *env) {
		p := e.malloc(1 << 20)
		s := e.stream(0)
		v := e.event(0)
		free, total, err := e.MemGetInfo(e.th)
		e.ok("MemGetInfo", err)
		e.ok("DeviceReset", e.DeviceReset(e.th))
		free2, total2, err := e.MemGetInfo(e.th)
		e.ok("MemGetInfo", err)
		if free2 < free+1<<20 || total2 != total {
			e.Errorf("free %d of %d before the reset, %d of %d after it", free, total, free2, total2)
		}
		e.is("Free of what the reset freed", e.Free(e.th, p), hip.ErrorInvalidValue)
		if e.StreamSynchronize(e.th, s) == hip.Success {
			e.Error("a stream survived the reset")
		}
		if e.EventRecord(e.th, v, 0) == hip.Success {
			e.Error("an event survived the reset")
		}
		e.mods = map[string]hip.Module{}
		e.vectorAdd(1000, 0)
	}},
	{"EventOfAnotherDevice", func(e *env) {
		n, _ := e.GetDeviceCount()
		if n < 2 {
			return
		}
		other := hip.Thread{Device: n - 1, ID: e.th.ID}
		theirs, err := e.StreamCreateWithPriority(other, 0, 0)
		e.ok("StreamCreate on the other", err)
		s, v := e.stream(0), e.event(0)
		e.is("an event on another device's stream", e.EventRecord(e.th, v, theirs), hip.ErrorInvalidHandle)
		e.is("an event on another device's null stream", e.EventRecord(other, v, 0), hip.ErrorInvalidHandle)
		e.ok("an event on its device's stream, whatever the thread's device is", e.EventRecord(other, v, s))
		e.ok("EventSynchronize", e.EventSynchronize(e.th, v))
		e.ok("another device's stream may wait for it", e.StreamWaitEvent(e.th, theirs, v, 0))
		e.ok("StreamDestroy", e.StreamDestroy(other, theirs))
		e.is("a stream that is no more does not wait", e.StreamWaitEvent(e.th, theirs, v, 0), hip.ErrorInvalidHandle)
	}},
	{"ResetIsOfOneDevice", func(e *env) {
		n, _ := e.GetDeviceCount()
		if n < 2 {
			return
		}
		p, s, v := e.upload(pattern(4096, 3)), e.stream(0), e.event(0)
		f := e.kernel("vector_add", "vector_add")
		other := hip.Thread{Device: n - 1, ID: e.th.ID}
		theirs, err := e.StreamCreateWithPriority(other, 0, 0)
		e.ok("StreamCreate on the other", err)
		e.ok("DeviceReset of the other", e.DeviceReset(other))
		if e.StreamSynchronize(other, theirs) == hip.Success {
			e.Error("a stream of the other survived the reset")
		}
		x := e.malloc(4096)
		e.launch(f, 4, 256, s, p, p, x, uint32(1024))
		e.ok("EventRecord", e.EventRecord(e.th, v, s))
		e.ok("EventSynchronize", e.EventSynchronize(e.th, v))
		e.ok("StreamSynchronize", e.StreamSynchronize(e.th, s))
		e.equal("what was there before", e.download(p, 4096), pattern(4096, 3))
		e.ok("EventDestroy", e.EventDestroy(e.th, v))
		e.ok("StreamDestroy", e.StreamDestroy(e.th, s))
	}},
}
