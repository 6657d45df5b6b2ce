package smitest

import (
	"context"
	"sync"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// Fake is a source of fixed figures.
type Fake struct {
	smi.Unimplemented

	mu     sync.Mutex
	cards  []smi.DeviceSnapshot
	detail []Detail
	topo   *smi.Topology
	done   []Change
	setErr error
	events chan smi.Event
	err    error
	hold   map[int]chan struct{}
	closed bool
}

// NewFake is a source of these cards. A part's failure is answered as an error.
func NewFake(cards ...smi.DeviceSnapshot) *Fake {
	return &Fake{cards: cards, hold: map[int]chan struct{}{}, events: make(chan smi.Event, 64)}
}

// SetCards changes the cards.
func (f *Fake) SetCards(cards ...smi.DeviceSnapshot) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cards = cards
}

// Fail makes every question fail with err, until Fail(nil).
func (f *Fake) Fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}

// Hang makes the metrics of a card take for ever, regardless of the context, until
// the returned function is called.
func (f *Fake) Hang(index int) (release func()) {
	ch := make(chan struct{})
	f.mu.Lock()
	f.hold[index] = ch
	f.mu.Unlock()
	return sync.OnceFunc(func() {
		f.mu.Lock()
		delete(f.hold, index)
		f.mu.Unlock()
		close(ch)
	})
}

func (f *Fake) card(index int) (smi.DeviceSnapshot, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.ready(); err != nil {
		return smi.DeviceSnapshot{}, err
	}
	if index < 0 || index >= len(f.cards) {
		return smi.DeviceSnapshot{}, smi.NoDevice(index, len(f.cards))
	}
	return f.cards[index], nil
}

func (f *Fake) ready() error {
	if f.closed {
		return smi.Errorf(smi.ErrUnavailable, "the source is closed")
	}
	return f.err
}

// Devices implements smi.Source.
func (f *Fake) Devices(context.Context) ([]smi.Device, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.ready(); err != nil {
		return nil, err
	}
	ds := make([]smi.Device, len(f.cards))
	for i := range f.cards {
		ds[i] = f.cards[i].Device
	}
	return ds, nil
}

// Info implements smi.Source.
func (f *Fake) Info(_ context.Context, index int) (*smi.Info, error) {
	c, err := f.card(index)
	if err != nil {
		return nil, err
	}
	return c.Info.Clone(), c.InfoErr.Err()
}

// Metrics implements smi.Source.
func (f *Fake) Metrics(_ context.Context, index int) (*smi.Metrics, error) {
	f.mu.Lock()
	wait := f.hold[index]
	f.mu.Unlock()
	if wait != nil {
		<-wait
	}
	c, err := f.card(index)
	if err != nil {
		return nil, err
	}
	return c.Metrics.Clone(), c.MetricsErr.Err()
}

// Processes implements smi.Source.
func (f *Fake) Processes(_ context.Context, index int) ([]smi.Process, error) {
	c, err := f.card(index)
	if err != nil {
		return nil, err
	}
	return smi.CloneProcesses(c.Processes), c.ProcessesErr.Err()
}

// Close implements smi.Source.
func (f *Fake) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	return nil
}

// Then is the moment at which the figures of Cards were read.
var Then = time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)

