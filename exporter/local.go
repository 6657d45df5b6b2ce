package exporter

import (
	"time"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/smi"
)

// LocalSource tells what programs of this machine do with HIP, from memory and at
// once. It may implement Err() error: while that is not nil nothing is known and
// nothing is shown. Package exporter/ebpf has one.
type LocalSource interface {
	Local() LocalReading
}

// LocalReading is what is known about local programs at one moment. Nothing in it may
// be changed.
type LocalReading struct {
	Libraries int // files whose functions are watched
	Processes []LocalProcess
	Dropped   []LocalDropped
}

// LocalDropped is how much was not counted, and why, as a running total.
type LocalDropped struct {
	Reason string // a fixed set of the source
	Count  uint64
}

// LocalProcess is what one program did since it was first seen to call HIP. All
// figures but the allocated bytes are running totals.
type LocalProcess struct {
	PID        uint32
	Name       string // the process's short name
	Executable string // the program's file
	Library    string // the HIP library's file, as the process sees it
	User       string
	Container  smi.Container
	Since      time.Time // of its first call
	Ended      bool      // these are the last figures; what it held is free

	Calls    []LocalCall
	Launches uint64     // kernels started, those of graphs not among them
	Grid     LocalSizes // threads of the whole grid, per launch
	Block    LocalSizes // threads of a block, per launch
	Copies   []LocalCopies

	Device, Managed, Host LocalMemory
}

// LocalCall is one function.
type LocalCall struct {
	Op      string        // "hipMalloc"
	Codes   []LocalCode   // by result
	Latency rpcstats.Hist // of all results
}

// LocalCode is how often a function ended with one result.
type LocalCode struct {
	Code  string // "hipSuccess"
	Count uint64
}

// LocalCopies are the copies of one kind that succeeded.
type LocalCopies struct {
	Kind         string // host_to_host, host_to_device, device_to_host, device_to_device, default
	Count, Bytes uint64
}

// LocalMemory is one kind of memory that a program asked for.
type LocalMemory struct {
	Allocations uint64          // that succeeded
	Held        smi.Opt[uint64] // bytes allocated and not freed
}

// LocalSizes is a histogram of sizes: Buckets[i] counts those in (2^(i-1), 2^i],
// Buckets[0] those up to 1.
type LocalSizes struct {
	Buckets []uint64
	Sum     float64
}
