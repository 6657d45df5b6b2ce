package rocm

import (
	"testing"

	"github.com/rocwire/rocwire/hip"
)

// TestVirtualMistakes: the library is not told what would crash it, and what it says it has mapped and has not, is an error. The stub is as AMD's: it ends
// the process when it is told to unmap or free what is not there, or to release what was released.
func TestVirtualMistakes(t *testing.T) {
	t.Setenv("STUB_TRUSTS", "1")
	r := virtual(t, "")
	prop := physicalOn(0)
	h, e := r.MemCreate(thread, 4*mib, &prop, 0)
	must(t, "MemCreate", e)
	p, e := r.MemAddressReserve(thread, 8*mib, 0, placeBase, 0)
	must(t, "MemAddressReserve", e)
	for what, e := range map[string]hip.Error{
		"beyond the allocation":         r.MemMap(thread, p, 8*mib, 0, h, 0),
		"beyond the addresses":          r.MemMap(thread, p+6*mib, 4*mib, 0, h, 0),
		"nowhere":                       r.MemMap(thread, p-4*mib, 4*mib, 0, h, 0),
		"nothing":                       r.MemMap(thread, p, 0, 0, h, 0),
		"of no allocation":              r.MemMap(thread, p, 4*mib, 0, h+1, 0),
		"what the library does not map": r.MemMap(thread, p, 4*mib, 0, h, 1),
		"unmapped":                      r.MemUnmap(thread, p, 4*mib),
		"other addresses freed":         r.MemAddressFree(thread, p+2*mib, 6*mib),
		"a part of them":                r.MemAddressFree(thread, p, 6*mib),
		"released":                      r.MemRelease(thread, h+1),
		"asked about":                   func() hip.Error { _, e := r.MemGetAllocationPropertiesFromHandle(thread, h+1); return e }(),
		"whose it is":                   func() hip.Error { _, e := r.MemRetainAllocationHandle(thread, p); return e }(),
	} {
		is(t, what, e, hip.ErrorInvalidValue)
	}
	must(t, "MemMap", r.MemMap(thread, p, 4*mib, 0, h, 0))
	must(t, "MemMap again", r.MemMap(thread, p+4*mib, 4*mib, 0, h, 0))
	is(t, "over another", r.MemMap(thread, p+2*mib, 4*mib, 0, h, 0), hip.ErrorInvalidValue)
	if g, e := r.MemRetainAllocationHandle(thread, p+6*mib); e != hip.Success || g != h {
		t.Error("MemRetainAllocationHandle", g, e)
	}
	must(t, "MemRelease", r.MemRelease(thread, h))
	must(t, "released again while it is mapped", r.MemRelease(thread, h))
	is(t, "a part", r.MemUnmap(thread, p, 2*mib), hip.ErrorInvalidValue)
	is(t, "from the middle", r.MemUnmap(thread, p+2*mib, 2*mib), hip.ErrorInvalidValue)
	must(t, "both", r.MemUnmap(thread, p, 8*mib))
	is(t, "once more", r.MemUnmap(thread, p, 8*mib), hip.ErrorInvalidValue)
	is(t, "released when it is gone", r.MemRelease(thread, h), hip.ErrorInvalidValue)

	// What is mapped still is unmapped with the addresses, and all of a device when it is reset.
	for _, end := range []func() hip.Error{
		func() hip.Error { return r.MemAddressFree(thread, p, 8*mib) },
		func() hip.Error { return r.DeviceReset(thread) },
	} {
		h, e = r.MemCreate(thread, 4*mib, &prop, 0)
		must(t, "MemCreate", e)
		must(t, "MemMap", r.MemMap(thread, p, 4*mib, 0, h, 0))
		must(t, "the end", end())
		is(t, "unmapped after the end", r.MemUnmap(thread, p, 4*mib), hip.ErrorInvalidValue)
		_ = r.MemRelease(thread, h)
		if n, _, _ := r.MemGetInfo(thread); n != 64*mib {
			t.Error("free", n)
		}
		if p, e = r.MemAddressReserve(thread, 8*mib, 0, placeBase, 0); e != hip.Success {
			p = placeBase // it is there still
		}
	}
	must(t, "MemAddressFree", r.MemAddressFree(thread, p, 8*mib))
	is(t, "freed again", r.MemAddressFree(thread, p, 8*mib), hip.ErrorInvalidValue)
	if n := len(r.allocs.all) + len(r.allocs.maps) + len(r.allocs.reserved); n != 0 {
		t.Error(n, "things are remembered that are gone")
	}
}
