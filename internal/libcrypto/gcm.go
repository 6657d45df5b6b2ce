//go:build linux && amd64 && cgo

package libcrypto

/*
#include "library.h"
*/
import "C"

import (
	"crypto/cipher"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
)

// gcm is AES-GCM by the library for what is long, otherwise by crypto/aes.
type gcm struct {
	small    cipher.AEAD
	contexts *contexts
}

// failed is set when the library fails at something that cannot fail. From then on nobody uses it.
var failed atomic.Bool

var errOpen = errors.New("libcrypto: message authentication failed") // as crypto/cipher has it

func with(key []byte, small cipher.AEAD) cipher.AEAD {
	g := &gcm{small: small, contexts: &contexts{key: slices.Clone(key)}}
	runtime.AddCleanup(g, (*contexts).free, g.contexts)
	return g
}

func (g *gcm) NonceSize() int { return g.small.NonceSize() }
func (g *gcm) Overhead() int  { return g.small.Overhead() }

// Seal implements cipher.AEAD.
func (g *gcm) Seal(dst, nonce, plain, data []byte) []byte {
	if sealed, ok := g.SealJoined(dst, nonce, plain, nil, data); ok {
		return sealed
	}
	return g.small.Seal(dst, nonce, plain, data)
}

// SealJoined implements Joiner.
func (g *gcm) SealJoined(dst, nonce, plain, tail, data []byte) ([]byte, bool) {
	if len(plain) < Long || len(nonce) != g.NonceSize() {
		return nil, false
	}
	c := g.contexts.take(sealing)
	if c == nil {
		return nil, false
	}
	n := len(plain) + len(tail) + tagSize
	dst = slices.Grow(dst, n)
	out := dst[len(dst) : len(dst)+n]
	g.sealed(seal(c, out, nonce, plain, tail, data), c, out)
	runtime.KeepAlive(g)
	return dst[:len(dst)+n], true
}

// sealed is told what became of Seal. If the library has failed halfway, zeros are given, which no peer accepts: the plaintext may be gone by then, and
// nothing is sealed twice under one nonce.
func (g *gcm) sealed(right bool, c unsafe.Pointer, out []byte) {
	if right {
		g.contexts.give(sealing, c)
		return
	}
	clear(out)
	failed.Store(true)
	C.rocwire_crypto_free(c)
}

// Open implements cipher.AEAD.
func (g *gcm) Open(dst, nonce, box, data []byte) ([]byte, error) {
	if len(box) < Long+tagSize {
		return g.small.Open(dst, nonce, box, data)
	}
	n := len(box) - tagSize
	dst = slices.Grow(dst, n)
	switch opened, err := g.OpenSplit(dst[len(dst):len(dst)+n], nil, nonce, box, data); {
	case !opened:
		return g.small.Open(dst, nonce, box, data)
	case err != nil:
		return nil, err
	}
	return dst[:len(dst)+n], nil
}

// OpenSplit implements Splitter.
func (g *gcm) OpenSplit(dst, tail, nonce, box, data []byte) (bool, error) {
	if len(dst) < Long || len(box) != len(dst)+len(tail)+tagSize || len(nonce) != g.NonceSize() {
		return false, nil
	}
	c := g.contexts.take(opening)
	if c == nil {
		return false, nil
	}
	right := unseal(c, dst, tail, nonce, box, data)
	g.contexts.give(opening, c)
	runtime.KeepAlive(g)
	if !right {
		clear(dst)
		clear(tail)
		return true, errOpen
	}
	return true, nil
}

func seal(c unsafe.Pointer, out, nonce, plain, tail, data []byte) bool {
	return C.rocwire_crypto_seal(c, first(nonce), first(data), C.size_t(len(data)), first(out), first(plain), C.size_t(len(plain)), first(tail), C.size_t(len(tail))) == 1
}

func unseal(c unsafe.Pointer, out, tail, nonce, box, data []byte) bool {
	return C.rocwire_crypto_unseal(c, first(nonce), first(data), C.size_t(len(data)), first(out), first(box), C.size_t(len(out)), first(tail), C.size_t(len(tail))) == 1
}

// What a context is for.
const (
	opening = iota
	sealing
)

// most is how many contexts of one kind wait for the next record: as many as cores work on one message.
const most = 4

// contexts are the library's of one key. Each is for one goroutine at a time.
type contexts struct {
	key  []byte
	mu   sync.Mutex
	idle [2][]unsafe.Pointer
}

// take is nil if the library fails: nothing has been sealed then.
func (x *contexts) take(kind int) unsafe.Pointer {
	if failed.Load() {
		return nil
	}
	x.mu.Lock()
	list := &x.idle[kind]
	if n := len(*list); n > 0 {
		c := (*list)[n-1]
		*list = (*list)[:n-1]
		x.mu.Unlock()
		return c
	}
	x.mu.Unlock()
	return C.rocwire_crypto_context(C.int(kind), first(x.key), C.size_t(len(x.key)))
}

func (x *contexts) give(kind int, c unsafe.Pointer) {
	x.mu.Lock()
	if len(x.idle[kind]) < most {
		x.idle[kind] = append(x.idle[kind], c)
		c = nil
	}
	x.mu.Unlock()
	if c != nil {
		C.rocwire_crypto_free(c)
	}
}

// free is called when nobody has the key any more.
func (x *contexts) free() {
	for _, list := range x.idle {
		for _, c := range list {
			C.rocwire_crypto_free(c)
		}
	}
	clear(x.key)
}
