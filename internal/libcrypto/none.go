//go:build !linux || !amd64 || !cgo

package libcrypto

import "crypto/cipher"

func found(bool) (bool, string) { return false, "not in this build" }

func with(_ []byte, small cipher.AEAD) cipher.AEAD { return small }
