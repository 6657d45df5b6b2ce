package smiabi

/*
#include <stdlib.h>
*/
import "C"

import (
	"sync"
	"unsafe"
)

// amdsmiGetLibVersion is the version of AMD SMI's interface that this library has.
func amdsmiGetLibVersion(v *version) status {
	*v = version{
		major: AMDSMI_LIB_VERSION_MAJOR, minor: AMDSMI_LIB_VERSION_MINOR, release: AMDSMI_LIB_VERSION_RELEASE,
		build: uintptr(constant("rocwire")),
	}
	return AMDSMI_STATUS_SUCCESS
}

// constants are texts that C programs were given and may keep for ever.
var constants sync.Map // string → unsafe.Pointer

func constant(s string) unsafe.Pointer {
	if p, ok := constants.Load(s); ok {
		return p.(unsafe.Pointer)
	}
	p := unsafe.Pointer(C.CString(s))
	if old, lost := constants.LoadOrStore(s, p); lost {
		C.free(p)
		return old.(unsafe.Pointer)
	}
	return p
}

// meanings are the statuses in words.
var meanings = map[status]string{
	AMDSMI_STATUS_SUCCESS:             "no error",
	AMDSMI_STATUS_INVAL:               "an argument is not valid",
	AMDSMI_STATUS_NOT_SUPPORTED:       "not supported for this processor",
	AMDSMI_STATUS_NOT_YET_IMPLEMENTED: "not implemented",
	AMDSMI_STATUS_FAIL_LOAD_MODULE:    "a library could not be loaded",
	AMDSMI_STATUS_FAIL_LOAD_SYMBOL:    "a library lacks a function",
	AMDSMI_STATUS_DRM_ERROR:           "the graphics driver refused",
	AMDSMI_STATUS_API_FAILED:          "a call that this one needs failed",
	AMDSMI_STATUS_TIMEOUT:             "no answer in time",
	AMDSMI_STATUS_RETRY:               "try again",
	AMDSMI_STATUS_NO_PERM:             "not permitted",
	AMDSMI_STATUS_INTERRUPT:           "interrupted",
	AMDSMI_STATUS_IO:                  "input or output failed, or the worker cannot be reached",
	AMDSMI_STATUS_ADDRESS_FAULT:       "an address is not valid",
	AMDSMI_STATUS_FILE_ERROR:          "a file could not be read or written",
	AMDSMI_STATUS_OUT_OF_RESOURCES:    "out of memory or another resource",
	AMDSMI_STATUS_INTERNAL_EXCEPTION:  "the library failed",
	AMDSMI_STATUS_INPUT_OUT_OF_BOUNDS: "an argument is out of its range",
	AMDSMI_STATUS_INIT_ERROR:          "the library cannot be used here",
	AMDSMI_STATUS_REFCOUNT_OVERFLOW:   "the library was initialized too often",
	AMDSMI_STATUS_DIRECTORY_NOT_FOUND: "a directory is missing",
	AMDSMI_STATUS_IPC_ERROR:           "communication between processes failed",
	AMDSMI_STATUS_BUSY:                "the processor is busy",
	AMDSMI_STATUS_NOT_FOUND:           "no such processor",
	AMDSMI_STATUS_NOT_INIT:            "amdsmi_init was not called",
	AMDSMI_STATUS_NO_SLOT:             "no free slot",
	AMDSMI_STATUS_DRIVER_NOT_LOADED:   "no driver is loaded",
	AMDSMI_STATUS_MORE_DATA:           "there is more than fits",
	AMDSMI_STATUS_NO_DATA:             "there is nothing to tell",
	AMDSMI_STATUS_INSUFFICIENT_SIZE:   "the buffer is too small",
	AMDSMI_STATUS_UNEXPECTED_SIZE:     "data of an unexpected size",
	AMDSMI_STATUS_UNEXPECTED_DATA:     "data that makes no sense",
	AMDSMI_STATUS_NON_AMD_CPU:         "the host's processor is not AMD's",
	AMDSMI_STATUS_NO_ENERGY_DRV:       "the host has no energy driver",
	AMDSMI_STATUS_NO_MSR_DRV:          "the host has no MSR driver",
	AMDSMI_STATUS_NO_HSMP_DRV:         "the host has no HSMP driver",
	AMDSMI_STATUS_NO_HSMP_SUP:         "the host has no HSMP",
	AMDSMI_STATUS_NO_HSMP_MSG_SUP:     "the host's HSMP does not know the message",
	AMDSMI_STATUS_HSMP_TIMEOUT:        "the host's HSMP did not answer in time",
	AMDSMI_STATUS_NO_DRV:              "the host has neither energy nor HSMP driver",
	AMDSMI_STATUS_FILE_NOT_FOUND:      "a file is missing",
	AMDSMI_STATUS_ARG_PTR_NULL:        "an argument is null",
	AMDSMI_STATUS_AMDGPU_RESTART_ERR:  "the driver could not be restarted",
	AMDSMI_STATUS_SETTING_UNAVAILABLE: "the setting is not available",
	AMDSMI_STATUS_CORRUPTED_EEPROM:    "the card's EEPROM is damaged",
	AMDSMI_STATUS_MAP_ERROR:           "an error without a status of its own",
	AMDSMI_STATUS_UNKNOWN_ERROR:       "an unknown error",
}

// amdsmiStatusCodeToString is a status as "NAME: meaning"; the text lasts for ever.
func amdsmiStatusCodeToString(st status, text *unsafe.Pointer) status {
	name, known := statusNames[st]
	if !known {
		*text = constant("an unknown status")
		return AMDSMI_STATUS_UNKNOWN_ERROR
	}
	*text = constant(name + ": " + meanings[st])
	return AMDSMI_STATUS_SUCCESS
}

// amdsmiGetEsmiErrMsg is a status in words, for programs that ask about the host's
// processors.
func amdsmiGetEsmiErrMsg(st status, text *unsafe.Pointer) status {
	return amdsmiStatusCodeToString(st, text)
}

// amdsmiFreeNameValuePairs frees a list that an export allocated.
func amdsmiFreeNameValuePairs(list unsafe.Pointer) { C.free(list) }
