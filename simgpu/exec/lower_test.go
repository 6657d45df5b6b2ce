//go:build linux && amd64

package exec

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
)

// What is lowered to AVX2 does what the AVX-512 instruction does: each instruction, in each form that it has, is
// executed as both, with random registers: lowered by the processor, and by a model of one with AVX-512. Where the
// processor has that itself, the model must do what it does.

// Where things lie in the memory that the code of TestLowered is given. Behind it nothing can be read or written; before it are
// the registers of lowered code.
const (
	loweredIn   = 0       // Z2 to Z5
	loweredMem  = 4 * 64  // an operand
	loweredMask = 8 * 64  // of K5, a qword
	loweredOut  = 9 * 64  // Z2 to Z5, masks 5 and 6, RAX
	loweredData = 16 * 64 // what is gathered, scattered and stored
	loweredSize = 48 * 64
)

// lowered is one case.
type lowered struct {
	name  string
	emit  func(a *x64.Asm)
	input func(r *rand.Rand, data []byte) // nil: random bits and numbers
	mask  int                             // bits of masks that mean something; 0: 16
	skip  func(x []byte) bool             // elements for which the result is not said, of size bytes
	size  int
}

func TestLowered(t *testing.T) {
	if !useNative {
		t.Log("nothing is lowered: this processor has no AVX2")
		return
	}
	var p Program
	p.options.CodeMemory = 1 << 20
	p.options.Logf = t.Logf
	memory, err := unix.Mmap(-1, 0, 3*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(memory)
	if err := unix.Mprotect(memory[2*page:], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	memory = memory[:2*page]
	for _, c := range loweredCases() {
		t.Run(c.name, func(t *testing.T) {
			code := func(low bool) []byte {
				var a x64.Asm
				if low {
					a.Lower(x64.RBX, -x64.SlotBytes)
				}
				for i := range 4 {
					a.V1(x64.VMOVDQU32, x64.Z(2+i), x64.At(x64.RBX, loweredIn+64*i), 0)
				}
				if c.mask > 16 {
					a.V1(x64.VMOVDQU32, 0, x64.At(x64.RBX, loweredMem), 0)
					a.VCmp(x64.VPCMPUB, 5, 0, x64.Z(2), 0, x64.LT)
				} else {
					a.KLoad(5, x64.At(x64.RBX, loweredMask))
				}
				a.KMov(6, 5)
				a.Imm(x64.RAX, 0x123456789abcdef)
				c.emit(&a)
				if a.Missing() {
					t.Fatal("it is not lowered")
				}
				for i := range 4 {
					a.VStore(x64.At(x64.RBX, loweredOut+64*i), x64.Z(2+i), 0)
				}
				for i := range 2 {
					a.KToReg64(x64.RCX, x64.K(5+i))
					a.Store(true, x64.At(x64.RBX, loweredOut+4*64+8*i), x64.RCX)
				}
				a.Store(true, x64.At(x64.RBX, loweredOut+4*64+16), x64.RAX)
				a.Ret()
				return a.Finish()
			}
			here := func(code []byte) func(data []byte) []byte {
				room, base, ok := p.put(code)
				if !ok {
					t.Fatal("no memory for code")
				}
				t.Cleanup(func() { p.native.arena.drop(room) })
				return func(data []byte) []byte {
					at := memory[len(memory)-loweredSize:]
					copy(at, data)
					callNative(base, (*wave)(unsafe.Pointer(unsafe.SliceData(at))))
					return slices.Clone(at)
				}
			}
			whole := code(false)
			lowered := here(code(true))
			model := func(data []byte) []byte {
				data = slices.Clone(data)
				run512(t, whole, data)
				return data
			}
			var here512 func(data []byte) []byte
			if hasAVX512 {
				here512 = here(whole)
			}
			bits := c.mask
			if bits == 0 {
				bits = 16
			}
			same := func(by string, got, want, data []byte) {
				t.Helper()
				for i := loweredOut + 4*64; i < loweredOut+4*64+16; i += 8 {
					for _, d := range [][]byte{want, got} {
						binary.LittleEndian.PutUint64(d[i:], binary.LittleEndian.Uint64(d[i:])&ones512(bits))
					}
				}
				size := max(c.size, 4)
				for i := 0; i < loweredSize; i += size {
					if string(want[i:i+size]) == string(got[i:i+size]) {
						continue
					}
					if e := (i - loweredOut) % 64; c.skip != nil && i >= loweredOut && i < loweredOut+64 &&
						(c.skip(data[loweredIn+64+e:][:size]) || c.skip(data[loweredIn+128+e:][:size])) {
						continue
					}
					t.Fatalf("%s at %d: %x, the model has %x; registers\n%x\n%x\n%x\n%x\nmask %x", by, i-loweredOut, got[i:i+size], want[i:i+size],
						data[:64], data[64:128], data[128:192], data[192:256], data[loweredMask:loweredMask+8])
				}
			}
			r := rand.New(rand.NewPCG(1, 2))
			for range 100 {
				data := make([]byte, loweredSize)
				for i := range loweredSize / 4 {
					binary.LittleEndian.PutUint32(data[4*i:], numberFor(r))
				}
				if r.IntN(2) == 0 {
					for i := range loweredSize / 8 {
						binary.LittleEndian.PutUint64(data[8*i:], wideNumberFor(r))
					}
				}
				if c.input != nil {
					c.input(r, data)
				}
				want := model(data)
				same("lowered", lowered(data), want, data)
				if hasAVX512 {
					same("AVX-512", here512(data), want, data)
				}
			}
		})
	}
}

// numberFor is a dword that is random, or a float near an edge; wideNumberFor a qword.
func numberFor(r *rand.Rand) uint32 {
	special := []float32{0, 1, -1, 0.5, 2, 1 << 31, 1<<32 - 1<<8, 1 << 32, -1 << 31, 65504, 65520, float32(math.Inf(1)), float32(math.Inf(-1)),
		math.SmallestNonzeroFloat32, 1.1754944e-38, 1.1754942e-38, math.MaxFloat32}
	switch r.IntN(6) {
	case 0:
		return math.Float32bits(special[r.IntN(len(special))]) ^ uint32(r.IntN(2))<<31
	case 1:
		return math.Float32bits(float32(r.NormFloat64() * 100))
	case 2:
		return uint32(r.IntN(64))
	case 3:
		return uint32(1)<<r.IntN(32) - uint32(r.IntN(2))
	case 4:
		return 0x7fc00000 | r.Uint32()&0x803fffff
	}
	return r.Uint32()
}

func wideNumberFor(r *rand.Rand) uint64 {
	special := []float64{0, 1, -1, 0.5, 1 << 31, 1<<32 - 1, 1 << 32, -1 << 31, -1<<31 - 1, math.Inf(1), math.SmallestNonzeroFloat64, 2.2250738585072014e-308,
		2.225073858507201e-308, math.MaxFloat64, math.MaxFloat32, 3.5e38}
	switch r.IntN(6) {
	case 0:
		return math.Float64bits(special[r.IntN(len(special))]) ^ uint64(r.IntN(2))<<63
	case 1:
		return math.Float64bits(r.NormFloat64() * 1e6)
	case 2:
		return uint64(r.IntN(128))
	case 3:
		return uint64(1)<<r.IntN(64) - uint64(r.IntN(2))
	case 4:
		return math.Float64bits(math.Ldexp(r.Float64(), r.IntN(2100)-1074))
	}
	return r.Uint64()
}

// loweredCases are all instructions of package x64.
func loweredCases() (all []lowered) {
	add := func(name string, emit func(a *x64.Asm)) *lowered {
		all = append(all, lowered{name: name, emit: emit})
		return &all[len(all)-1]
	}
	at := x64.At(x64.RBX, loweredMem)
	sources := map[string]any{"z": x64.Z(4), "same": x64.Z(2), "mem": at, "one": x64.Bcast{Mem: at}}
	masks := []x64.K{0, 5}
	for name, o := range map[string]x64.VOp{
		"paddd": x64.VPADDD, "psubd": x64.VPSUBD, "pandd": x64.VPANDD, "pord": x64.VPORD, "pxord": x64.VPXORD, "pmulld": x64.VPMULLD,
		"pminud": x64.VPMINUD, "pmaxud": x64.VPMAXUD, "pminsd": x64.VPMINSD, "pmaxsd": x64.VPMAXSD, "psllvd": x64.VPSLLVD, "psrlvd": x64.VPSRLVD,
		"psravd": x64.VPSRAVD, "pblendmd": x64.VPBLENDMD, "addps": x64.VADDPS, "subps": x64.VSUBPS, "mulps": x64.VMULPS, "divps": x64.VDIVPS,
		"fma213ps": x64.VFMA213PS, "fma231ps": x64.VFMA231PS, "minps": x64.VMINPS, "maxps": x64.VMAXPS, "pmuldq": x64.VPMULDQ,
		"punpckldq": x64.VPUNPCKLDQ, "punpckhdq": x64.VPUNPCKHDQ, "permi2d": x64.VPERMI2D, "permd": x64.VPERMD,
		"paddq": x64.VPADDQ, "psubq": x64.VPSUBQ, "porq": x64.VPORQ, "pmuludq": x64.VPMULUDQ, "psllvq": x64.VPSLLVQ, "psrlvq": x64.VPSRLVQ,
		"psravq": x64.VPSRAVQ, "pandq": x64.VPANDQ, "addpd": x64.VADDPD, "mulpd": x64.VMULPD, "fma213pd": x64.VFMA213PD, "minpd": x64.VMINPD,
		"maxpd": x64.VMAXPD, "subpd": x64.VSUBPD, "divpd": x64.VDIVPD, "pxorq": x64.VPXORQ,
	} {
		for source, rm := range sources {
			for _, k := range masks {
				add(fmt.Sprintf("v%s/%s/k%d", name, source, k), func(a *x64.Asm) { a.V(o, 2, 3, rm, k) })
			}
		}
	}
	for name, o := range map[string]x64.VOp{
		"paddw": x64.VPADDW, "psubw": x64.VPSUBW, "paddusw": x64.VPADDUSW, "psubusw": x64.VPSUBUSW, "paddsw": x64.VPADDSW, "psubsw": x64.VPSUBSW,
		"pmullw": x64.VPMULLW, "pminuw": x64.VPMINUW, "pmaxuw": x64.VPMAXUW, "pminsw": x64.VPMINSW, "pmaxsw": x64.VPMAXSW,
		"psllvw": x64.VPSLLVW, "psrlvw": x64.VPSRLVW, "psravw": x64.VPSRAVW, "pmaddwd": x64.VPMADDWD, "pshufb": x64.VPSHUFB,
	} {
		for source, rm := range sources {
			if source == "one" {
				continue
			}
			c := add(fmt.Sprintf("v%s/%s", name, source), func(a *x64.Asm) { a.V(o, 2, 3, rm, 0) })
			if name[:2] == "ps" && name[3] != 'u' {
				c.input = func(r *rand.Rand, data []byte) {
					for i := 128; i < loweredMem+64; i += 2 {
						binary.LittleEndian.PutUint16(data[i:], uint16(r.IntN(20)))
					}
				}
			}
		}
	}
	for name, o := range map[string]x64.VOp{
		"cvtdq2ps": x64.VCVTDQ2PS, "cvtudq2ps": x64.VCVTUD2PS, "plzcntd": x64.VPLZCNTD, "movdqu32": x64.VMOVDQU32, "cvttps2dq": x64.VCVTTPS2D,
		"popcntd": x64.VPOPCNTD, "cvttps2udq": x64.VCVTTPS2U, "getexpps": x64.VGETEXPPS, "movdqu64": x64.VMOVDQU64, "pmovzxdq": x64.VPMOVZXDQ, "cvtps2pd": x64.VCVTPS2PD,
		"cvtdq2pd": x64.VCVTDQ2PD, "cvtudq2pd": x64.VCVTUD2PD, "cvtqq2pd": x64.VCVTQQ2PD, "getexppd": x64.VGETEXPPD, "sqrtpd": x64.VSQRTPD,
		"pmovzxbd": x64.VPMOVZXBD, "pmovsxbd": x64.VPMOVSXBD, "pmovzxwd": x64.VPMOVZXWD, "pmovsxwd": x64.VPMOVSXWD, "cvtph2ps": x64.VCVTPH2PS,
		"cvtpd2ps": x64.VCVTPD2PS, "cvttpd2dq": x64.VCVTTPD2D, "cvttpd2udq": x64.VCVTTPD2U,
	} {
		for source, rm := range sources {
			for _, k := range masks {
				if source == "one" || source == "mem" && k != 0 && !lowersSome[o] {
					continue
				}
				add(fmt.Sprintf("v%s/%s/k%d", name, source, k), func(a *x64.Asm) { a.V1(o, 2, rm, k) })
				if k != 0 {
					add(fmt.Sprintf("v%s/%s/k%dz", name, source, k), func(a *x64.Asm) { a.V1Zero(o, 2, rm, k) })
				}
			}
		}
	}
	for _, k := range masks {
		for _, o := range []x64.VOp{x64.VPBCASTD, x64.VPBCASTQ} {
			c := func(a *x64.Asm) x64.Mem { return a.Const64(0x8877665544332211) }
			add(fmt.Sprintf("vpbroadcast/%d/k%d", o.W, k), func(a *x64.Asm) { a.V1(o, 2, c(a), k); a.V1(o, 3, c(a), k) })
			add(fmt.Sprintf("vpbroadcast/%d/mem/k%d", o.W, k), func(a *x64.Asm) { a.V1(o, 2, at, k); a.V1(o, 3, at, k) })
			add(fmt.Sprintf("vpbroadcast/%d/z", o.W), func(a *x64.Asm) { a.V1Zero(o, 2, c(a), 5) })
		}
		for imm := range byte(255) {
			if imm%7 == 0 || imm == 0xca || imm == 0xf6 {
				add(fmt.Sprintf("vpternlogd/%d/k%d", imm, k), func(a *x64.Asm) { a.VImm(x64.VPTERNLOGD, 2, 3, x64.Z(4), k, imm) })
			}
		}
		for imm := range byte(4) {
			add(fmt.Sprintf("vrndscaleps/%d/k%d", imm, k), func(a *x64.Asm) { a.VImm(x64.VRNDSCALEPS, 2, 0, x64.Z(3), k, imm) })
			add(fmt.Sprintf("vrndscalepd/%d/k%d", imm, k), func(a *x64.Asm) { a.VImm(x64.VRNDSCALEPD, 2, 0, x64.Z(3), k, imm) })
		}
		add(fmt.Sprintf("vpshufd/k%d", k), func(a *x64.Asm) { a.VImm(x64.VPSHUFD, 2, 0, x64.Z(3), k, 0x6c); a.VImm(x64.VPSHUFD, 4, 0, at, k, 0x1b) })
		add(fmt.Sprintf("vshufps/k%d", k), func(a *x64.Asm) { a.VImm(x64.VSHUFPS, 2, 3, at, k, 0x88) })
		nan32 := func(x []byte) bool { f := math.Float32frombits(binary.LittleEndian.Uint32(x)); return f != f }
		nan64 := func(x []byte) bool { f := math.Float64frombits(binary.LittleEndian.Uint64(x)); return f != f }
		for _, imm := range []byte{4, 5} {
			c := add(fmt.Sprintf("vrangeps/%d/k%d", imm, k), func(a *x64.Asm) { a.VImm(x64.VRANGEPS, 2, 3, x64.Z(4), k, imm) })
			c.skip = nan32
			c = add(fmt.Sprintf("vrangepd/%d/k%d", imm, k), func(a *x64.Asm) { a.VImm(x64.VRANGEPD, 2, 3, x64.Z(4), k, imm) })
			c.skip, c.size = nan64, 8
		}
		c := add(fmt.Sprintf("vgetmantps/k%d", k), func(a *x64.Asm) { a.VImm(x64.VGETMANTPS, 2, 0, x64.Z(3), k, 2) })
		c.skip = func(x []byte) bool {
			f := float64(math.Float32frombits(binary.LittleEndian.Uint32(x)))
			return f == 0 || f != f || math.IsInf(f, 0)
		}
		c = add(fmt.Sprintf("vgetmantpd/k%d", k), func(a *x64.Asm) { a.VImm(x64.VGETMANTPD, 2, 0, x64.Z(3), k, 2) })
		c.skip, c.size = func(x []byte) bool {
			f := math.Float64frombits(binary.LittleEndian.Uint64(x))
			return f == 0 || f != f || math.IsInf(f, 0)
		}, 8
		c = add(fmt.Sprintf("vscalefpd/k%d", k), func(a *x64.Asm) { a.V(x64.VSCALEFPD, 2, 3, x64.Z(4), k) })
		c.size, c.input = 8, func(r *rand.Rand, data []byte) {
			for i := range 8 {
				binary.LittleEndian.PutUint64(data[64+8*i:], wideNumberFor(r))
				n := float64(r.IntN(4400) - 2200)
				if r.IntN(4) == 0 {
					n = r.NormFloat64() * 30
				}
				binary.LittleEndian.PutUint64(data[128+8*i:], math.Float64bits(n))
			}
		}
		for _, n := range []byte{0, 1, 15, 16, 31, 32, 63} {
			for name, o := range map[string]x64.VShift{"psllq": x64.VPSLLQ, "psrlq": x64.VPSRLQ, "psraq": x64.VPSRAQ, "pslld": x64.VPSLLD,
				"psrld": x64.VPSRLD, "psrad": x64.VPSRAD} {
				add(fmt.Sprintf("v%s/%d/k%d", name, n, k), func(a *x64.Asm) { a.VShift(o, 2, x64.Z(3), k, n) })
				add(fmt.Sprintf("v%s/%d/mem/k%d", name, n, k), func(a *x64.Asm) { a.VShift(o, 2, at, k, n) })
			}
		}
		add(fmt.Sprintf("store/k%d", k), func(a *x64.Asm) { a.VStore(x64.At(x64.RBX, loweredData+4), 3, k) })
		for n := 1; n <= 2; n++ {
			add(fmt.Sprintf("vpmovd/%d/k%d", n, k), func(a *x64.Asm) { a.VStoreNarrow(n, x64.At(x64.RBX, loweredData+4), 3, k) })
		}
		for pred := range byte(8) {
			if pred == 3 || pred == 7 {
				continue
			}
			for name, o := range map[string]x64.VOp{"d": x64.VPCMPD, "ud": x64.VPCMPUD, "q": x64.VPCMPQ, "uq": x64.VPCMPUQ} {
				for source, rm := range sources {
					c := add(fmt.Sprintf("vpcmp%s/%d/%s/k%d", name, pred, source, k), func(a *x64.Asm) {
						a.VCmp(o, 6, 2, rm, k, pred)
						a.V1Zero(x64.VMOVDQU32, 4, x64.Z(3), 6)
					})
					c.input = func(r *rand.Rand, data []byte) {
						for i := 0; i < 64; i += 8 { // some are equal
							if r.IntN(2) == 0 {
								copy(data[i:i+8], data[128+i:])
								copy(data[loweredMem+i:], data[i:i+8])
							}
						}
					}
				}
			}
			for name, o := range map[string]x64.VOp{"b": x64.VPCMPB, "ub": x64.VPCMPUB} {
				c := add(fmt.Sprintf("vpcmp%s/%d/k%d", name, pred, k), func(a *x64.Asm) {
					a.VCmp(o, 6, 2, x64.Z(3), k, pred)
					a.V1(x64.VMOVDQU8, 4, a.Const(bytes64), 6)
				})
				c.mask = 64
			}
		}
		for pred := range byte(32) {
			for name, o := range map[string]x64.VOp{"ps": x64.VCMPPS, "pd": x64.VCMPPD} {
				add(fmt.Sprintf("vcmp%s/%d/k%d", name, pred, k), func(a *x64.Asm) { a.VCmp(o, 6, 2, x64.Z(3), k, pred) })
			}
		}
		add(fmt.Sprintf("vptestmd/k%d", k), func(a *x64.Asm) { a.VTest(6, 2, at, k) })
	}
	for _, classes := range []byte{0x81, 0x20, 0xa1} {
		add(fmt.Sprintf("vfpclassps/%x", classes), func(a *x64.Asm) { a.VClass(6, 2, classes); a.V1Zero(x64.VMOVDQU32, 4, x64.Z(3), 6) }).input = func(r *rand.Rand, data []byte) {
			for i := 0; i < 64; i += 4 {
				if r.IntN(2) == 0 {
					binary.LittleEndian.PutUint32(data[i:], []uint32{0, 1, 1<<23 - 1, 1 << 23, 0x7f800000, 0x7f800001, 0x7fc00000}[r.IntN(7)]|uint32(r.IntN(2))<<31)
				}
			}
		}
	}
	for _, n := range []byte{1, 8, 15} {
		for name, o := range map[string]x64.VShift{"psllw": x64.VPSLLW, "psrlw": x64.VPSRLW, "psraw": x64.VPSRAW} {
			add(fmt.Sprintf("v%s/%d", name, n), func(a *x64.Asm) { a.VShift(o, 2, x64.Z(3), 0, n) })
		}
		add(fmt.Sprintf("kshiftrw/%d", n), func(a *x64.Asm) { a.KShiftRight(6, 5, n) })
	}
	for _, r := range []x64.Rounding{x64.Down, x64.Up, x64.TowardZero} {
		add(fmt.Sprintf("rounded fma/%d", r), func(a *x64.Asm) { a.VRounded(x64.VFMA213PS, 2, 3, 4, r) })
		add(fmt.Sprintf("rounded cvtpd2ps/%d", r), func(a *x64.Asm) { a.VRounded(x64.VCVTPD2PS, 2, 0, 4, r) })
	}
	for name, o := range map[string]x64.KOp{"kandw": x64.KAND, "kandnw": x64.KANDN, "korw": x64.KOR, "kxorw": x64.KXOR, "kxnorw": x64.KXNOR,
		"kunpckbw": x64.KUNPCKBW} {
		add(name, func(a *x64.Asm) {
			a.VCmp(x64.VPCMPD, 6, 2, x64.Z(3), 0, x64.LT)
			a.K(o, 6, 6, 5)
			a.V1(x64.VMOVDQU32, 4, x64.Z(2), 6)
		})
	}
	for name, o := range map[string]x64.KOp{"kunpckwd": x64.KUNPCKWD, "kunpckdq": x64.KUNPCKDQ} {
		c := add(name, func(a *x64.Asm) {
			a.VCmp(x64.VPCMPUB, 6, 2, x64.Z(3), 0, x64.LT)
			a.K(o, 6, 6, 5)
		})
		c.mask = map[string]int{"kunpckwd": 32, "kunpckdq": 64}[name]
	}
	add("kmov", func(a *x64.Asm) {
		a.KFromReg(6, x64.RAX)
		a.KStore(x64.At(x64.RBX, loweredData), 6)
		a.KMov(5, 6)
		a.KToReg(x64.RAX, 5)
		a.V1(x64.VMOVDQU32, 4, x64.Z(2), 5)
	})
	add("kortest", func(a *x64.Asm) {
		a.K(x64.KANDN, 6, 5, 5)
		a.KTestOr(6, 6)
		a.Set(x64.E, x64.RCX)
		a.KTestOr(5, 6)
		a.Set(x64.E, x64.RAX)
		a.ShiftImm(x64.SHL, false, x64.RCX, 1)
		a.Op(x64.ADD, false, x64.RAX, x64.RCX)
	})
	add("flags", func(a *x64.Asm) { // those of a comparison outlast vector instructions
		a.OpImm(x64.CMP, true, x64.RAX, 5)
		a.VCmp(x64.VPCMPD, 6, 2, x64.Z(3), 5, x64.LT)
		a.V(x64.VPADDD, 2, 3, x64.Z(4), 6)
		a.K(x64.KOR, 5, 6, 5)
		a.KFromReg(6, x64.RAX)
		a.Gather(3, x64.AtVec(x64.RBX, 4, loweredData), 6)
		a.Set(x64.A, x64.RAX)
	}).input = indexes(4)
	add("regs", func(a *x64.Asm) {
		a.VFromReg(false, 2, x64.RAX)
		a.VFromReg(true, 3, x64.RAX)
		a.VToReg(false, x64.RAX, 4)
	})
	add("reg64", func(a *x64.Asm) { a.VToReg(true, x64.RAX, 4) })
	add("narrow", func(a *x64.Asm) { a.VNarrow(2, 3); a.VNarrowWords(4, 5) })
	add("upper", func(a *x64.Asm) { a.VUpper(2, 3); a.VUpper(4, 4) })
	add("insert", func(a *x64.Asm) {
		a.VImm(x64.VINSERTI64X4, 2, 2, x64.Z(3), 0, 1)
		a.VImm(x64.VINSERTI64X4, 4, 5, at, 0, 1)
	})
	for _, imm := range []byte{0, 3} {
		add(fmt.Sprintf("vcvtps2ph/%d", imm), func(a *x64.Asm) { a.VToHalf(2, 3, imm); a.VToHalf(4, 4, imm) })
	}
	add("sixteen", func(a *x64.Asm) { a.VLoad16(2, at); a.VStore16(x64.At(x64.RBX, loweredData), 3) })
	for name, f := range map[string]func(a *x64.Asm, m x64.Mem){
		"gather": func(a *x64.Asm, m x64.Mem) { a.Gather(2, m, 5) }, "gatherq": func(a *x64.Asm, m x64.Mem) { a.GatherQ(2, m, 5) },
		"gatherpair": func(a *x64.Asm, m x64.Mem) { a.GatherPair(2, m, 5) }, "scatter": func(a *x64.Asm, m x64.Mem) { a.Scatter(m, 2, 5) },
		"scatterq": func(a *x64.Asm, m x64.Mem) { a.ScatterQ(m, 2, 5) }, "scatterpair": func(a *x64.Asm, m x64.Mem) { a.ScatterPair(m, 2, 5) },
	} {
		size := 4
		if name[len(name)-1] != 'r' || name[len(name)-4:] == "pair" {
			size = 8
		}
		add(name, func(a *x64.Asm) { f(a, x64.AtVec(x64.RBX, 4, loweredData)) }).input = indexes(size)
		add(name+"/moved", func(a *x64.Asm) {
			a.V(x64.VPADDD, 4, 4, x64.Z(4), 0)
			a.V1(x64.VMOVDQU32, 2, x64.Z(5), 0)
			f(a, x64.AtVec(x64.RBX, 4, loweredData))
			a.V(x64.VPADDD, 3, 2, x64.Z(4), 5)
		}).input = indexes(size)
	}
	add("jumps", func(a *x64.Asm) { // what is in registers, from one label to the next
		over, back := a.Label(), a.Label()
		a.V(x64.VPADDD, 2, 3, x64.Z(4), 0)
		a.VCmp(x64.VPCMPD, 6, 2, x64.Z(3), 0, x64.LT)
		a.KTestOr(5, 5)
		a.JumpIf(x64.E, over)
		a.V(x64.VPADDD, 2, 2, x64.Z(5), 6)
		a.Imm(x64.RAX, 3)
		a.Bind(back)
		a.V(x64.VPXORD, 4, 4, x64.Z(2), 5)
		a.V(x64.VPADDD, 4, 4, at, 0)
		a.OpImm(x64.SUB, false, x64.RAX, 1)
		a.JumpIf(x64.NE, back)
		a.Bind(over)
		a.V(x64.VPADDD, 5, 4, x64.Z(2), 6)
	})
	// At the end of what can be accessed: the mask has the first half of the elements, and the others are beyond it.
	for name, c := range map[string]struct {
		bytes, elements int
		emit            func(a *x64.Asm, m x64.Mem)
	}{
		"movdqu32":  {4, 16, func(a *x64.Asm, m x64.Mem) { a.V1(x64.VMOVDQU32, 2, m, 5) }},
		"movdqu64":  {8, 8, func(a *x64.Asm, m x64.Mem) { a.V1Zero(x64.VMOVDQU64, 2, m, 5) }},
		"pmovzxbd":  {1, 16, func(a *x64.Asm, m x64.Mem) { a.V1(x64.VPMOVZXBD, 2, m, 5) }},
		"pmovsxwd":  {2, 16, func(a *x64.Asm, m x64.Mem) { a.V1(x64.VPMOVSXWD, 2, m, 5) }},
		"store":     {4, 16, func(a *x64.Asm, m x64.Mem) { a.VStore(m, 3, 5) }},
		"pmovdb":    {1, 16, func(a *x64.Asm, m x64.Mem) { a.VStoreNarrow(1, m, 3, 5) }},
		"pmovdw":    {2, 16, func(a *x64.Asm, m x64.Mem) { a.VStoreNarrow(2, m, 3, 5) }},
		"gather":    {4, 16, func(a *x64.Asm, _ x64.Mem) { a.Gather(2, x64.AtVec(x64.RBX, 4, loweredData), 5) }},
		"scatter":   {4, 16, func(a *x64.Asm, _ x64.Mem) { a.Scatter(x64.AtVec(x64.RBX, 4, loweredData), 2, 5) }},
		"broadcast": {4, 0, func(a *x64.Asm, m x64.Mem) { a.V1(x64.VPBCASTD, 2, m, 5) }},
	} {
		add("edge/"+name, func(a *x64.Asm) { c.emit(a, x64.At(x64.RBX, loweredSize-c.bytes*c.elements/2)) }).input = func(r *rand.Rand, data []byte) {
			binary.LittleEndian.PutUint64(data[loweredMask:], r.Uint64()&(1<<(c.elements/2)-1))
			indexes(4)(r, data)
			for i := 8; i < 16; i++ { // these are beyond it, too
				binary.LittleEndian.PutUint32(data[128+4*i:], loweredSize+uint32(r.IntN(64)))
			}
		}
	}
	add("accumulate", func(a *x64.Asm) { // where the sum is, also when it is a factor
		a.V(x64.VFMA231PS, 2, 3, x64.Bcast{Mem: at}, 0)
		a.V(x64.VFMA231PS, 2, 3, x64.Z(4), 0)
		a.V(x64.VFMA231PS, 5, 5, x64.Z(5), 0)
		a.V(x64.VFMA213PS, 3, 3, x64.Z(2), 0)
		a.V(x64.VFMA213PS, 4, 2, x64.Z(4), 0)
	})
	var many [32]x64.Z
	for i := range many {
		many[i] = x64.Z(i)
	}
	add("many", func(a *x64.Asm) { // more than there are
		for i := 6; i < 32; i++ {
			a.V(x64.VPADDD, many[i], x64.Z(2+i%4), x64.Z(2+i%3), 0)
		}
		for i := 6; i < 32; i++ {
			a.V(x64.VPXORD, x64.Z(2+i%4), many[i], x64.Z(2+i%4), 0)
		}
	})
	return all
}

// lowersSome are the instructions of one source that can be lowered for memory under a mask, where nothing may be read but what the mask has.
var lowersSome = map[x64.VOp]bool{x64.VMOVDQU32: true, x64.VMOVDQU64: true, x64.VPMOVZXBD: true, x64.VPMOVSXBD: true, x64.VPMOVZXWD: true, x64.VPMOVSXWD: true}

// indexes makes Z4 small indexes of dwords or qwords that are all different.
func indexes(size int) func(r *rand.Rand, data []byte) {
	return func(r *rand.Rand, data []byte) {
		for i, n := range r.Perm(64 / size) {
			v := uint64(n * 16)
			if size == 4 {
				binary.LittleEndian.PutUint32(data[128+4*i:], uint32(v))
			} else {
				binary.LittleEndian.PutUint64(data[128+8*i:], v)
			}
		}
	}
}

// bytes64 are 64 different bytes.
var bytes64 = func() (b []byte) {
	for i := range byte(64) {
		b = append(b, 0xa0^i)
	}
	return b
}()
