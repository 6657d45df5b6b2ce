// Package aesgcm is AES-GCM as crypto/cipher has it, several times faster on processors with AES on vectors of 512 bits (VAES, VPCLMULQDQ, AVX-512) for data of
// more than a few hundred bytes. Everything else is crypto/cipher's.
//
// It takes the same time for all keys and data of one length: there are no tables and no branches on either.
package aesgcm
