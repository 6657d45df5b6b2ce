package smiabi

/*
#cgo CFLAGS: -I${SRCDIR}/include
#include "ready.h"
*/
import "C"

import "unsafe"

// handle is a processor, socket or node as C programs hold it; 0 is none. What a
// caller passes may be any number.
type handle uintptr

// most is how many cards a source may have; those beyond are left out.
const most = C.RW_SMI_MOST

func processorHandle(index int) handle {
	return handle(unsafe.Pointer(&C.rw_smi_processors[index]))
}

func socketHandle(index int) handle { return handle(unsafe.Pointer(&C.rw_smi_sockets[index])) }

// indexIn is which of n things that begin at base h stands for.
func indexIn(h, base handle, n int) (int, bool) {
	i := uintptr(h) - uintptr(base) // a smaller h is a huge number
	return int(i), i < uintptr(n)
}

func setReady(ready bool) { C.rw_smi_set_ready(C.bool(ready)) }