// Cards are two cards: one of a data centre that answers everything and has two
// processes, one of them a remote client's; and a poor one that knows little.
func Cards() []smi.DeviceSnapshot {
	big := smi.Device{
		Index: 0, BDF: smi.Some(smi.BDF{Bus: 0xc1}), UUID: "12ff74a1-0000-1000-8012-3456789abcde",
		Name: "AMD Instinct MI300X", Target: "gfx942:sramecc+:xnack-",
	}
	small := smi.Device{Index: 1, BDF: smi.Some(smi.BDF{Bus: 0xc6}), Name: "AMD Radeon Graphics"}
	return []smi.DeviceSnapshot{{
		Device: big,
		Info: &smi.Info{
			Device: big,
			ASIC: smi.ASIC{
				VendorID: smi.Some(uint32(0x1002)), VendorName: "AMD", DeviceID: smi.Some(uint32(0x74a1)), Serial: "50D7AF8C31C0F2A1",
				ComputeUnits: smi.Some(304), MaxClockGFX: smi.Some(smi.MHz(2100)), MaxClockMem: smi.Some(smi.MHz(1300)),
			},
			VRAM: smi.VRAMInfo{
				Type: "HBM3", Vendor: "SAMSUNG", Size: smi.Some(smi.MiB(196592)), BitWidth: smi.Some(8192),
				MaxBandwidth: smi.Some(smi.BytesPerSecond(5300e9)),
			},
			Driver: smi.Driver{Name: "amdgpu", Version: "6.12.12"},
		},
		Metrics: &smi.Metrics{
			Time:     Then,
			Activity: smi.Activity{GFX: smi.Some(smi.Percent(75)), UMC: smi.Some(smi.Percent(12.5)), MM: smi.Some(smi.Ratio(0))},
			VRAM:     smi.MemoryUse{Total: smi.Some(smi.MiB(196592)), Used: smi.Some(smi.MiB(4096 + 283))},
			Clocks: []smi.Clock{
				{Domain: smi.ClockGFX, Current: smi.Some(smi.MHz(1987)), Min: smi.Some(smi.MHz(500)), Max: smi.Some(smi.MHz(2100))},
				{Domain: smi.ClockMem, Current: smi.Some(smi.MHz(1300)), Max: smi.Some(smi.MHz(1300))},
			},
			Power: smi.Power{Socket: smi.Some(smi.Watts(412)), Average: smi.Some(smi.Watts(398.5)), Cap: smi.Some(smi.Watts(750))},
			Temperatures: []smi.Temperature{
				{Sensor: smi.SensorHotspot, Current: smi.Some(smi.Celsius(61)), Limit: smi.Some(smi.Celsius(100))},
				{Sensor: smi.SensorMem, Current: smi.Some(smi.Celsius(48))},
			},
			Energy: smi.Some(smi.Joules(12345678.5)),
		},
		Processes: []smi.Process{
			{
				PID: 4711, Name: "hip-worker", VRAM: smi.Some(smi.MiB(4096)), Busy: smi.Some(smi.Duration(90 * time.Second)),
				SDMA: smi.Some(smi.Duration(1500 * time.Millisecond)), CUOccupancy: smi.Some(228), Origin: smi.OriginKFD, Session: "17",
				Client: &smi.Client{
					Address: "10.1.2.3:40112", Host: "train-3", PID: 99, Executable: "/usr/bin/python3.12", User: "ada", Pod: "train-3-xyz",
					Container: "main", Namespace: "ml", Job: "8123",
				},
			},
			{PID: 5000, Name: "rocm-bandwidth-test", VRAM: smi.Some(smi.MiB(283)), Origin: smi.OriginKFD},
		},
	}, {
		Device:       small,
		Info:         &smi.Info{Device: small},
		Metrics:      &smi.Metrics{Time: Then, VRAM: smi.MemoryUse{Total: smi.Some(smi.MiB(512))}},
		ProcessesErr: &smi.Failure{Code: smi.ErrNoPermission, Detail: "no permission to read the processes"},
	}}
}

// Clients are the worker sessions that belong to Cards.
type Clients struct{}

// Sessions implements smi.Sessions.
func (Clients) Sessions() []smi.Session {
	return []smi.Session{{
		ID: "17", PID: 4711, Client: *Cards()[0].Processes[0].Client, Start: Then.Add(-time.Hour), Devices: []int{0}, VRAM: smi.Some(smi.MiB(4096)),
		BytesIn: smi.Some(smi.Bytes(5_000_000_000)), BytesOut: smi.Some(smi.Bytes(1234)), Calls: smi.Some(uint64(800_000)), Transport: smi.TransportTLS,
	}, {
		ID: "18", PID: 4712, Client: smi.Client{Address: "[::1]:5", Host: "laptop", PID: 7, Executable: "/home/eve/a.out", User: "eve"}, Start: Then,
	}}
}

// SessionTotals implements smi.SessionTotaler.
func (Clients) SessionTotals() smi.SessionTotals {
	return smi.SessionTotals{
		Started: smi.Some(uint64(18)), Refused: smi.Some(uint64(2)), BytesIn: smi.Some(smi.Bytes(6_000_000_000)),
		BytesOut: smi.Some(smi.Bytes(99_999)), Calls: smi.Some(uint64(900_000)), Untranslated: smi.Some(uint64(2)),
	}
}
