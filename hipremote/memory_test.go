package hipremote

import (
	"slices"
	"testing"
)

// TestGaps: what is given back of a range lies in it, wherever else this client has host memory: everything between was given back once, Go's heap
// among it, when another client's memory was above the range.
func TestGaps(t *testing.T) {
	var m memory
	host := &hostRegion{}
	for _, b := range []*block{
		{base: 0x1000, size: 0x1000, host: host},
		{base: 0x100000, size: 0x1000, host: host},
		{base: 0x105000, size: 0x1000},
		{base: 0x10a000, size: 0x2000, host: host},
		{base: 0x10c000, size: 0x1000, host: &hostRegion{registered: true}, mirror: true},
		{base: 0x7f0000000000, size: 0x1000, host: host},
	} {
		m.blocks.insert(b)
	}
	want := []addressRange{{0x101000, 0x9000}, {0x10c000, 0x4000}}
	if got := m.gaps(addressRange{0x100000, 0x10000}); !slices.Equal(got, want) {
		t.Errorf("%#x, want %#x", got, want)
	}
}
