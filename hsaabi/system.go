//go:build linux

package hsaabi

/*
#include "extension.h"
#include "signal.h"
*/
import "C"

import "unsafe"

// The versions of HSA and of AMD's additions that are served.
const (
	versionMajor    = 1
	versionMinor    = 1
	amdVersionMajor = 1
	amdVersionMinor = 6
)

const bitmapSize = 128 // bytes of a set of extensions

// hsaSystemGetInfo is what does not belong to an agent. Times are nanoseconds of CLOCK_MONOTONIC.
func hsaSystemGetInfo(attribute uint32, value unsafe.Pointer) status {
	switch attribute {
	case HSA_SYSTEM_INFO_VERSION_MAJOR:
		return put[uint16](value, versionMajor)
	case HSA_SYSTEM_INFO_VERSION_MINOR:
		return put[uint16](value, versionMinor)
	case HSA_SYSTEM_INFO_TIMESTAMP:
		return put(value, uint64(C.rw_hsa_now()))
	case HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY:
		return put[uint64](value, 1e9)
	case HSA_SYSTEM_INFO_SIGNAL_MAX_WAIT:
		return put(value, ^uint64(0))
	case HSA_SYSTEM_INFO_ENDIANNESS:
		return put[uint32](value, HSA_ENDIANNESS_LITTLE)
	case HSA_SYSTEM_INFO_MACHINE_MODEL:
		return put[uint32](value, HSA_MACHINE_MODEL_LARGE)
	case HSA_SYSTEM_INFO_EXTENSIONS:
		return put(value, extensions())
	case HSA_AMD_SYSTEM_INFO_BUILD_VERSION:
		return put(value, unsafe.Pointer(C.rw_hsa_build()))
	case HSA_AMD_SYSTEM_INFO_SVM_ACCESSIBLE_BY_DEFAULT, HSA_AMD_SYSTEM_INFO_MWAITX_ENABLED,
		HSA_AMD_SYSTEM_INFO_XNACK_ENABLED:
		return put(value, false)
	case HSA_AMD_SYSTEM_INFO_SVM_SUPPORTED, HSA_AMD_SYSTEM_INFO_VIRTUAL_MEM_API_SUPPORTED, HSA_AMD_SYSTEM_INFO_DMABUF_SUPPORTED:
		return put(value, true)
	case HSA_AMD_SYSTEM_INFO_EXT_VERSION_MAJOR:
		return put[uint16](value, amdVersionMajor)
	case HSA_AMD_SYSTEM_INFO_EXT_VERSION_MINOR:
		return put[uint16](value, amdVersionMinor)
	}
	return HSA_STATUS_ERROR_INVALID_ARGUMENT
}

// extensions are those that there are: a bit each.
func extensions() (b [bitmapSize]byte) {
	for _, x := range []int{HSA_EXTENSION_IMAGES} { // AMD's has the standard ones only
		b[x/8] |= 1 << (x % 8)
	}
	return b
}

func supported(extension, major uint16) bool {
	return (extension == HSA_EXTENSION_AMD_LOADER || extension == HSA_EXTENSION_IMAGES) && major == 1
}

// hsaSystemExtensionSupported says whether there is an extension of a version.
func hsaSystemExtensionSupported(extension, major, _ uint16, result *bool) status {
	*result = supported(extension, major)
	return HSA_STATUS_SUCCESS
}

// hsaSystemMajorExtensionSupported does so for a major version, of which it tells the minor one.
func hsaSystemMajorExtensionSupported(extension, major uint16, minor *uint16, result *bool) status {
	if *result = supported(extension, major); *result {
		*minor = map[uint16]uint16{HSA_EXTENSION_AMD_LOADER: loaderMinor}[extension]
	}
	return HSA_STATUS_SUCCESS
}
