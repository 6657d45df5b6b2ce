package smiabi

// Two functions of the older ROCm SMI interface, which AMD's library exports too. No
// program is known to call them there. Their statuses are that interface's.
const (
	rsmiSuccess      status = 0
	rsmiInvalid      status = 1
	rsmiNotSupported status = 2
	rsmiInternal     status = 6
	rsmiInitError    status = 8
)

// rsmiInit opens the library as amdsmi_init does; there is no export to close it.
func rsmiInit(uint64) status {
	if amdsmiInit(uint64(AMDSMI_INIT_AMD_GPUS)) != AMDSMI_STATUS_SUCCESS {
		return rsmiInitError
	}
	return rsmiSuccess
}

// rsmiIsP2PAccessible is amdsmi_is_P2P_accessible for two cards by their index.
func rsmiIsP2PAccessible(from, to uint32, accessible *bool) status {
	c, ok := begin()
	if !ok {
		return rsmiInitError
	}
	defer c.end()
	n := uint32(len(c.lib.devices))
	if from >= n || to >= n {
		return rsmiInvalid
	}
	switch amdsmiIsP2PAccessible(c.at(int(from)), c.at(int(to)), accessible) {
	case AMDSMI_STATUS_SUCCESS:
		return rsmiSuccess
	case AMDSMI_STATUS_NOT_SUPPORTED:
		return rsmiNotSupported
	}
	return rsmiInternal
}
