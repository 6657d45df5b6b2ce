//go:build linux && amd64 && cgo

package libcrypto

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/hex"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"
)

// both are AES-GCM with one key by either.
func both(t testing.TB, key []byte) (own, other cipher.AEAD) {
	t.Helper()
	t.Setenv(Variable, "1")
	if use, why := Use(); !use {
		t.Fatalf("the tests need libcrypto.so.3 (Debian's libssl3): %s", why)
	}
	b, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	if own, err = cipher.NewGCM(b); err != nil {
		t.Fatal(err)
	}
	if other = AESGCM(key, own); other == own {
		t.Fatal("the library is not used")
	}
	return own, other
}

func noise(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(n), byte(n >> 8)}).Read(b)
	return b
}

// TestVector: the library itself, without crypto/aes, gives what NIST's test cases 4 and 16 of "The Galois/Counter Mode of Operation" have.
func TestVector(t *testing.T) {
	bin := func(s string) []byte { b, _ := hex.DecodeString(s); return b }
	iv, data := bin("cafebabefacedbaddecaf888"), bin("feedfacedeadbeeffeedfacedeadbeefabaddad2")
	plain := bin("d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39")
	for key, want := range map[string]string{
		"feffe9928665731c6d6a8f9467308308":                                 "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091" + "5bc94fbc3221a5db94fae95ae7121a47",
		"feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308": "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662" + "76fc6ece0f4e1768cddf8853bb2d551b",
	} {
		_, other := both(t, bin(key))
		x := other.(*gcm).contexts
		c, out := x.take(sealing), make([]byte, len(plain)+tagSize)
		if !seal(c, out, iv, plain[:33], plain[33:], data) || hex.EncodeToString(out) != want {
			t.Errorf("key of %d bytes: %x", len(key)/2, out)
		}
		x.give(sealing, c)
		c = x.take(opening)
		if !unseal(c, out[:33], out[33:len(plain)], iv, bin(want), data) || !bytes.Equal(out[:len(plain)], plain) {
			t.Errorf("key of %d bytes: %x", len(key)/2, out)
		}
		x.give(opening, c)
		runtime.KeepAlive(other)
	}
}

