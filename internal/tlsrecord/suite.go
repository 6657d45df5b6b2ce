package tlsrecord

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/tls"
	"fmt"
	"hash"

	"golang.org/x/crypto/chacha20poly1305"

	"github.com/rocwire/rocwire/internal/libcrypto"
)

// Suite is a cipher suite of TLS 1.3, by its number.
type Suite uint16

// SecretSize is how long a suite's traffic secrets are in bytes, 0 for a suite that is not known.
func (s Suite) SecretSize() int {
	switch uint16(s) {
	case tls.TLS_AES_128_GCM_SHA256, tls.TLS_CHACHA20_POLY1305_SHA256:
		return sha256.Size
	case tls.TLS_AES_256_GCM_SHA384:
		return sha512.Size384
	case uint16(Checksum):
		return checksumSize
	}
	return 0
}

// KeySize is how long its keys are in bytes.
func (s Suite) KeySize() int {
	if uint16(s) == tls.TLS_AES_128_GCM_SHA256 {
		return 16
	}
	return 32
}

func (s Suite) hash() hash.Hash {
	if uint16(s) == tls.TLS_AES_256_GCM_SHA384 {
		return sha512.New384()
	}
	return sha256.New()
}

func (s Suite) aead(key []byte) (cipher.AEAD, error) {
	if uint16(s) == tls.TLS_CHACHA20_POLY1305_SHA256 {
		return chacha20poly1305.New(key)
	}
	b, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	g, err := cipher.NewGCM(b)
	if err != nil {
		return nil, err
	}
	return libcrypto.AESGCM(key, g), nil
}

// ChaCha20 reports whether the suite's cipher is ChaCha20-Poly1305.
func (s Suite) ChaCha20() bool { return uint16(s) == tls.TLS_CHACHA20_POLY1305_SHA256 }

// Limit is how many records one key may protect: RFC 8446, 5.5 has 2^24.5 for AES-GCM, full ones.
func (s Suite) Limit() uint64 {
	if uint16(s) == tls.TLS_CHACHA20_POLY1305_SHA256 || s == Checksum {
		return 1 << 60
	}
	return 1 << 24
}

// expand is HKDF-Expand-Label with an empty context.
func (s Suite) expand(secret []byte, label string, n int) ([]byte, error) {
	label = "tls13 " + label
	info := append([]byte{byte(n >> 8), byte(n), byte(len(label))}, label...)
	return hkdf.Expand(s.hash, secret, string(append(info, 0)), n)
}

// Keys are what a traffic secret stands for: the record protection's key and IV.
func (s Suite) Keys(secret []byte) (key, iv []byte, err error) {
	if n := s.SecretSize(); n == 0 || len(secret) != n {
		return nil, nil, fmt.Errorf("tlsrecord: a secret of %d bytes for suite %#04x", len(secret), uint16(s))
	}
	if key, err = s.expand(secret, "key", s.KeySize()); err != nil {
		return nil, nil, err
	}
	iv, err = s.expand(secret, "iv", ivSize)
	return key, iv, err
}

// Next is the secret after a key update.
func (s Suite) Next(secret []byte) ([]byte, error) {
	return s.expand(secret, "traffic upd", s.SecretSize())
}
