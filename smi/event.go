package smi

import "time"

// Event is something that happened to a card.
type Event struct {
	Time    time.Time `json:"time" msgpack:"t"`
	Device  int       `json:"device" msgpack:"d,omitempty"`            // index of the card, or NoCard
	Kind    string    `json:"kind" msgpack:"k"`                        // one of the Event… constants
	PID     uint32    `json:"pid,omitempty" msgpack:"p,omitempty"`     // the process it is about
	Count   uint64    `json:"count,omitempty" msgpack:"c,omitempty"`   // EventMissed: how many, 0 if nobody knows
	Message string    `json:"message,omitempty" msgpack:"m,omitempty"` // details, for people
}

// NoCard is the Device of an event that is about no card.
const NoCard = -1

// Kinds of event. Those the vendor's library knows have its names.
const (
	EventVMFault         = "vm_fault" // a kernel touched memory it has not
	EventThermalThrottle = "thermal_throttle"
	EventPreReset        = "gpu_pre_reset"
	EventPostReset       = "gpu_post_reset"
	EventMigrateStart    = "migrate_start"
	EventMigrateEnd      = "migrate_end"
	EventPageFaultStart  = "page_fault_start"
	EventPageFaultEnd    = "page_fault_end"
	EventQueueEviction   = "queue_eviction"
	EventQueueRestore    = "queue_restore"
	EventUnmap           = "unmap_from_gpu"
	EventProcessStart    = "process_start"
	EventProcessEnd      = "process_end"
	EventRingHang        = "ring_hang"   // a queue does not get on
	EventECC             = "ecc"         // errors were counted
	EventLinkChange      = "link_change" // the PCIe or an XGMI link got slower or faster
	EventLost            = "device_lost" // the card does not answer any more
	EventFound           = "device_found"
	EventKernelCheck     = "kernel_check"  // a check of the simulator found that a kernel does something wrong
	EventMissed          = "events_missed" // events came faster than they were read; about no card
)
