package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
)

// cardsOf is how many cards each worker has.
const cardsOf = 8

// worker is what a simulated worker tells: cards whose figures go on, and its sessions.
type worker struct {
	*smitest.Fake
	number int
	start  time.Time

	mu       sync.Mutex
	sessions map[uint64]*smi.Session
	started  uint64

	readings atomic.Uint64 // of figures of a card
	ill      atomic.Bool
}

func newWorker(number int) *worker {
	cards := smitest.Machine(cardsOf, 0)
	for i := range cards {
		d := &cards[i].Device
		d.UUID = fmt.Sprintf("%02xff74a1-0000-1000-80%02x-%012x", 0x10+i, number&0xff, number)
		cards[i].Info.Device = *d
		cards[i].Info.ASIC.Serial = fmt.Sprintf("50D7AF8C%07X%X", number, i)
	}
	f := smitest.NewFake(cards...)
	f.SetDetails(smitest.Details(cardsOf)...)
	f.SetTopology(smitest.Topology(cardsOf))
	return &worker{Fake: f, number: number, start: time.Now(), sessions: map[uint64]*smi.Session{}}
}

// Metrics implements smi.Source: no two readings are alike.
func (w *worker) Metrics(ctx context.Context, index int) (*smi.Metrics, error) {
	w.readings.Add(1)
	m, err := w.Fake.Metrics(ctx, index)
	if err != nil {
		return nil, err
	}
	m.Time = time.Now()
	s := m.Time.Sub(w.start).Seconds()
	m.Energy = smi.Some(m.Energy.Or(0) + smi.Joules(s*float64(m.Power.Socket.Or(0))))
	wave := float64((m.Time.UnixMilli()/100+int64(37*w.number+11*index))%100) / 100
	m.Activity.GFX, m.Power.Socket = smi.Some(smi.Ratio(wave)), smi.Some(smi.Watts(140+600*wave))
	for i := range m.Temperatures {
		m.Temperatures[i].Current = smi.Some(smi.Celsius(float64(40+i) + 40*wave))
	}
	return m, nil
}

// ECC implements smi.Source: the first card of an ill worker has memory errors, which it is not to be used with.
func (w *worker) ECC(ctx context.Context, index int) (*smi.ECC, error) {
	e, err := w.Fake.ECC(ctx, index)
	if err == nil && index == 0 && w.ill.Load() {
		e.Uncorrectable = smi.Some(e.Uncorrectable.Or(0) + 1)
	}
	return e, err
}

// Processes implements smi.Source: each session has one, on its card.
func (w *worker) Processes(_ context.Context, index int) ([]smi.Process, error) {
	list := []smi.Process{}
	for _, s := range w.Sessions() {
		if s.Devices[0] == index {
			list = append(list, smi.Process{
				Device: index, PID: s.PID, Name: "hip-session", VRAM: s.VRAM, Busy: smi.Some(smi.Duration(time.Since(s.Start))), Origin: smi.OriginSession, Session: s.ID, Client: &s.Client,
			})
		}
	}
	return list, nil
}

// Sessions implements smi.Sessions.
func (w *worker) Sessions() []smi.Session {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := make([]smi.Session, 0, len(w.sessions))
	for n := uint64(1); n <= w.started; n++ {
		if s := w.sessions[n]; s != nil {
			list = append(list, *s)
		}
	}
	return list
}

// begin notes a session of a client.
func (w *worker) begin(c smi.Client) (number uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.started++
	w.sessions[w.started] = &smi.Session{
		ID: fmt.Sprint(w.started), PID: uint32(1000 + w.started), Client: c, Start: time.Now(), Devices: []int{int(w.started-1) % cardsOf},
		VRAM: smi.Some(smi.MiB(4096)), BytesIn: smi.Some(smi.Bytes(1 << 30)), BytesOut: smi.Some(smi.Bytes(1 << 20)), Calls: smi.Some(uint64(1e6)), Transport: smi.TransportTCP,
	}
	return w.started
}

func (w *worker) end(number uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.sessions, number)
}
