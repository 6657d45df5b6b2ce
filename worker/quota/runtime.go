package quota

import (
	"sync"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/worker/hostmem"
)

// Runtime is a hip.Runtime within limits. All methods may be called from any goroutine. Methods that no quota concerns are generated.
type Runtime struct {
	Runtime hip.Runtime
	placer  hip.Placer     // the same runtime's; nil: it places memory itself
	pools   hip.PoolHolder // the same runtime's; nil: nobody knows what pools keep, and what was freed does not count
	devices []*device
	host    *hostmem.Account // of what is kept of allocations and mappings; nil: no limit

	mu       sync.Mutex
	blocks   map[hip.Ptr]block
	objects  map[object]block
	opened   map[hip.Ptr]opened
	physical physical
	reserved map[hip.Ptr]struct{}      // addresses
	graphs   map[hip.GraphExec][]int32 // with the devices that they use
}

// block is memory of a device.
type block struct {
	device int32
	size   uint64
	placed bool // within what was granted
}

// New puts limits, none yet, in front of a runtime. Close ends what it runs. What is kept of memory counts in host, which may be nil.
func New(rt hip.Runtime, host *hostmem.Account) *Runtime {
	q := &Runtime{Runtime: rt, host: host, reserved: map[hip.Ptr]struct{}{}, blocks: map[hip.Ptr]block{}, objects: map[object]block{}, opened: map[hip.Ptr]opened{}, graphs: map[hip.GraphExec][]int32{}}
	q.physical.init()
	q.placer, _ = rt.(hip.Placer)
	q.pools, _ = rt.(hip.PoolHolder)
	if n, code := rt.GetDeviceCount(); code == hip.Success {
		for i := range n {
			q.devices = append(q.devices, newDevice(rt, i))
		}
	}
	return q
}

// SetLimits sets the limits of a device, as the runtime numbers them, from now on. An
// unknown device is ignored: the session does not see it.
func (q *Runtime) SetLimits(index int32, l Limits) {
	if d := q.device(index); d != nil {
		d.setLimits(l)
	}
}

// Close lets every launch that waits go on, and ends the measuring.
func (q *Runtime) Close() {
	for _, d := range q.devices {
		d.time.close()
	}
}

func (q *Runtime) device(index int32) *device {
	if index < 0 || int(index) >= len(q.devices) {
		return nil
	}
	return q.devices[index]
}

// device is the account of one device.
type device struct {
	index  int32
	time   *throttle
	pooled pooled

	mu     sync.Mutex
	limits Limits
	held   uint64 // bytes that the session has of the device
	unused uint64 // of them, granted and not used
}

func newDevice(rt hip.Runtime, index int32) *device {
	return &device{index: index, time: newThrottle(rt, index)}
}

func (d *device) setLimits(l Limits) {
	d.mu.Lock()
	d.limits = l
	d.mu.Unlock()
	d.time.setShare(l)
}
