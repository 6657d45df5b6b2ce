//go:build linux

package hsaabi

/*
#include "call.h"
*/
import "C"

import "unsafe"

// Handles of agents are numbers from here on: the processor, then the cards. They are unlike pointers and unlike the handles of other things.
const agentBase = 0x41670000

// agent is who executes: the processor, or a card.
type agent interface {
	// info is an answer of hsa_agent_get_info, written to value.
	info(attribute uint32, value unsafe.Pointer) status
	caches() []cache
}

func (l *library) agent(h uint64) (agent, status) {
	i := h - agentBase
	switch {
	case i == 0:
		return processor{l}, HSA_STATUS_SUCCESS
	case i <= uint64(len(l.cards)):
		return l.cards[i-1], HSA_STATUS_SUCCESS
	}
	return nil, HSA_STATUS_ERROR_INVALID_AGENT
}

// card is the card that an agent is.
func (l *library) card(h uint64) (*card, status) {
	a, st := l.agent(h)
	if c, ok := a.(*card); ok || st != HSA_STATUS_SUCCESS {
		return c, st
	}
	return nil, HSA_STATUS_ERROR_INVALID_AGENT
}

// known answers whether all of these are agents.
func (l *library) known(agents []uint64) status {
	for _, h := range agents {
		if _, st := l.agent(h); st != HSA_STATUS_SUCCESS {
			return st
		}
	}
	return HSA_STATUS_SUCCESS
}

// hsaIterateAgents calls back for each agent, until one call answers something else than success.
func hsaIterateAgents(callback, data unsafe.Pointer) status {
	for i := range uint64(1 + len(current.Load().cards)) {
		if st := status(C.rw_hsa_call(callback, C.uint64_t(agentBase+i), data)); st != HSA_STATUS_SUCCESS {
			return st
		}
	}
	return HSA_STATUS_SUCCESS
}

// hsaAgentGetInfo is what is known of an agent.
func hsaAgentGetInfo(h uint64, attribute uint32, value unsafe.Pointer) status {
	a, st := current.Load().agent(h)
	if st != HSA_STATUS_SUCCESS {
		return st
	}
	return a.info(attribute, value)
}

const (
	nameSize    = 64
	pageSize    = 4096
	uuidSize    = 21 // "GPU-", 16 hexadecimal digits, NUL
	queueMin    = 64 // packets
	queueMax    = 1 << 17
	queuesMost  = 128
	groupMost   = 1024
	waveSize    = 64
	wavesOfUnit = 32
	simdsOfUnit = 4
	cacheline   = 128
)

// common is what all agents answer alike, and those with images, and those without.
func common(images bool, attribute uint32, value unsafe.Pointer) status {
	if st, ok := imageInfo(images, attribute, value); ok {
		return st
	}
	switch attribute {
	case HSA_AGENT_INFO_MACHINE_MODEL:
		return put[uint32](value, HSA_MACHINE_MODEL_LARGE)
	case HSA_AGENT_INFO_DEFAULT_FLOAT_ROUNDING_MODE, HSA_AGENT_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES:
		return put[uint32](value, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR)
	case HSA_AGENT_INFO_QUEUE_TYPE:
		return put[uint32](value, HSA_QUEUE_TYPE_MULTI)
	case HSA_AGENT_INFO_VERSION_MAJOR:
		return put[uint16](value, versionMajor)
	case HSA_AGENT_INFO_VERSION_MINOR:
		return put[uint16](value, versionMinor)
	case HSA_AMD_AGENT_INFO_HDP_FLUSH:
		return put(value, amdHDPFlush{}) // memory of cards needs no flushing
	case HSA_AMD_AGENT_INFO_MAX_ADDRESS_WATCH_POINTS:
		return put[uint32](value, 1)
	case HSA_AMD_AGENT_INFO_IOMMU_SUPPORT:
		return put[uint32](value, HSA_IOMMU_SUPPORT_NONE)
	case HSA_AMD_AGENT_INFO_AQL_EXTENSIONS:
		return put[uint64](value, 0)
	}
	return HSA_STATUS_ERROR_INVALID_ARGUMENT
}
