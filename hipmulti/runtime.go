package hipmulti

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipremote"
)

// A member is what a Runtime needs of each.
type member interface {
	hip.Runtime
	hip.HostManager
	// HostRegisterApart is HostRegister with another address on the devices than in the program.
	HostRegisterApart(t hip.Thread, p hip.Ptr, size uint64, flags uint32) hip.Error
	// Placed reports whether device addresses are from the Space.
	Placed() bool
	HostMemory(p hip.Ptr) (hipremote.HostMemory, bool)
	Adopt(h hipremote.HostMemory) hip.Error
	Disown(t hip.Thread, p hip.Ptr) hip.Error
	// Among tells how many devices the program has, with those of other workers: what advice about managed memory may name.
	Among(devices int32)
	// Turn waits until it would be the turn of what is queued on a stream now.
	Turn(t hip.Thread, st hip.Stream) hip.Error
	// InTurn has f run when a stream comes to it, and the stream waits for it.
	InTurn(t hip.Thread, st hip.Stream, f func() hip.Error) hip.Error
	// Report notes an asynchronous error of a device.
	Report(device int32, code hip.Error)
	Flush() error
	Close() error
}

var _ member = (*hipremote.Client)(nil)

// Runtime is a hip.Runtime over several workers. All methods are safe for concurrent use.
type Runtime struct {
	workers   []member
	space     *hipremote.Space
	rocr, hip string // ROCR_VISIBLE_DEVICES and HIP_VISIBLE_DEVICES among all devices

	opening sync.Mutex
	devs    atomic.Pointer[devices] // nil until all workers have said what they have
	strays  strays
	hosts   hosts
	asides  asides
	both    sync.Mutex // see onBoth
}

var (
	_ hip.Runtime     = (*Runtime)(nil)
	_ hip.HostManager = (*Runtime)(nil)
)

// New is a runtime over the workers of these configurations, which say how to connect; the visible devices of the first are those of the whole list.
// It connects when it is first used.
func New(configs []hipremote.Config) *Runtime {
	r := &Runtime{space: hipremote.NewSpace(len(configs)), rocr: configs[0].ROCrDevices, hip: configs[0].Devices}
	for i, c := range configs {
		c.Space, c.Part, c.ROCrDevices, c.Devices = r.space, i, "", ""
		r.workers = append(r.workers, hipremote.New(c))
	}
	return r
}

// Flush sends what is held back.
func (r *Runtime) Flush() error { return r.each(member.Flush) }

// Close ends all sessions.
func (r *Runtime) Close() error { return r.each(member.Close) }

// each does something with all workers at once.
func (r *Runtime) each(f func(member) error) error {
	errs := make([]error, len(r.workers))
	var wg sync.WaitGroup
	for i, w := range r.workers {
		wg.Go(func() { errs[i] = f(w) })
	}
	wg.Wait()
	return errors.Join(errs...)
}
