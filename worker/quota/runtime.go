package quota

import (
	"sync"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/worker/hostmem"
)

// Runtime is a hip.Runtime within limits. All methods may be called from any goroutine. Methods that no quota concerns are generated.
type Runtime struct {
	Runtime hip.Runtime
	placer  hip.Placer                           // the same runtime's; nil: it places memory itself
	pools   hip.PoolHolder                       // the same runtime's; nil: nobody knows what pools keep, and what was freed does not count
	room    func(device int32, size uint64) bool // see SetRoom; may be nil
	spare   func(device int32) uint64            // likewise
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

// SetRoom sets who has others give way when a device has no memory for an allocation of size bytes that the limits allow, and reports whether any did: then it
// is tried again. spare is how much of a device's memory they have: it counts as free. It is called before anything else.
func (q *Runtime) SetRoom(room func(device int32, size uint64) bool, spare func(device int32) uint64) {
	q.room, q.spare = room, spare
}

// press asks for room.
func (q *Runtime) press(device int32, size uint64) bool { return q.room != nil && q.room(device, size) }

// mostPresses is how often room is asked for on behalf of one call: what is made may be another's before the call has it, or lie where it is of no use.
const mostPresses = 16

// pressed runs alloc, again as long as it is out of memory and others give way.
func pressed[T any](q *Runtime, d *device, size uint64, alloc func() (T, hip.Error)) (v T, code hip.Error) {
	for range mostPresses {
		if v, code = alloc(); code != hip.ErrorOutOfMemory || size == 0 || !q.press(d.index, size) {
			break
		}
	}
	return v, code
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
	joint  Joint // of memory; nil: the session shares its quota with nobody

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
