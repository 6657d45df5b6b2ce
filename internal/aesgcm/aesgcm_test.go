package aesgcm

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"fmt"
	"math/rand/v2"
	"testing"
)

func both(t testing.TB, key []byte) (here, std cipher.AEAD) {
	t.Helper()
	here, err := New(key)
	if err != nil {
		t.Fatal(err)
	}
	b, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	if std, err = cipher.NewGCM(b); err != nil {
		t.Fatal(err)
	}
	return here, std
}

// compare encrypts and decrypts by both, in place and elsewhere, and changes what came out.
func compare(t *testing.T, here, std cipher.AEAD, nonce, plain, data []byte) {
	t.Helper()
	want := std.Seal([]byte("before"), nonce, plain, data)
	if got := here.Seal([]byte("before"), nonce, plain, data); !bytes.Equal(got, want) {
		t.Fatalf("%d and %d bytes are encrypted to something else", len(plain), len(data))
	}
	same := append(bytes.Clone(plain), make([]byte, 16)...)[:len(plain)]
	if got := here.Seal(same[:0], nonce, same, data); !bytes.Equal(got, want[6:]) {
		t.Fatalf("%d bytes are encrypted to something else in place", len(plain))
	}
	room := bytes.Repeat([]byte{0xee}, len(plain)+40)
	got, err := here.Open(room[:0], nonce, want[6:], data)
	if err != nil || !bytes.Equal(got, plain) || len(plain) > 0 && &got[0] != &room[0] {
		t.Fatalf("%d bytes do not come back: %v", len(plain), err)
	}
	if !bytes.Equal(room[len(plain):], bytes.Repeat([]byte{0xee}, 40)) && len(room) > len(plain)+40 {
		t.Fatalf("%d bytes: written behind", len(plain))
	}
	bad := bytes.Clone(want[6:])
	bad[len(nonce)*7919%len(bad)] ^= 4
	if got, err := here.Open(room[:0], nonce, bad, data); err == nil || got != nil {
		t.Fatalf("%d bytes that were changed are accepted", len(plain))
	}
	if len(plain) >= 1024 && bytes.Contains(room, plain[:64]) {
		t.Fatalf("%d bytes that were changed are given out", len(plain))
	}
	if _, err := here.Open(nil, nonce, want[6:], append(data, 1)); err == nil {
		t.Fatal("other data is accepted")
	}
}

// TestSame: the same as crypto/cipher, for all lengths around vectors and chunks and for those of records.
func TestSame(t *testing.T) {
	r := rand.NewChaCha8([32]byte{3})
	buf := make([]byte, 40000)
	_, _ = r.Read(buf)
	for _, size := range []int{16, 24, 32} {
		here, std := both(t, buf[:size])
		lengths := []int{16384, 16385, 16383, 32768, 39999}
		for n := range 1700 {
			lengths = append(lengths, n)
		}
		for _, n := range lengths {
			compare(t, here, std, buf[n%1000:][:12], buf[:n], buf[n%77:][:n%20])
		}
	}
}

// TestCounterCarries: a nonce of all ones changes nothing of the counter, and the counter carries.
func TestCounterCarries(t *testing.T) {
	here, std := both(t, bytes.Repeat([]byte{0xff}, 16))
	compare(t, here, std, bytes.Repeat([]byte{0xff}, 12), bytes.Repeat([]byte{0x5a}, 1<<21), []byte{1, 2, 3, 4, 5})
}

func FuzzSame(f *testing.F) {
	f.Add([]byte("key"), []byte("nonce"), []byte("data"), 600)
	f.Fuzz(func(t *testing.T, key, nonce, data []byte, n int) {
		key, nonce = append(key, make([]byte, 16)...)[:16], append(nonce, make([]byte, 12)...)[:12]
		here, std := both(t, key)
		plain := make([]byte, min(max(n, 0), 20000))
		for i := range plain {
			plain[i] = key[i%16] ^ byte(i)
		}
		compare(t, here, std, nonce, plain, data[:min(len(data), 40)])
	})
}

func Benchmark(b *testing.B) {
	for _, n := range []int{64, 512, 1024, 16385} {
		here, std := both(b, make([]byte, 16))
		in, nonce, aad := make([]byte, n), make([]byte, 12), make([]byte, 5)
		out := make([]byte, 0, n+16)
		box := std.Seal(nil, nonce, in, aad)
		for name, a := range map[string]cipher.AEAD{"here": here, "std": std} {
			b.Run(fmt.Sprintf("seal/%s/%d", name, n), func(b *testing.B) {
				b.SetBytes(int64(n))
				for b.Loop() {
					a.Seal(out, nonce, in, aad)
				}
			})
			b.Run(fmt.Sprintf("open/%s/%d", name, n), func(b *testing.B) {
				b.SetBytes(int64(n))
				for b.Loop() {
					if _, err := a.Open(out, nonce, box, aad); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
