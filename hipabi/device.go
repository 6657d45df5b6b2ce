package hipabi

import (
	"bytes"
	"sync"

	"github.com/rocwire/rocwire/codeobject"
	"github.com/rocwire/rocwire/hip"
)

// device is what launches and queries need to know of a device, read once.
type device struct {
	number int32
	prop   hip.DevicePropR0600
	target codeobject.Target
}

var devices deviceTable

type deviceTable struct {
	mu sync.RWMutex
	m  map[int32]*device
}

func (t *deviceTable) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.m = nil
}

// get returns what is known of device n: ErrorInvalidDevice if there is none.
func (t *deviceTable) get(n int32) (*device, hip.Error) {
	t.mu.RLock()
	d := t.m[n]
	t.mu.RUnlock()
	if d != nil {
		return d, hip.Success
	}
	p, err := runtime().GetDevicePropertiesR0600(n)
	if err != hip.Success {
		return nil, err
	}
	d = &device{number: n, prop: *p}
	name := cString(p.GcnArchName[:])
	target, e := codeobject.ParseTarget(name)
	if e != nil {
		Log("device %d calls itself %q: %v", n, name, e)
	}
	d.target = target
	t.mu.Lock()
	if t.m == nil {
		t.m = map[int32]*device{}
	}
	t.m[n] = d
	t.mu.Unlock()
	return d, hip.Success
}

// cString is b up to its first NUL.
func cString(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}

// copyString writes s and a NUL into a C buffer of size bytes, cut to fit.
func copyString(dst []byte, s string) {
	n := copy(dst[:len(dst)-1], s)
	dst[n] = 0
}
