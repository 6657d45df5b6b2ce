package smitest

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// Faulty is a Fake whose cards can be told to fail; it remembers what it was told.
type Faulty struct {
	*Fake
	told []Told
}

// NewFaulty is a source like NewMachine whose cards can be told to fail.
func NewFaulty(cards, processes int) *Faulty {
	return &Faulty{Fake: NewMachine(cards, processes)}
}

// Told is one fault a Faulty was told to suffer.
type Told struct {
	Index int
	Fault smi.Fault
}

var _ smi.Injector = (*Faulty)(nil)

// faultEvents are what faults make a card tell.
var faultEvents = map[string]string{
	smi.FaultECC: smi.EventECC, smi.FaultThermal: smi.EventThermalThrottle, smi.FaultHang: smi.EventRingHang,
	smi.FaultReset: smi.EventPostReset, smi.FaultLink: smi.EventLinkChange, smi.FaultGone: smi.EventLost,
}

// Inject implements smi.Injector.
func (f *Faulty) Inject(_ context.Context, index int, fault smi.Fault) error {
	if _, err := f.card(index); err != nil {
		return err
	}
	if faultEvents[fault.Kind] == "" {
		kinds := slices.Sorted(maps.Keys(faultEvents))
		return smi.Errorf(smi.ErrInvalid, "no fault %q: there are %s", fault.Kind, strings.Join(kinds, ", "))
	}
	f.mu.Lock()
	f.told = append(f.told, Told{index, fault})
	f.mu.Unlock()
	select {
	case f.events <- smi.Event{Time: time.Now(), Device: index, Kind: faultEvents[fault.Kind]}:
	default: // nobody reads them
	}
	return nil
}

// Told are the faults so far.
func (f *Faulty) Told() []Told {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.told)
}