// TestEither: what one seals the other opens, at every length around those that matter, in place and elsewhere; and neither opens what was changed.
func TestEither(t *testing.T) {
	for _, size := range []int{16, 32} {
		own, other := both(t, noise(size))
		for _, n := range []int{0, 1, Long - 1, Long, Long + 1, Long + 15, 4096, 16383, 16384, 16385, 1 << 20} {
			nonce, data, plain := noise(12), noise(5), noise(n)
			want := own.Seal([]byte("before"), nonce, plain, data)
			got := other.Seal([]byte("before"), nonce, plain, data)
			if !bytes.Equal(got, want) {
				t.Fatalf("%d bytes, key of %d: another box", n, size)
			}
			if joined, ok := other.(Joiner).SealJoined([]byte("before"), nonce, plain[:max(n-3, 0)], plain[max(n-3, 0):], data); ok != (n-3 >= Long) || ok && !bytes.Equal(joined, want) {
				t.Fatalf("%d bytes in two places: %v, or another box", n, ok)
			}
			if n-3 >= Long {
				out := noise(n + 1)
				ok, err := other.(Splitter).OpenSplit(out[:n-3], out[n-2:], nonce, want[6:], data)
				if !ok || err != nil || !bytes.Equal(out[:n-3], plain[:n-3]) || !bytes.Equal(out[n-2:], plain[n-3:]) || out[n-3] != noise(n + 1)[n-3] {
					t.Fatalf("%d bytes to two places: %v, %v, or not what was sealed", n, ok, err)
				}
				changed := bytes.Clone(want[6:])
				changed[n-1] ^= 1
				if ok, err := other.(Splitter).OpenSplit(out[:n-3], out[n-3:n], nonce, changed, data); !ok || err == nil || !bytes.Equal(out[:n], make([]byte, n)) {
					t.Fatalf("%d bytes to two places: something changed was opened: %v, %v", n, ok, err)
				}
			}
			inPlace := append(make([]byte, 0, n+16), plain...)
			if inPlace = other.Seal(inPlace[:0], nonce, inPlace, data); !bytes.Equal(inPlace, want[6:]) {
				t.Fatalf("%d bytes in place: another box", n)
			}
			if p, err := other.Open([]byte("before"), nonce, inPlace, data); err != nil || string(p[:6]) != "before" || !bytes.Equal(p[6:], plain) {
				t.Fatalf("%d bytes: %v", n, err)
			}
			if p, err := other.Open(inPlace[:0], nonce, inPlace, data); err != nil || !bytes.Equal(p, plain) {
				t.Fatalf("%d bytes in place: %v", n, err)
			}
			for _, change := range []func(nonce, box, data []byte){
				func(_, box, _ []byte) { box[0] ^= 1 }, func(_, box, _ []byte) { box[len(box)-1] ^= 0x80 },
				func(nonce, _, _ []byte) { nonce[11] ^= 1 }, func(_, _, data []byte) { data[0] ^= 1 },
			} {
				n2, b2, d2 := bytes.Clone(nonce), bytes.Clone(want[6:]), bytes.Clone(data)
				change(n2, b2, d2)
				out := make([]byte, n)
				if p, err := other.Open(out[:0], n2, b2, d2); err == nil || p != nil {
					t.Fatalf("%d bytes: something changed was opened", n)
				}
				if n >= Long && !bytes.Equal(out, make([]byte, n)) {
					t.Fatalf("%d bytes: what nobody vouches for was given away", n)
				}
			}
			// After a failure the next is right.
			if _, err := other.Open(nil, nonce, want[6:], data); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := other.Open(nil, noise(12), noise(15), nil); err == nil {
			t.Error("a box without a tag")
		}
	}
}

// TestMany: any number of goroutines at once, and what they took is given back with the key.
func TestMany(t *testing.T) {
	own, other := both(t, noise(16))
	x := other.(*gcm).contexts
	var wg sync.WaitGroup
	for g := range 9 {
		wg.Go(func() {
			nonce := make([]byte, 12)
			nonce[0] = byte(g)
			for i := range 50 {
				nonce[1] = byte(i)
				plain := noise(Long + i + 100*g)
				box := other.Seal(nil, nonce, plain, nil)
				if p, err := own.Open(nil, nonce, box, nil); err != nil || !bytes.Equal(p, plain) {
					t.Error("sealed wrong", err)
				}
				if p, err := other.Open(nil, nonce, box, nil); err != nil || !bytes.Equal(p, plain) {
					t.Error("opened wrong", err)
				}
			}
		})
	}
	wg.Wait()
	for kind, list := range x.idle {
		if len(list) == 0 || len(list) > most {
			t.Errorf("%d contexts of kind %d wait", len(list), kind)
		}
	}
	runtime.KeepAlive(other)
	other = nil
	gone := func() bool {
		x.mu.Lock()
		defer x.mu.Unlock()
		return bytes.Equal(x.key, make([]byte, 16))
	}
	for end := time.Now().Add(time.Minute); !gone(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("contexts of a key that nobody has are kept")
		}
		runtime.GC()
	}
}

// TestFails: when the library fails halfway, what is sent is nothing that anybody could read or accept, and from then on crypto/aes does it all.
func TestFails(t *testing.T) {
	own, other := both(t, noise(32))
	defer failed.Store(false)
	g, out := other.(*gcm), noise(4096)
	g.sealed(false, g.contexts.take(sealing), out)
	if !bytes.Equal(out, make([]byte, len(out))) {
		t.Error("something is sent that the library has not sealed")
	}
	for _, kind := range []int{sealing, opening} {
		if g.contexts.take(kind) != nil {
			t.Error("the library is used again")
		}
	}
	nonce, plain := noise(12), noise(4096)
	if p, err := other.Open(nil, nonce, other.Seal(nil, nonce, plain, nil), nil); err != nil || !bytes.Equal(p, plain) {
		t.Error(err)
	}
	if !bytes.Equal(other.Seal(nil, nonce, plain, nil), own.Seal(nil, nonce, plain, nil)) {
		t.Error("another box")
	}
}

// TestNever: ROCWIRE_LIBCRYPTO=0.
func TestNever(t *testing.T) {
	own, _ := both(t, noise(16))
	t.Setenv(Variable, "0")
	if AESGCM(noise(16), own) != own {
		t.Error("the library is used although nobody wants it")
	}
	if use, why := Use(); use || why != Variable+"=0" {
		t.Error(use, why)
	}
}
