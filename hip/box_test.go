package hip

import (
	"reflect"
	"testing"
)

// Every field of a side is its own: nothing is lost on the way there and back, and the sides are not mixed up.
func TestBoxSides(t *testing.T) {
	var p DrvMEMCPY3D
	v := reflect.ValueOf(&p).Elem()
	for i := range v.NumField() {
		if f := v.Field(i); f.CanUint() {
			f.SetUint(uint64(i) + 1)
		} else {
			f.SetInt(int64(i) + 1)
		}
	}
	same := DrvMEMCPY3D{WidthInBytes: p.WidthInBytes, Height: p.Height, Depth: p.Depth}
	same.SetSrc(p.Src())
	same.SetDst(p.Dst())
	if same != p {
		t.Errorf("%+v became %+v", p, same)
	}
	src, dst := p.Src(), p.Dst()
	turned := same
	turned.SetSrc(dst)
	turned.SetDst(src)
	if turned.Src() != dst || turned.Dst() != src || turned == p {
		t.Errorf("turned: %+v", turned)
	}
	if src.Ptr() != src.Device {
		t.Error("memory of no kind is not the device's")
	}
	if src.MemoryType = MemoryTypeHost; src.Ptr() != src.Host {
		t.Error("host memory is not at Host")
	}
}
