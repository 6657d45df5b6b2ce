package rocm

import (
	"sync"

	"github.com/rocwire/rocwire/hip"
)

// without runs f, which ends k, and takes it out of a map first: the library may give it to another as soon as it has ended. If f fails it is back.
func without[K comparable, V any](mu sync.Locker, m *map[K]V, k K, f func() hip.Error) hip.Error {
	mu.Lock()
	v, ok := (*m)[k]
	delete(*m, k)
	mu.Unlock()
	err := f()
	if ok && err != hip.Success {
		mu.Lock()
		(*m)[k] = v
		mu.Unlock()
	}
	return err
}
