package hipabi

import "C"

import (
	"sync"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

// policies are how threads are to wait for streams, where a program has said it.
// Nothing follows from it here: who waits neither spins nor yields.
var policies policyTable

type policyTable struct {
	mu sync.Mutex
	m  map[policyKey]hip.SynchronizationPolicy
}

// policyKey names a stream: a device's null stream by the device, too.
type policyKey struct {
	stream hip.Stream
	device int32
}

func (p *policyTable) get(k policyKey) hip.SynchronizationPolicy {
	p.mu.Lock()
	defer p.mu.Unlock()
	if v, ok := p.m[k]; ok {
		return v
	}
	return hip.SyncPolicyAuto
}

func (p *policyTable) set(k policyKey, v hip.SynchronizationPolicy) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.m == nil {
		p.m = map[policyKey]hip.SynchronizationPolicy{}
	}
	p.m[k] = v
}

// forget drops what was said of a stream that ends, or of all of a device.
func (p *policyTable) forget(drop func(policyKey) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for k := range p.m {
		if drop(k) {
			delete(p.m, k)
		}
	}
}

// policyOf finds a stream. One that is none is an invalid handle to these functions.
func policyOf(t hip.Thread, stream uint64) (policyKey, hip.Error) {
	s, err := resolveStream(t, hip.Stream(stream))
	if err != hip.Success {
		return policyKey{}, err
	}
	d, err := runtime().StreamGetDevice(t, s)
	if err != hip.Success {
		return policyKey{}, hip.ErrorInvalidHandle
	}
	return policyKey{s, d}, hip.Success
}

//export rw_hipStreamSetAttribute
func rw_hipStreamSetAttribute(thread uint64, stream uint64, attr int32, value unsafe.Pointer) int32 {
	if value == nil {
		return int32(hip.ErrorInvalidValue)
	}
	k, err := policyOf(threadOf(thread), stream)
	if err != hip.Success {
		return int32(err)
	}
	if a, err := captures().Ask(k.stream); err != hip.Success || a.Status != hip.StreamCaptureStatusNone {
		return int32(hip.ErrorStreamCaptureUnsupported)
	}
	v := *(*hip.SynchronizationPolicy)(value)
	if hip.LaunchAttributeID(attr) != hip.LaunchAttributeSynchronizationPolicy || v < hip.SyncPolicyAuto || v > hip.SyncPolicyBlockingSync {
		return int32(hip.ErrorInvalidValue)
	}
	policies.set(k, v)
	return int32(hip.Success)
}

// rw_hipStreamGetAttribute writes four bytes: what else belongs to the value is
// other attributes'.
//
//export rw_hipStreamGetAttribute
func rw_hipStreamGetAttribute(thread uint64, stream uint64, attr int32, value unsafe.Pointer) int32 {
	if value == nil {
		return int32(hip.ErrorInvalidValue)
	}
	t := threadOf(thread)
	k, err := policyOf(t, stream)
	if err != hip.Success {
		return int32(err)
	}
	switch hip.LaunchAttributeID(attr) {
	case hip.LaunchAttributeSynchronizationPolicy:
		*(*hip.SynchronizationPolicy)(value) = policies.get(k)
	case hip.LaunchAttributePriority:
		p, err := runtime().StreamGetPriority(t, k.stream)
		if err != hip.Success {
			return int32(err)
		}
		*(*int32)(value) = p
	default:
		return int32(hip.ErrorInvalidValue)
	}
	return int32(hip.Success)
}

//export rw_hipStreamCopyAttributes
func rw_hipStreamCopyAttributes(thread uint64, dst, src uint64) int32 {
	t := threadOf(thread)
	from, err := policyOf(t, src)
	if err != hip.Success {
		return int32(err)
	}
	to, err := policyOf(t, dst)
	if err != hip.Success {
		return int32(err)
	}
	policies.set(to, policies.get(from))
	return int32(hip.Success)
}
