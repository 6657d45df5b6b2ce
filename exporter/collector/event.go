package collector

import (
	"strconv"

	"github.com/rocwire/rocwire/smi"
)

func init() {
	register("event", func(*Options) collector { return eventCollector{} })
}

var (
	eventsTotal = define(counter, "gpu_events_total",
		"What happened to the GPU since the exporter began to listen, by kind: vm_fault, thermal_throttle, gpu_post_reset, ring_hang, ….", "gpu", "kind")
	eventsMissed = define(counter, "gpu_events_missed_total", "Events that came faster than they could be counted, on all GPUs.")
)

// EventKinds are the kinds that are counted apart; what a source invents beyond them
// is the last, so that no source makes series.
var EventKinds = []string{
	smi.EventVMFault, smi.EventThermalThrottle, smi.EventPreReset, smi.EventPostReset, smi.EventMigrateStart, smi.EventMigrateEnd,
	smi.EventPageFaultStart, smi.EventPageFaultEnd, smi.EventQueueEviction, smi.EventQueueRestore, smi.EventUnmap, smi.EventProcessStart,
	smi.EventProcessEnd, smi.EventRingHang, smi.EventECC, smi.EventLinkChange, smi.EventLost, smi.EventFound, smi.EventKernelCheck, OtherEvents,
}

// OtherEvents is the kind of events that have no other.
const OtherEvents = "other"

// eventCollector tells how often what happened.
type eventCollector struct{}

func (eventCollector) update(v *View, emit *emitter) error {
	if v.Events.Heard {
		emit.counter(eventsMissed, float64(v.Events.Missed))
		for i := range v.Cards {
			// Zeros, too: the first event of a kind is to be seen as an increase.
			for _, kind := range EventKinds {
				index := v.Cards[i].Snap.Device.Index
				emit.counter(eventsTotal, float64(v.Events.Counts[EventKey{index, kind}]), strconv.Itoa(index), kind)
			}
		}
		for _, kind := range EventKinds {
			if n := v.Events.Counts[EventKey{smi.NoCard, kind}]; n > 0 {
				emit.counter(eventsTotal, float64(n), "", kind)
			}
		}
	}
	return v.Events.Err
}
