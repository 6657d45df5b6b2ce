package libcrypto

import (
	"crypto/cipher"
	"os"
)

// Variable is the environment's variable that says when the library is used: 0 never, 1 wherever there is one, otherwise where it is faster.
const Variable = "ROCWIRE_LIBCRYPTO"

// Long is how many bytes are worth a call of C. What is shorter is crypto/aes's.
const Long = 2 << 10

// tagSize is the length of GCM's tag in bytes.
const tagSize = 16

// AESGCM is AES-GCM with a key: by the library where that is used, except for what is short; that, or all, is done by small, which has the same key and is
// crypto/aes's. It may be used by any number of goroutines at once.
func AESGCM(key []byte, small cipher.AEAD) cipher.AEAD {
	if use, _ := Use(); !use {
		return small
	}
	return with(key, small)
}

// Joiner is a cipher.AEAD that seals what lies in two places without its being copied first. Both are encrypted in place or elsewhere, as by Seal. false
// without an effect: it is too short, or the library fails, and Seal is to be used.
type Joiner interface {
	SealJoined(dst, nonce, plain, tail, data []byte) ([]byte, bool)
}

// Splitter is a cipher.AEAD that opens to two places what was sealed in one piece. dst and, behind it, tail are exactly as long as the plaintext. false
// without an effect: it is too short, or the library fails, and Open is to be used.
type Splitter interface {
	OpenSplit(dst, tail, nonce, box, data []byte) (bool, error)
}

// Use reports whether the library is used, and its version or why it is not.
func Use() (bool, string) {
	switch os.Getenv(Variable) {
	case "0":
		return false, Variable + "=0"
	case "1":
		return found(true)
	}
	return found(false)
}
