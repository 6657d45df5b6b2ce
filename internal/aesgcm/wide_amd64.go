//go:build goexperiment.simd

package aesgcm

import (
	"crypto/cipher"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"math/bits"
	"simd/archsimd"
	"slices"
)

const (
	lane    = 16         // bytes of a block
	vector  = 4 * lane   // of a register
	chunk   = 8 * vector // of what is done at once
	least   = 2 * chunk  // of less is crypto/cipher as fast
	tagSize = 16
)

// gcm is AES-GCM on vectors of four blocks.
//
// A block is hashed as a number of 128 bits, least significant byte first, that is, in the opposite order of GCM's bytes. The hash is a polynomial in H. Each lane of a
// vector has a sum of its own with steps of H^4, and the lanes are added up at the end, times H^4, H^3, H^2 and H.
type gcm struct {
	cipher.AEAD              // for what is short
	rounds      int          // without the first key, which is added only
	keys        [15]register // round keys, in each lane
	step        [8]register  // H^4, H^8 … H^32, in each lane, times x
	last        register     // H^4, H^3, H^2, H, times x
	h           register     // H in the first lane, times x
}

type register [vector]byte

// wide is std where the processor has no such vectors.
func wide(key []byte, b cipher.Block, std cipher.AEAD) cipher.AEAD {
	x := archsimd.X86
	if !x.AVX512() || !x.AVX512VAES() || !x.AVX512VPCLMULQDQ() || !x.AVXAES() {
		return std
	}
	g := &gcm{AEAD: std, rounds: len(key)/4 + 6}
	g.expand(key)
	g.powers(b)
	return g
}

// expand makes the round keys (FIPS 197, 5.2).
func (g *gcm) expand(key []byte) {
	n, w := len(key)/4, make([]uint32, 4*(g.rounds+1))
	for i := range n {
		w[i] = binary.LittleEndian.Uint32(key[4*i:])
	}
	rcon := uint32(1)
	for i := n; i < len(w); i++ {
		t := w[i-1]
		switch {
		case i%n == 0:
			t = bits.RotateLeft32(subWord(t), -8) ^ rcon
			if rcon <<= 1; rcon&0x100 != 0 {
				rcon ^= 0x11b
			}
		case n > 6 && i%n == 4:
			t = subWord(t)
		}
		w[i] = w[i-n] ^ t
	}
	for i := range w {
		for l := range 4 {
			binary.LittleEndian.PutUint32(g.keys[i/4][lane*l+4*(i%4):], w[i])
		}
	}
}

// subWord is the S-box on each byte, without a table: the last round of AES, whose shift of rows changes nothing where all columns are the same.
func subWord(w uint32) uint32 {
	x := archsimd.LoadUint32x4(&[4]uint32{w, w, w, w}).AsUint8x16()
	var out [4]uint32
	x.AESEncryptLastRound(archsimd.Uint32x4{}).AsUint32x4().Store(&out)
	return out[0]
}

// powers makes the powers of H.
func (g *gcm) powers(b cipher.Block) {
	var block [lane]byte
	b.Encrypt(block[:], block[:])
	hi, lo := binary.BigEndian.Uint64(block[:]), binary.BigEndian.Uint64(block[8:])
	carry := -(hi >> 63) // all ones if x^127 is there
	hi, lo = hi<<1|lo>>63, lo<<1
	g.h.set(0, lo^carry&1, hi^carry&0xc200000000000000)
	p := g.h // H^i times x, in the first lane
	for i := 1; i <= 32; i++ {
		if i > 1 {
			times(&p, &g.h)
		}
		lo, hi := p.get(0)
		if i <= 4 {
			g.last.set(4-i, lo, hi)
		}
		if i%4 == 0 {
			for l := range 4 {
				g.step[i/4-1].set(l, lo, hi)
			}
		}
	}
}

func (r *register) get(l int) (lo, hi uint64) {
	return binary.LittleEndian.Uint64(r[lane*l:]), binary.LittleEndian.Uint64(r[lane*l+8:])
}

func (r *register) set(l int, lo, hi uint64) {
	binary.LittleEndian.PutUint64(r[lane*l:], lo)
	binary.LittleEndian.PutUint64(r[lane*l+8:], hi)
}

// times multiplies each lane of a by that of b, which is times x.
func times(a, b *register) {
	x, y := load(a).AsUint64x8(), load(b).AsUint64x8()
	lo := x.CarrylessMultiplyGrouped(0, 0, y)
	mi := x.CarrylessMultiplyGrouped(0, 1, y).Xor(x.CarrylessMultiplyGrouped(1, 0, y))
	hi := x.CarrylessMultiplyGrouped(1, 1, y)
	poly := load(&polynomial).AsUint64x8()
	mi = mi.Xor(swap(lo)).Xor(lo.CarrylessMultiplyGrouped(0, 1, poly))
	hi = hi.Xor(swap(mi)).Xor(mi.CarrylessMultiplyGrouped(0, 1, poly))
	store(a, hi.AsUint8x64())
	archsimd.ClearAVXUpperBits()
}

func load(r *register) archsimd.Uint8x64     { return archsimd.LoadUint8x64((*[vector]byte)(r)) }
func store(r *register, v archsimd.Uint8x64) { v.Store((*[vector]byte)(r)) }

