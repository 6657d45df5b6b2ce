package aesgcm

import (
	"crypto/aes"
	"crypto/cipher"
)

// New gives AES-GCM with nonces of 12 bytes and tags of 16. dst and what is encrypted or decrypted are the same memory or do not overlap.
func New(key []byte) (cipher.AEAD, error) {
	b, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	std, err := cipher.NewGCM(b)
	if err != nil {
		return nil, err
	}
	return wide(key, b, std), nil
}
