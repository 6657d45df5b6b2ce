package exporter

import (
	"errors"
	"strconv"

	"github.com/rocwire/rocwire/smi"
)

func init() {
	registerCollector("event", func(*Options) collector { return eventCollector{} })
}

var (
	eventsTotal = define(counter, "gpu_events_total",
		"What happened to the GPU since the exporter began to listen, by kind: vm_fault, thermal_throttle, gpu_post_reset, ring_hang, ….", "gpu", "kind")
	eventsMissed = define(counter, "gpu_events_missed_total", "Events that came faster than they could be counted, on all GPUs.")
)

// eventCollector tells how often what happened.
type eventCollector struct{}

func (eventCollector) update(v *view, emit *emitter) error {
	if v.events.heard {
		emit.counter(eventsMissed, float64(v.events.missed))
		for i := range v.cards {
			// Zeros, too: the first event of a kind is to be seen as an increase.
			for _, kind := range eventKinds {
				index := v.cards[i].snap.Device.Index
				emit.counter(eventsTotal, float64(v.events.counts[eventKey{index, kind}]), strconv.Itoa(index), kind)
			}
		}
		for _, kind := range eventKinds {
			if n := v.events.counts[eventKey{smi.NoCard, kind}]; n > 0 {
				emit.counter(eventsTotal, float64(n), "", kind)
			}
		}
	}
	if errors.Is(v.events.err, smi.ErrNotSupported) || errors.Is(v.events.err, errStarting) {
		return nil
	}
	return v.events.err
}
