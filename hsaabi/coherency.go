//go:build linux

package hsaabi

import "sync/atomic"

// coherency is the type that was set for a card. It is kept and told, and changes nothing: nor does it in AMD's library on any card since the first
// that it was made for.
type coherency struct{ set atomic.Uint32 }

// hsaAMDCoherencySetType sets the type of a card.
func hsaAMDCoherencySetType(agent uint64, kind uint32) status {
	a, st := current.Load().agent(agent)
	if st != HSA_STATUS_SUCCESS {
		return st
	}
	if kind > HSA_AMD_COHERENCY_TYPE_NONCOHERENT {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	c, ok := a.(*card)
	if !ok {
		return HSA_STATUS_ERROR_INVALID_AGENT
	}
	c.coherency.set.Store(kind)
	return HSA_STATUS_SUCCESS
}

// hsaAMDCoherencyGetType tells the type of a card.
func hsaAMDCoherencyGetType(agent uint64, kind *uint32) status {
	c, st := current.Load().card(agent)
	if st != HSA_STATUS_SUCCESS {
		return st
	}
	*kind = c.coherency.set.Load()
	return HSA_STATUS_SUCCESS
}
