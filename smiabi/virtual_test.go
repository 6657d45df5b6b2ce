package smiabi

import "testing"

func TestVirtualization(t *testing.T) {
	is(t, "a whole card in a virtual machine", virtualization(AMDSMI_VIRTUALIZATION_MODE_BAREMETAL, true), AMDSMI_VIRTUALIZATION_MODE_PASSTHROUGH)
	is(t, "a part of one", virtualization(AMDSMI_VIRTUALIZATION_MODE_GUEST, true), AMDSMI_VIRTUALIZATION_MODE_GUEST)
	is(t, "bare metal", virtualization(AMDSMI_VIRTUALIZATION_MODE_BAREMETAL, false), AMDSMI_VIRTUALIZATION_MODE_BAREMETAL)
}
