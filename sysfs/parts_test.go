package sysfs

import (
	"testing"

	"github.com/rocwire/rocwire/smi"
)

// The parts of a divided card are told in their order, each with its own device file;
// a card that is whole has none.
func TestParts(t *testing.T) {
	gpu := func(number uint32, bus, function, render uint64) *node {
		return &node{number: number, gpuID: uint64(1000 + number), props: map[string]uint64{"location_id": bus<<8 | function, "drm_render_minor": render}}
	}
	top := &topology{nodes: []*node{{number: 0}, gpu(1, 0x11, 0, 128), gpu(2, 0xc1, 1, 130), gpu(3, 0xc1, 0, 129), gpu(4, 0xc1, 2, 0)}}
	if got := top.parts(top.gpus(smi.BDF{Bus: 0x11})); got != nil {
		t.Errorf("%+v", got)
	}
	got := top.parts(top.gpus(smi.BDF{Bus: 0xc1}))
	if len(got) != 3 || got[0].DRMRender != smi.Some(uint32(129)) || got[1].DRMRender != smi.Some(uint32(130)) || got[2].DRMRender.Ok() {
		t.Fatalf("%+v", got)
	}
	if got[0].KFDNode != smi.Some(uint32(3)) || got[0].KFD != smi.Some(uint64(1003)) || got[0].HIP != smi.Some(uint32(2)) || got[1].HIP != smi.Some(uint32(1)) {
		t.Errorf("%+v", got)
	}
}
