package worker

import (
	"io"
	"log/slog"
	"testing"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu"
)

// TestRemoteView: a card says that program and kernel may write the same memory at once, and a program elsewhere is told that they may not, by the properties
// and by the attributes.
func TestRemoteView(t *testing.T) {
	rt, err := simgpu.New(simgpu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	s := newSession(rt, nil, slog.New(slog.NewTextHandler(io.Discard, nil)))
	s.limit()
	for _, a := range []struct {
		attr hip.DeviceAttribute
		prop func(*hip.DevicePropR0600) int32
	}{
		{hip.DeviceAttributeConcurrentManagedAccess, func(p *hip.DevicePropR0600) int32 { return p.ConcurrentManagedAccess }},
		{hip.DeviceAttributeHostNativeAtomicSupported, func(p *hip.DevicePropR0600) int32 { return p.HostNativeAtomicSupported }},
		{hip.DeviceAttributePageableMemoryAccess, func(p *hip.DevicePropR0600) int32 { return p.PageableMemoryAccess }},
	} {
		card, _ := rt.GetDevicePropertiesR0600(0)
		p, code := s.rt.GetDevicePropertiesR0600(0)
		v, code2 := s.rt.DeviceGetAttribute(a.attr, 0)
		if code != hip.Success || code2 != hip.Success || a.prop(p) != 0 || v != 0 {
			t.Errorf("attribute %d: %v %v, property %d, attribute %d", a.attr, code, code2, a.prop(p), v)
		}
		if a.attr == hip.DeviceAttributeConcurrentManagedAccess && a.prop(card) != 1 {
			t.Error("the card says so itself")
		}
	}
	if _, code := s.rt.DeviceGetAttribute(hip.DeviceAttributeConcurrentManagedAccess, 9); code == hip.Success {
		t.Error("of a device that is not there, too")
	}
	if v, code := s.rt.DeviceGetAttribute(hip.DeviceAttributeManagedMemory, 0); code != hip.Success || v != 1 {
		t.Errorf("managed memory: %d, %v", v, code)
	}
}
