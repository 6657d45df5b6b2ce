package fleet

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// Each thing that is wrong with a card is a trouble, and nothing else is.
func TestTroubles(t *testing.T) {
	some := func(n uint64) smi.Opt[uint64] { return smi.Some(n) }
	stale := &smi.Metrics{}
	stale.Stale = smi.Some(smi.Duration(90 * time.Second))
	for _, c := range []struct {
		what     string
		card     smi.DeviceSnapshot
		pages    int
		pagesErr error
		want     []Trouble
	}{
		{what: "nothing is known"},
		{what: "well", card: smi.DeviceSnapshot{Metrics: &smi.Metrics{}, ECC: &smi.ECC{Uncorrectable: some(0), BadPageLimit: smi.Some(uint32(2))}}, pages: 1},
		{what: "figures that the card has none of", card: smi.DeviceSnapshot{MetricsErr: &smi.Failure{Code: smi.ErrNotSupported}}},
		{what: "no figures", card: smi.DeviceSnapshot{MetricsErr: &smi.Failure{Code: smi.ErrTimeout, Detail: "no answer within 2s"}},
			want: []Trouble{{NoAnswer, "its figures cannot be read: no answer within 2s"}}},
		{what: "old figures", card: smi.DeviceSnapshot{Metrics: stale}, want: []Trouble{{NoAnswer, "it has not answered for 1m30s"}}},
		{what: "a total", card: smi.DeviceSnapshot{ECC: &smi.ECC{Uncorrectable: some(3)}}, want: []Trouble{{Uncorrectable, "3 uncorrectable memory errors"}}},
		{what: "parts and no total", card: smi.DeviceSnapshot{ECC: &smi.ECC{Blocks: []smi.ECCBlock{{Block: "umc", Uncorrectable: some(2)}, {Block: "gfx"}, {Block: "sdma", Uncorrectable: some(1)}}}},
			want: []Trouble{{Uncorrectable, "3 uncorrectable memory errors"}}},
		{what: "a total and its parts", card: smi.DeviceSnapshot{ECC: &smi.ECC{Uncorrectable: some(3), Blocks: []smi.ECCBlock{{Block: "umc", Uncorrectable: some(2)}}}},
			want: []Trouble{{Uncorrectable, "3 uncorrectable memory errors"}}},
		{what: "worn out", card: smi.DeviceSnapshot{ECC: &smi.ECC{BadPageLimit: smi.Some(uint32(2))}}, pages: 2,
			want: []Trouble{{BadPages, "2 bad pages; it is not to be used with 2"}}},
		{what: "pages that cannot be read", card: smi.DeviceSnapshot{ECC: &smi.ECC{}}, pagesErr: errors.New("gone"), want: []Trouble{{NoAnswer, "its bad pages cannot be read: gone"}}},
		{what: "pages that cannot be read of one that has not answered", card: smi.DeviceSnapshot{Metrics: stale, ECC: &smi.ECC{}}, pagesErr: errors.New("gone"),
			want: []Trouble{{NoAnswer, "it has not answered for 1m30s"}}},
		{what: "all of it", card: smi.DeviceSnapshot{Metrics: stale, ECC: &smi.ECC{Uncorrectable: some(1), BadPageLimit: smi.Some(uint32(1))}}, pages: 7,
			want: []Trouble{{NoAnswer, "it has not answered for 1m30s"}, {Uncorrectable, "1 uncorrectable memory errors"}, {BadPages, "7 bad pages; it is not to be used with 1"}}},
	} {
		if got := troubles(&c.card, c.pages, c.pagesErr); !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.what, got, c.want)
		}
	}
}
