//go:build linux

package hsaabi

/*
#include "call.h"
*/
import "C"

import (
	"fmt"
	"unsafe"
)

const cacheBase = 0x43610000 // handles: of agents in turn, cachesMost each

const cachesMost = 16

// cache is one of an agent's.
type cache struct {
	name  string
	level uint8
	size  uint32 // bytes
}

func (c *card) caches() (list []cache) {
	for _, k := range c.smi.Caches {
		if k.Data {
			list = append(list, cache{fmt.Sprintf("%s L%d", c.target(), k.Level), uint8(k.Level), uint32(k.Size.Or(0))})
		}
	}
	return list[:min(len(list), cachesMost)]
}

// cacheSizes are those of the levels from 1 on.
func (c *card) cacheSizes() (sizes [4]uint32) {
	for _, k := range c.caches() {
		if at := k.level - 1; at < 4 && sizes[at] == 0 {
			sizes[at] = k.size
		}
	}
	return sizes
}

// hsaAgentIterateCaches calls back for each cache.
func hsaAgentIterateCaches(h uint64, callback, data unsafe.Pointer) status {
	a, st := current.Load().agent(h)
	if st != HSA_STATUS_SUCCESS {
		return st
	}
	for i := range a.caches() {
		if st := status(C.rw_hsa_call(callback, C.uint64_t(cacheBase+(h-agentBase)*cachesMost+uint64(i)), data)); st != HSA_STATUS_SUCCESS {
			return st
		}
	}
	return HSA_STATUS_SUCCESS
}

// hsaCacheGetInfo is what is known of a cache.
func hsaCacheGetInfo(h uint64, attribute uint32, value unsafe.Pointer) status {
	i := h - cacheBase
	a, st := current.Load().agent(agentBase + i/cachesMost)
	if st != HSA_STATUS_SUCCESS || i%cachesMost >= uint64(len(a.caches())) {
		return HSA_STATUS_ERROR_INVALID_CACHE
	}
	k := a.caches()[i%cachesMost]
	switch attribute {
	case HSA_CACHE_INFO_NAME_LENGTH:
		return put(value, uint32(len(k.name)))
	case HSA_CACHE_INFO_NAME:
		return putText(value, len(k.name)+1, k.name)
	case HSA_CACHE_INFO_LEVEL:
		return put(value, k.level)
	case HSA_CACHE_INFO_SIZE:
		return put(value, k.size)
	}
	return HSA_STATUS_ERROR_INVALID_ARGUMENT
}
