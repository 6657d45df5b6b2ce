package amdsmi

import "github.com/rocwire/rocwire/smi"

// success is AMDSMI_STATUS_SUCCESS.
const success = 0

// statuses are the library's failures. Those with the same number in smi mean the
// same there, but NOT_FOUND and NOT_INIT: the cards were found when the source was
// opened, so a card the library does not know any more is gone.
var statuses = map[uint32]struct {
	name string
	code smi.Code
}{
	1:          {"INVAL", smi.ErrInvalid},
	2:          {"NOT_SUPPORTED", smi.ErrNotSupported},
	3:          {"NOT_YET_IMPLEMENTED", smi.ErrNotSupported},
	4:          {"FAIL_LOAD_MODULE", smi.ErrInternal},
	5:          {"FAIL_LOAD_SYMBOL", smi.ErrNotSupported},
	6:          {"DRM_ERROR", smi.ErrIO},
	7:          {"API_FAILED", smi.ErrIO},
	8:          {"TIMEOUT", smi.ErrTimeout},
	9:          {"RETRY", smi.ErrBusy},
	10:         {"NO_PERM", smi.ErrNoPermission},
	11:         {"INTERRUPT", smi.ErrBusy},
	12:         {"IO", smi.ErrIO},
	13:         {"ADDRESS_FAULT", smi.ErrInternal},
	14:         {"FILE_ERROR", smi.ErrIO},
	15:         {"OUT_OF_RESOURCES", smi.ErrInternal},
	16:         {"INTERNAL_EXCEPTION", smi.ErrInternal},
	17:         {"INPUT_OUT_OF_BOUNDS", smi.ErrInvalid},
	18:         {"INIT_ERROR", smi.ErrInternal},
	19:         {"REFCOUNT_OVERFLOW", smi.ErrInternal},
	20:         {"DIRECTORY_NOT_FOUND", smi.ErrNotSupported},
	21:         {"IPC_ERROR", smi.ErrIO},
	30:         {"BUSY", smi.ErrBusy},
	31:         {"NOT_FOUND", smi.ErrUnavailable},
	32:         {"NOT_INIT", smi.ErrUnavailable},
	33:         {"NO_SLOT", smi.ErrBusy},
	34:         {"DRIVER_NOT_LOADED", smi.ErrNoDriver},
	40:         {"NO_DATA", smi.ErrNotSupported},
	41:         {"INSUFFICIENT_SIZE", smi.ErrBadData},
	42:         {"UNEXPECTED_SIZE", smi.ErrBadData},
	43:         {"UNEXPECTED_DATA", smi.ErrBadData},
	44:         {"NON_AMD_CPU", smi.ErrNotSupported},
	51:         {"NO_DRV", smi.ErrNoDriver},
	52:         {"FILE_NOT_FOUND", smi.ErrNotSupported},
	53:         {"ARG_PTR_NULL", smi.ErrInvalid},
	54:         {"AMDGPU_RESTART_ERR", smi.ErrIO},
	55:         {"SETTING_UNAVAILABLE", smi.ErrNotSupported},
	56:         {"CORRUPTED_EEPROM", smi.ErrBadData},
	0xFFFFFFFE: {"MAP_ERROR", smi.ErrInternal},
	0xFFFFFFFF: {"UNKNOWN_ERROR", smi.ErrInternal},
}

// failed is the error of function fn that returned status, nil for success. Which
// number MORE_DATA has depends on the ABI.
func (a *abi) failed(fn function, status uint32) error {
	if status == success {
		return nil
	}
	name := functionNames[fn]
	if status == a.moreData {
		return smi.Errorf(smi.ErrBadData, "%s: MORE_DATA (%d)", name, status)
	}
	s, ok := statuses[status]
	if !ok {
		return smi.Errorf(smi.ErrInternal, "%s: status %d", name, status)
	}
	return smi.Errorf(s.code, "%s: %s (%d)", name, s.name, status)
}
