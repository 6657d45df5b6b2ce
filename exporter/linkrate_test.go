package exporter

import (
	"testing"
	"time"

	"github.com/rocwire/rocwire/smi"
)

func TestLinkRate(t *testing.T) {
	at := time.Unix(1e9, 0)
	links := func(totals ...smi.Bytes) *smi.XGMI {
		x := &smi.XGMI{}
		for _, n := range totals {
			x.Links = append(x.Links, smi.XGMILink{Read: smi.Some(n), Written: smi.Some(2 * n)})
		}
		return x
	}
	var l linkRate
	step := func(what string, after time.Duration, x *smi.XGMI, read, written float64) {
		t.Helper()
		l.add(x, at.Add(after))
		if r := float64(l.rate.Read.Or(-1)); r != read {
			t.Errorf("%s: reads %v a second, want %v", what, r, read)
		}
		if w := float64(l.rate.Written.Or(-1)); w != written {
			t.Errorf("%s: writes %v a second, want %v", what, w, written)
		}
	}
	step("first", 0, links(100, 200), -1, -1)
	step("second", 10*time.Second, links(150, 350), 20, 40)
	stale := links(150, 350)
	stale.Stale = smi.Some(smi.Duration(5 * time.Second))
	step("the same again", 15*time.Second, stale, 20, 40)
	step("idle", 20*time.Second, links(150, 350), 0, 0)
	step("loaded again", 30*time.Second, links(1, 2), -1, -1)
	step("another link", 40*time.Second, links(10, 20, 30), -1, -1)
	step("one does not count", 50*time.Second, &smi.XGMI{Links: []smi.XGMILink{{Read: smi.Some(smi.Bytes(5))}}}, -1, -1)
	step("no links", 60*time.Second, &smi.XGMI{}, -1, -1)
}
