//go:build linux && amd64 && cgo

package libcrypto

/*
#cgo CFLAGS: -O2 -Wall
#cgo LDFLAGS: -ldl
#cgo noescape rocwire_crypto_seal
#cgo nocallback rocwire_crypto_seal
#cgo noescape rocwire_crypto_unseal
#cgo nocallback rocwire_crypto_unseal
#include "library.h"
*/
import "C"

import (
	"fmt"
	"sync"
	"unsafe"

	"golang.org/x/sys/cpu"
)

// sinceVectors is the version of OpenSSL, 3.1, whose AES-GCM uses VAES.
const sinceVectors = 0x30100000

// open opens the library: its version, 0 and why if there is none that can be used.
var open = sync.OnceValues(func() (version uint64, why string) {
	var text [256]C.char
	v := C.rocwire_crypto_open(&text[0], C.size_t(len(text)))
	return uint64(v), C.GoString(&text[0])
})

// found says whether there is a library that can be used, or, unless any will do, one that is faster than crypto/aes here.
func found(any bool) (bool, string) {
	if x := &cpu.X86; !any && !(x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL && x.HasAVX512VAES && x.HasAVX512VPCLMULQDQ) {
		return false, "the processor has no VAES"
	}
	v, why := open()
	switch {
	case v == 0:
		return false, why
	case v < sinceVectors && !any:
		return false, fmt.Sprintf("OpenSSL %s is older than 3.1", name(v))
	}
	return true, "OpenSSL " + name(v)
}

// name is a version as people write it.
func name(v uint64) string { return fmt.Sprintf("%d.%d.%d", v>>28, v>>20&0xff, v>>4&0xff) }

// first is where b begins, for C.
func first(b []byte) *C.uchar { return (*C.uchar)(unsafe.SliceData(b)) }
