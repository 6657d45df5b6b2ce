package hipabi

import "C"

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

// memPools are the program's own pools, and which pool hipMallocAsync takes from.
var memPools poolTable

type poolTable struct {
	chosen  atomic.Bool // hipDeviceSetMemPool was called with a pool of the program's own
	mu      sync.RWMutex
	device  map[hip.MemPool]int32
	current map[int32]hip.MemPool // by device; not there: the device's own
}

func (t *poolTable) add(p hip.MemPool, device int32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.device == nil {
		t.device, t.current = map[hip.MemPool]int32{}, map[int32]hip.MemPool{}
	}
	t.device[p] = device
}

// remove forgets a pool. The device whose current one it was has its own again.
func (t *poolTable) remove(p hip.MemPool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n, ok := t.device[p]; ok && t.current[n] == p {
		delete(t.current, n)
	}
	delete(t.device, p)
}

// forget drops the pools of a device that was reset.
func (t *poolTable) forget(n int32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.current, n)
	for p, d := range t.device {
		if d == n {
			delete(t.device, p)
		}
	}
}

// of is the pool of the program's own that allocations on a stream come from, 0
// if they come from the device's own.
func (t *poolTable) of(th hip.Thread, s hip.Stream) hip.MemPool {
	if !t.chosen.Load() {
		return 0
	}
	n := th.Device
	if s > hip.StreamLegacy {
		var err hip.Error
		if n, err = runtime().StreamGetDevice(th, s); err != hip.Success {
			return 0 // the allocation says what is wrong with the stream
		}
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.current[n]
}

//export rw_hipMemPoolCreate
func rw_hipMemPoolCreate(thread uint64, memPool unsafe.Pointer, poolProps unsafe.Pointer) int32 {
	if memPool == nil || poolProps == nil {
		return int32(hip.ErrorInvalidValue)
	}
	props := (*hip.MemPoolProps)(poolProps)
	p, err := runtime().MemPoolCreate(threadOf(thread), props)
	if err == hip.Success {
		memPools.add(p, props.Location.Id)
		*(*hip.MemPool)(memPool) = p
	}
	return int32(err)
}

//export rw_hipMemPoolDestroy
func rw_hipMemPoolDestroy(thread uint64, memPool uint64) int32 {
	p := hip.MemPool(memPool)
	if p == 0 {
		return int32(hip.ErrorInvalidValue)
	}
	err := runtime().MemPoolDestroy(threadOf(thread), p)
	if err == hip.Success {
		memPools.remove(p)
	}
	return int32(err)
}

// rw_hipMemPoolSetAccess reads no list that is longer than there are devices.
//
//export rw_hipMemPoolSetAccess
func rw_hipMemPoolSetAccess(thread uint64, memPool uint64, descList unsafe.Pointer, count uint64) int32 {
	if memPool == 0 || descList == nil {
		return int32(hip.ErrorInvalidValue)
	}
	if n, err := runtime().GetDeviceCount(); err != hip.Success {
		return int32(err)
	} else if count > uint64(n) {
		return int32(hip.ErrorInvalidDevice)
	}
	desc, ok := listOf[hip.MemAccessDesc](descList, count)
	if !ok {
		return int32(hip.ErrorInvalidValue)
	}
	return int32(runtime().MemPoolSetAccess(threadOf(thread), hip.MemPool(memPool), desc))
}

//export rw_hipDeviceGetMemPool
func rw_hipDeviceGetMemPool(thread uint64, out unsafe.Pointer, n int32) int32 {
	p, err := runtime().DeviceGetDefaultMemPool(n)
	if out == nil || err == hip.ErrorInvalidDevice {
		return int32(hip.ErrorInvalidValue)
	} else if err != hip.Success {
		return int32(err)
	}
	memPools.mu.RLock()
	if own := memPools.current[n]; own != 0 {
		p = own
	}
	memPools.mu.RUnlock()
	*(*hip.MemPool)(out) = p
	return int32(hip.Success)
}

//export rw_hipDeviceSetMemPool
func rw_hipDeviceSetMemPool(thread uint64, n int32, pool uint64) int32 {
	p := hip.MemPool(pool)
	if _, err := runtime().DeviceGetDefaultMemPool(n); p == 0 || err == hip.ErrorInvalidDevice {
		return int32(hip.ErrorInvalidValue)
	} else if err != hip.Success {
		return int32(err)
	}
	t := &memPools
	t.mu.Lock()
	defer t.mu.Unlock()
	device, own := t.device[p]
	if !own {
		if device = defaultPoolOf(p); device < 0 {
			return int32(hip.ErrorInvalidValue)
		}
	}
	if device != n {
		return int32(hip.ErrorInvalidDevice)
	}
	if own {
		t.current[n] = p
		t.chosen.Store(true)
	} else {
		delete(t.current, n)
	}
	return int32(hip.Success)
}

// defaultPoolOf is the device whose own pool p is, -1 if it is none's.
func defaultPoolOf(p hip.MemPool) int32 {
	count, err := runtime().GetDeviceCount()
	if err != hip.Success {
		return -1
	}
	for n := range count {
		if q, err := runtime().DeviceGetDefaultMemPool(n); err == hip.Success && q == p {
			return n
		}
	}
	return -1
}

//export rw_hipMallocAsync
func rw_hipMallocAsync(thread uint64, devPtr unsafe.Pointer, size uint64, stream uint64) int32 {
	if devPtr == nil {
		return int32(hip.ErrorInvalidValue)
	}
	t := threadOf(thread)
	s, err := resolveStream(t, hip.Stream(stream))
	if err != hip.Success {
		return int32(err)
	}
	var p hip.Ptr
	if pool := memPools.of(t, s); pool != 0 {
		p, err = runtime().MallocFromPoolAsync(t, size, pool, s)
	} else {
		p, err = runtime().MallocAsync(t, size, s)
	}
	if err == hip.Success {
		*(*hip.Ptr)(devPtr) = p
	}
	return int32(err)
}

// wide reports whether an attribute's value is 64 bits wide; of the others it is
// an int.
func wide(a hip.MemPoolAttr) bool { return a >= hip.MemPoolAttrReleaseThreshold }

//export rw_hipMemPoolGetAttribute
func rw_hipMemPoolGetAttribute(thread uint64, memPool uint64, attr int32, value uintptr) int32 {
	if memPool == 0 || value == 0 {
		return int32(hip.ErrorInvalidValue)
	}
	a := hip.MemPoolAttr(attr)
	v, err := runtime().MemPoolGetAttribute(threadOf(thread), hip.MemPool(memPool), a)
	switch {
	case err != hip.Success:
	case wide(a):
		*(*uint64)(pointer(value)) = v
	default:
		*(*int32)(pointer(value)) = int32(v)
	}
	return int32(err)
}

//export rw_hipMemPoolSetAttribute
func rw_hipMemPoolSetAttribute(thread uint64, memPool uint64, attr int32, value uintptr) int32 {
	a := hip.MemPoolAttr(attr)
	if memPool == 0 || value == 0 || a < hip.MemPoolReuseFollowEventDependencies || a > hip.MemPoolAttrUsedMemHigh {
		return int32(hip.ErrorInvalidValue)
	}
	var v uint64
	if wide(a) {
		v = *(*uint64)(pointer(value))
	} else {
		v = uint64(uint32(*(*int32)(pointer(value))))
	}
	return int32(runtime().MemPoolSetAttribute(threadOf(thread), hip.MemPool(memPool), a, v))
}
