package smiabi

import (
	"bytes"
	"os"
	"sync"
)

// inVM is whether this program runs in a virtual machine, as AMD's tools look it up.
var inVM = sync.OnceValue(func() bool {
	b, err := os.ReadFile("/proc/cpuinfo")
	return err == nil && bytes.Contains(b, []byte("hypervisor"))
})

// virtualization is how a program on this machine has a card that its own machine has
// in mode m. A whole card that a virtual machine reaches is a passed-through one to the
// programs in it, and amd-smi shows such a card alone as it shows bare metal: of any
// other, it takes the machine for a guest with a part of a card, and leaves out half of
// its commands.
func virtualization(m virtualizationMode, vm bool) virtualizationMode {
	if vm && m == AMDSMI_VIRTUALIZATION_MODE_BAREMETAL {
		return AMDSMI_VIRTUALIZATION_MODE_PASSTHROUGH
	}
	return m
}
