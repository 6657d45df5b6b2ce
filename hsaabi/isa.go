//go:build linux

package hsaabi

/*
#include "call.h"
*/
import "C"

import "unsafe"

const (
	isaBase  = 0x69730000 // handles: of the cards
	waveBase = 0x77610000 // handles: of each instruction set's only wave size
)

// isa is a card's instruction set.
type isa struct{ c *card }

func (i isa) handle() uint64 { return isaBase + uint64(i.c.index) }

// name is the target as code objects name it.
func (i isa) name() string { return "amdgcn-amd-amdhsa--" + string(i.c.fullTarget()) }

func (l *library) isa(h uint64) (isa, status) {
	if i := h - isaBase; i < uint64(len(l.cards)) {
		return l.cards[i].isa, HSA_STATUS_SUCCESS
	}
	return isa{}, HSA_STATUS_ERROR_INVALID_ISA
}

// hsaAgentIterateISAs calls back for the instruction set of a card.
func hsaAgentIterateISAs(h uint64, callback, data unsafe.Pointer) status {
	a, st := current.Load().agent(h)
	if st != HSA_STATUS_SUCCESS {
		return st
	}
	if c, ok := a.(*card); ok {
		return status(C.rw_hsa_call(callback, C.uint64_t(c.isa.handle()), data))
	}
	return HSA_STATUS_SUCCESS
}

// hsaISAFromName is the instruction set of a target's name.
func hsaISAFromName(name unsafe.Pointer, h *uint64) status {
	for _, c := range current.Load().cards {
		if c.isa.name() == text(name) {
			*h = c.isa.handle()
			return HSA_STATUS_SUCCESS
		}
	}
	return HSA_STATUS_ERROR_INVALID_ISA_NAME
}

// hsaISAGetInfoAlt is what is known of an instruction set.
func hsaISAGetInfoAlt(h uint64, attribute uint32, value unsafe.Pointer) status {
	i, st := current.Load().isa(h)
	if st != HSA_STATUS_SUCCESS {
		return st
	}
	switch attribute {
	case HSA_ISA_INFO_NAME_LENGTH:
		return put(value, uint32(len(i.name())+1))
	case HSA_ISA_INFO_NAME:
		return putText(value, len(i.name())+1, i.name())
	case HSA_ISA_INFO_CALL_CONVENTION_COUNT:
		return put[uint32](value, 1)
	case HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONT_SIZE:
		return put[uint32](value, waveSize)
	case HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONTS_PER_COMPUTE_UNIT:
		return put[uint32](value, wavesOfUnit)
	case HSA_ISA_INFO_MACHINE_MODELS:
		return put(value, [2]bool{HSA_MACHINE_MODEL_LARGE: true})
	case HSA_ISA_INFO_PROFILES:
		return put(value, [2]bool{HSA_PROFILE_BASE: true})
	case HSA_ISA_INFO_DEFAULT_FLOAT_ROUNDING_MODES, HSA_ISA_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES:
		return put(value, [3]bool{HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR: true})
	case HSA_ISA_INFO_FAST_F16_OPERATION:
		return put(value, true)
	case HSA_ISA_INFO_WORKGROUP_MAX_DIM:
		return put(value, [3]uint16{groupMost, groupMost, groupMost})
	case HSA_ISA_INFO_WORKGROUP_MAX_SIZE:
		return put[uint32](value, groupMost)
	case HSA_ISA_INFO_GRID_MAX_DIM:
		return put(value, [3]uint32{^uint32(0), ^uint32(0), ^uint32(0)})
	case HSA_ISA_INFO_GRID_MAX_SIZE:
		return put(value, ^uint64(0))
	case HSA_ISA_INFO_FBARRIER_MAX_SIZE:
		return put[uint32](value, 32)
	}
	return HSA_STATUS_ERROR_INVALID_ARGUMENT
}

// hsaISAGetInfo is the same, for a calling convention: there is one.
func hsaISAGetInfo(h uint64, attribute, index uint32, value unsafe.Pointer) status {
	if _, st := current.Load().isa(h); st != HSA_STATUS_SUCCESS {
		return st
	}
	if index != 0 {
		return HSA_STATUS_ERROR_INVALID_INDEX
	}
	return hsaISAGetInfoAlt(h, attribute, value)
}

// hsaISAGetExceptionPolicies are none: nothing is detected.
func hsaISAGetExceptionPolicies(h uint64, _ uint32, mask *uint16) status {
	_, st := current.Load().isa(h)
	if st == HSA_STATUS_SUCCESS {
		*mask = 0
	}
	return st
}

// hsaISAGetRoundMethod is that everything is rounded once, all operations that HSA names being IEEE's.
func hsaISAGetRoundMethod(h uint64, _, _ uint32, method *uint32) status {
	_, st := current.Load().isa(h)
	if st == HSA_STATUS_SUCCESS {
		*method = HSA_ROUND_METHOD_SINGLE
	}
	return st
}

// hsaISAIterateWavefronts calls back for the wave of 64 lanes.
func hsaISAIterateWavefronts(h uint64, callback, data unsafe.Pointer) status {
	i, st := current.Load().isa(h)
	if st != HSA_STATUS_SUCCESS {
		return st
	}
	return status(C.rw_hsa_call(callback, C.uint64_t(waveBase+uint64(i.c.index)), data))
}

// hsaWavefrontGetInfo is its size.
func hsaWavefrontGetInfo(h uint64, attribute uint32, value unsafe.Pointer) status {
	if h-waveBase >= uint64(len(current.Load().cards)) {
		return HSA_STATUS_ERROR_INVALID_WAVEFRONT
	}
	if attribute != HSA_WAVEFRONT_INFO_SIZE {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	return put[uint32](value, waveSize)
}

// hsaISACompatible says whether code for one instruction set runs on another.
func hsaISACompatible(code, agent uint64, result *bool) status {
	a, st := current.Load().isa(code)
	if st != HSA_STATUS_SUCCESS {
		return st
	}
	b, st := current.Load().isa(agent)
	if st == HSA_STATUS_SUCCESS {
		*result = a.name() == b.name()
	}
	return st
}
