// Package local is what programs of this machine do with HIP, as something that watches
// them tells it.
package local

import (
	"time"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/smi"
)

// Source tells what programs of this machine do with HIP, from memory and at
// once. It may implement Err() error: while that is not nil nothing is known and
// nothing is shown. Package exporter/ebpf has one.
type Source interface {
	Local() Reading
}

// Reading is what is known about local programs at one moment. Nothing in it may
// be changed.
type Reading struct {
	Libraries int // files whose functions are watched
	Processes []Process
	Dropped   []Dropped
}

// Dropped is how much was not counted, and why, as a running total.
type Dropped struct {
	Reason string // a fixed set of the source
	Count  uint64
}

// Process is what one program did since it was first seen to call HIP. All
// figures but the allocated bytes are running totals.
type Process struct {
	PID        uint32
	Name       string // the process's short name
	Executable string // the program's file
	Library    string // the HIP library's file, as the process sees it
	User       string
	Container  smi.Container
	Since      time.Time // of its first call
	Ended      bool      // these are the last figures; what it held is free

	Calls    []Call
	Launches uint64 // kernels started, those of graphs not among them
	Grid     Sizes  // threads of the whole grid, per launch
	Block    Sizes  // threads of a block, per launch
	Copies   []Copies

	Device, Managed, Host Memory
}

// Call is one function.
type Call struct {
	Op      string        // "hipMalloc"
	Codes   []Code        // by result
	Latency rpcstats.Hist // of all results
}

// Code is how often a function ended with one result.
type Code struct {
	Code  string // "hipSuccess"
	Count uint64
}

// Copies are the copies of one kind that succeeded.
type Copies struct {
	Kind         string // host_to_host, host_to_device, device_to_host, device_to_device, default
	Count, Bytes uint64
}

// Memory is one kind of memory that a program asked for.
type Memory struct {
	Allocations uint64          // that succeeded
	Held        smi.Opt[uint64] // bytes allocated and not freed
}

// Sizes is a histogram of sizes: Buckets[i] counts those in (2^(i-1), 2^i],
// Buckets[0] those up to 1.
type Sizes struct {
	Buckets []uint64
	Sum     float64
}
