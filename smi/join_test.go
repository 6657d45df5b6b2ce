package smi_test

import (
	"context"
	"errors"
	"testing"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
)

// elsewhere is a machine whose cards are not called as those of smitest.NewMachine.
func elsewhere(cards int) *smitest.Fake {
	list := smitest.Machine(cards, 2)
	details := smitest.Details(cards)
	for i := range list {
		d := &list[i]
		d.Device.BDF = smi.Some(smi.BDF{Domain: 1, Bus: uint8(i)})
		d.Device.UUID = "GPU-" + string(rune('a'+i))
		info := *d.Info
		info.Device = d.Device
		d.Info = &info
	}
	f := smitest.NewFake(list...)
	f.SetDetails(details...)
	f.SetTopology(smitest.Topology(cards))
	return f
}

// TestJoin: the cards of several sources are one list, and what is told of each has its number there.
func TestJoin(t *testing.T) {
	smitest.Run(t, func(t *testing.T) smi.Source {
		return smi.Join(smitest.NewMachine(2, 1), elsewhere(2))
	})
	a, b := smitest.NewFake(smitest.Cards()...), smitest.NewFake(smitest.Cards()...)
	j, ctx := smi.Join(a, b), t.Context()
	devices, err := j.Devices(ctx)
	n := len(smitest.Cards())
	if err != nil || len(devices) != 2*n {
		t.Fatalf("%d cards, %v", len(devices), err)
	}
	for i := range devices {
		info, err := j.Info(ctx, i)
		if err != nil || devices[i].Index != i || info.Index != i || devices[i].Name != devices[i%n].Name {
			t.Errorf("card %d: %+v, %v", i, devices[i], err)
		}
	}
	snap, err := smi.TakeSnapshot(ctx, j)
	if err != nil || len(snap.Devices) != 2*n {
		t.Fatal(err)
	}
	for i, d := range snap.Devices {
		if d.Device.Index != i || d.Info != nil && d.Info.Index != i {
			t.Errorf("snapshot: card %d is %d", i, d.Device.Index)
		}
	}

	// One that does not answer any more hides nobody else's cards.
	b.Fail(smi.ErrUnavailable)
	if devices, err = j.Devices(ctx); err != nil || len(devices) != 2*n {
		t.Errorf("%d cards, %v", len(devices), err)
	}
	if _, err := j.Metrics(ctx, n); !errors.Is(err, smi.ErrUnavailable) {
		t.Errorf("a card that is gone: %v", err)
	}
	if snap, err = smi.TakeSnapshot(ctx, j); err != nil || len(snap.Devices) != 2*n || snap.Devices[n].MetricsErr == nil || snap.Devices[0].Metrics == nil {
		t.Errorf("snapshot: %v", err)
	}
	if _, err := smi.Join(smitest.NewFake(), b).Devices(ctx); err == nil {
		t.Error("a list without one of its sources")
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

// TestJoinTopology: cards of different sources do not reach each other.
func TestJoinTopology(t *testing.T) {
	j := smi.Join(smitest.NewMachine(2, 1), smitest.NewMachine(2, 2))
	top, err := j.Topology(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for from := range 4 {
		for to := range 4 {
			p := top.Path(from, to)
			if from == to {
				continue
			}
			if p == nil {
				t.Errorf("no path from %d to %d", from, to)
			} else if across := from/2 != to/2; across != (p.Access.Ok() && !p.Access.Or(true) && p.Type == "") {
				t.Errorf("from %d to %d: %+v", from, to, *p)
			}
		}
	}
}
