//go:build linux

package hsaabi

/*
#include "call.h"
#include "extension.h"
*/
import "C"

import (
	"fmt"
	"os"
	"unsafe"
)

// loaderMinor is the newest version of the loader's table, 1.03.
const loaderMinor = 3

// hsaSystemGetMajorExtensionTable writes as much of an extension's table of functions as the caller has room for.
func hsaSystemGetMajorExtensionTable(extension, major uint16, size uint64, table unsafe.Pointer) status {
	if size == 0 {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	if !supported(extension, major) {
		return HSA_STATUS_ERROR
	}
	from := unsafe.Slice((*byte)(unsafe.Pointer(&C.rw_hsa_loader_table)), C.sizeof_hsa_ven_amd_loader_1_03_pfn_t)
	if extension == HSA_EXTENSION_IMAGES {
		from = unsafe.Slice((*byte)(unsafe.Pointer(&C.rw_hsa_image_table)), C.sizeof_hsa_ext_images_1_pfn_t)
	}
	copy(unsafe.Slice((*byte)(table), size), from)
	return HSA_STATUS_SUCCESS
}

// hsaSystemGetExtensionTable writes that of a version.
func hsaSystemGetExtensionTable(extension, major, minor uint16, table unsafe.Pointer) status {
	sizes := []uint64{C.sizeof_hsa_ven_amd_loader_1_00_pfn_t, C.sizeof_hsa_ven_amd_loader_1_01_pfn_t, C.sizeof_hsa_ven_amd_loader_1_02_pfn_t,
		C.sizeof_hsa_ven_amd_loader_1_03_pfn_t}
	if extension == HSA_EXTENSION_IMAGES {
		sizes = []uint64{C.sizeof_hsa_ext_images_1_00_pfn_t}
	}
	if int(minor) >= len(sizes) {
		return HSA_STATUS_ERROR
	}
	return hsaSystemGetMajorExtensionTable(extension, major, sizes[minor], table)
}

// at is the code object that an address is in.
func (l *library) at(addr uint64) *object {
	l.loadMu.Lock()
	defer l.loadMu.Unlock()
	for _, o := range l.objects {
		if addr-o.l.Base() < o.l.Object().MemSize {
			return o
		}
	}
	return nil
}

// rw_hsa_loader_host_address is where the processor finds what lies at an address of a card's: there.
//
//export rw_hsa_loader_host_address
func rw_hsa_loader_host_address(addr uint64, out *uint64) uint32 {
	if current.Load().at(addr) == nil {
		return uint32(HSA_STATUS_ERROR_INVALID_ARGUMENT)
	}
	*out = addr
	return uint32(HSA_STATUS_SUCCESS)
}

//export rw_hsa_loader_executable
func rw_hsa_loader_executable(addr uint64, out *uint64) uint32 {
	o := current.Load().at(addr)
	if o == nil {
		return uint32(HSA_STATUS_ERROR_INVALID_ARGUMENT)
	}
	*out = o.ex.handle
	return uint32(HSA_STATUS_SUCCESS)
}

//export rw_hsa_loader_segments
func rw_hsa_loader_segments(list unsafe.Pointer, n *uint64) uint32 {
	l := current.Load()
	l.loadMu.Lock()
	defer l.loadMu.Unlock()
	if list == nil {
		*n = uint64(len(l.objects))
		return uint32(HSA_STATUS_SUCCESS)
	}
	if *n != uint64(len(l.objects)) {
		return uint32(HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS)
	}
	out := unsafe.Slice((*venAMDLoaderSegmentDescriptor)(list), *n)
	i := 0
	for _, o := range l.objects {
		out[i] = venAMDLoaderSegmentDescriptor{
			agent: o.card.handle(), executable: o.ex.handle, codeObjectStorageType: HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY,
			codeObjectStorageBase: uintptr(unsafe.Pointer(unsafe.SliceData(o.storage))), codeObjectStorageSize: uint64(len(o.storage)),
			segmentBase: uintptr(o.l.Base()), segmentSize: o.l.Object().MemSize,
		}
		i++
	}
	return uint32(HSA_STATUS_SUCCESS)
}

//export rw_hsa_loader_objects
func rw_hsa_loader_objects(h uint64, callback, data unsafe.Pointer) uint32 {
	var list []*object
	st := current.Load().with(h, func(x *executable) status {
		list = append(list, x.objects...)
		return HSA_STATUS_SUCCESS
	})
	for _, o := range list {
		if st = status(C.rw_hsa_call_symbol(callback, C.uint64_t(h), C.uint64_t(o.handle), data)); st != HSA_STATUS_SUCCESS {
			break
		}
	}
	return uint32(st)
}

//export rw_hsa_loader_executables
func rw_hsa_loader_executables(callback, data unsafe.Pointer) uint32 {
	l := current.Load()
	l.loadMu.Lock()
	var list []uint64
	for h := range l.executables {
		list = append(list, h)
	}
	l.loadMu.Unlock()
	for _, h := range list {
		if st := C.rw_hsa_call(callback, C.uint64_t(h), data); st != C.HSA_STATUS_SUCCESS {
			return uint32(st)
		}
	}
	return uint32(HSA_STATUS_SUCCESS)
}

//export rw_hsa_loader_object_info
func rw_hsa_loader_object_info(h uint64, attribute uint32, value unsafe.Pointer) uint32 {
	l := current.Load()
	l.loadMu.Lock()
	o := l.objects[h]
	l.loadMu.Unlock()
	if o == nil {
		return uint32(HSA_STATUS_ERROR_INVALID_CODE_OBJECT)
	}
	return uint32(o.info(attribute, value))
}

func (o *object) info(attribute uint32, value unsafe.Pointer) status {
	base := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(o.storage))))
	uri := fmt.Sprintf("memory://%d#offset=%#x&size=%d", os.Getpid(), base, len(o.storage))
	switch attribute {
	case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_EXECUTABLE:
		return put(value, o.ex.handle)
	case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_KIND:
		return put[uint32](value, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_KIND_AGENT)
	case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_AGENT:
		return put(value, o.card.handle())
	case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_TYPE:
		return put[uint32](value, HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY)
	case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_BASE:
		return put(value, base)
	case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_SIZE:
		return put(value, uint64(len(o.storage)))
	case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_DELTA, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_BASE:
		return put(value, o.l.Base())
	case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_SIZE:
		return put(value, o.l.Object().MemSize)
	case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI_LENGTH:
		return put(value, uint32(len(uri)))
	case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI: // no NUL
		copy(unsafe.Slice((*byte)(value), len(uri)), uri)
		return HSA_STATUS_SUCCESS
	}
	return HSA_STATUS_ERROR_INVALID_ARGUMENT
}