// swap exchanges the halves of each lane.
func swap(x archsimd.Uint64x8) archsimd.Uint64x8 { return x.SelectFromPairGrouped(1, 0, x) }

var (
	polynomial = each(func(l int) (lo, hi uint64) { return 1, 0xc200000000000000 })
	reverse    = eachByte(func(i int) byte { return byte(15 - i) })                        // of each lane
	counters   = eachByte(func(i int) byte { return []byte{byte(i), byte(27 - i)}[i/12] }) // to the byte order of counters
	four       = each(func(int) (lo, hi uint64) { return 0, 4 << 32 })
)

func each(f func(l int) (lo, hi uint64)) (r register) {
	for l := range 4 {
		lo, hi := f(l)
		r.set(l, lo, hi)
	}
	return r
}

func eachByte(f func(i int) byte) (r register) {
	for i := range r {
		r[i] = f(i % lane)
	}
	return r
}

// start is four counters from first on, in the processor's byte order.
func start(nonce []byte, first uint32) (r register) {
	for l := range 4 {
		copy(r[lane*l:], nonce[:12])
		binary.LittleEndian.PutUint32(r[lane*l+12:], first+uint32(l))
	}
	return r
}

// Seal encrypts.
func (g *gcm) Seal(dst, nonce, plain, data []byte) []byte {
	if len(plain) < least || len(plain) > 1<<30 || len(data) > lane || len(nonce) != 12 {
		return g.AEAD.Seal(dst, nonce, plain, data)
	}
	n := len(dst)
	dst = slices.Grow(dst, len(plain)+tagSize)[:n+len(plain)+tagSize]
	tag := g.crypt(dst[n:n+len(plain)], plain, nonce, data, true)
	copy(dst[n+len(plain):], tag[:])
	return dst
}

var errOpen = errors.New("aesgcm: message authentication failed")

// Open decrypts. What it has written is cleared if that was not what was encrypted.
func (g *gcm) Open(dst, nonce, box, data []byte) ([]byte, error) {
	if len(box) < least+tagSize || len(box) > 1<<30 || len(data) > lane || len(nonce) != 12 {
		return g.AEAD.Open(dst, nonce, box, data)
	}
	n, size := len(dst), len(box)-tagSize
	dst = slices.Grow(dst, size)[:n+size]
	tag := g.crypt(dst[n:], box[:size], nonce, data, false)
	if subtle.ConstantTimeCompare(tag[:], box[size:]) != 1 {
		clear(dst[n:])
		return nil, errOpen
	}
	return dst, nil
}

// crypt encrypts or decrypts, and gives the tag of the encrypted side.
func (g *gcm) crypt(dst, src, nonce, data []byte, encrypt bool) [tagSize]byte {
	var sum register // in the first lane
	if len(data) > 0 {
		g.hash(&sum, data)
	}
	whole := len(src) / chunk * chunk
	at := start(nonce, 2)
	lanes := sum
	g.chunks(dst[:whole], src[:whole], &at, &lanes, encrypt)
	times(&lanes, &g.last)
	sum = register{}
	var lo, hi uint64
	for l := range 4 {
		a, b := lanes.get(l)
		lo, hi = lo^a, hi^b
	}
	sum.set(0, lo, hi)
	for at, i := start(nonce, uint32(2+whole/lane)), whole; i < len(src); i += vector {
		n := min(vector, len(src)-i)
		stream := at
		g.encrypt(&stream)
		if !encrypt {
			g.hashAll(&sum, src[i:i+n])
		}
		subtle.XORBytes(dst[i:i+n], src[i:i+n], stream[:n])
		if encrypt {
			g.hashAll(&sum, dst[i:i+n])
		}
		at = start(nonce, uint32(2+(i+vector)/lane))
	}
	var lengths [lane]byte
	binary.BigEndian.PutUint64(lengths[:], uint64(len(data))*8)
	binary.BigEndian.PutUint64(lengths[8:], uint64(len(src))*8)
	g.hash(&sum, lengths[:])
	first := start(nonce, 1)
	g.encrypt(&first)
	var tag [tagSize]byte
	for i := range tag {
		tag[i] = sum[15-i] ^ first[i]
	}
	return tag
}

// hashAll adds blocks to the hash, the last one of which may be a part.
func (g *gcm) hashAll(sum *register, p []byte) {
	for ; len(p) > 0; p = p[min(lane, len(p)):] {
		g.hash(sum, p[:min(lane, len(p))])
	}
}

// hash adds one block, or the part of one.
func (g *gcm) hash(sum *register, block []byte) {
	for i, b := range block {
		sum[15-i] ^= b
	}
	times(sum, &g.h)
}

// encrypt encrypts four counters.
func (g *gcm) encrypt(r *register) {
	x := load(r).PermuteOrZeroGrouped(load(&counters).AsInt8x64()).Xor(load(&g.keys[0]))
	for i := 1; i < g.rounds; i++ {
		x = x.AESEncryptOneRound(load(&g.keys[i]).AsUint32x16())
	}
	store(r, x.AESEncryptLastRound(load(&g.keys[g.rounds]).AsUint32x16()))
	archsimd.ClearAVXUpperBits()
}
