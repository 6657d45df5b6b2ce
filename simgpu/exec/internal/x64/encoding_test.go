package x64

import (
	"bytes"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// encodings are the instructions of V, V1, VImm and VCmp by the names that LLVM prints.
var encodings = map[string]VOp{
	"vpaddd": VPADDD, "vpsubd": VPSUBD, "vpandd": VPANDD, "vpord": VPORD, "vpxord": VPXORD, "vpmulld": VPMULLD, "vpminud": VPMINUD,
	"vpmaxud": VPMAXUD, "vpminsd": VPMINSD, "vpmaxsd": VPMAXSD, "vpsllvd": VPSLLVD, "vpsrlvd": VPSRLVD, "vpsravd": VPSRAVD,
	"vpblendmd": VPBLENDMD, "vaddps": VADDPS, "vsubps": VSUBPS, "vmulps": VMULPS, "vdivps": VDIVPS, "vfmadd213ps": VFMA213PS,
	"vfmadd231ps": VFMA231PS, "vminps": VMINPS, "vmaxps": VMAXPS, "vpmuldq": VPMULDQ, "vpdpbusd": VPDPBUSD, "vpdpwssd": VPDPWSSD,
	"vpmaddwd": VPMADDWD, "vpunpckldq": VPUNPCKLDQ, "vpunpckhdq": VPUNPCKHDQ, "vpermi2d": VPERMI2D, "vpermi2b": VPERMI2B,
	"vpshufb": VPSHUFB, "vpermd": VPERMD,
	"vpaddw": VPADDW, "vpsubw": VPSUBW, "vpaddusw": VPADDUSW, "vpsubusw": VPSUBUSW, "vpaddsw": VPADDSW, "vpsubsw": VPSUBSW,
	"vpmullw": VPMULLW, "vpminuw": VPMINUW, "vpmaxuw": VPMAXUW, "vpminsw": VPMINSW, "vpmaxsw": VPMAXSW, "vpsllvw": VPSLLVW,
	"vpsrlvw": VPSRLVW, "vpsravw": VPSRAVW,
	"vaddph": VADDPH, "vsubph": VSUBPH, "vmulph": VMULPH, "vfmadd213ph": VFMA213PH,
	"vpaddq": VPADDQ, "vpsubq": VPSUBQ, "vpminuq": VPMINUQ, "vporq": VPORQ, "vpmuludq": VPMULUDQ, "vpsllvq": VPSLLVQ, "vpsrlvq": VPSRLVQ,
	"vpsravq": VPSRAVQ, "vpandq": VPANDQ, "vaddpd": VADDPD, "vmulpd": VMULPD, "vfmadd213pd": VFMA213PD, "vminpd": VMINPD,
	"vmaxpd": VMAXPD, "vsubpd": VSUBPD, "vscalefpd": VSCALEFPD, "vdivpd": VDIVPD, "vpxorq": VPXORQ,
	"vcvtdq2ps": VCVTDQ2PS, "vcvtudq2ps": VCVTUD2PS, "vplzcntd": VPLZCNTD, "vpmovzxdq": VPMOVZXDQ, "vpbroadcastd": VPBCASTD,
	"vpbroadcastq": VPBCASTQ, "vmovdqu32": VMOVDQU32, "vmovdqu8": VMOVDQU8, "vmovdqu16": VMOVDQU16, "vmovdqu64": VMOVDQU64,
	"vpopcntd": VPOPCNTD, "vpmovzxbd": VPMOVZXBD, "vpmovsxbd": VPMOVSXBD, "vpmovzxwd": VPMOVZXWD, "vpmovsxwd": VPMOVSXWD,
	"vcvtps2pd": VCVTPS2PD, "vcvtpd2ps": VCVTPD2PS, "vsqrtpd": VSQRTPD, "vcvtdq2pd": VCVTDQ2PD, "vcvtudq2pd": VCVTUD2PD,
	"vcvttps2dq": VCVTTPS2D, "vcvttps2udq": VCVTTPS2U, "vcvtph2ps": VCVTPH2PS, "vcvttpd2dq": VCVTTPD2D, "vcvttpd2udq": VCVTTPD2U,
	"vcvtqq2pd": VCVTQQ2PD, "vgetexpps": VGETEXPPS, "vgetexppd": VGETEXPPD,
	"vpternlogd": VPTERNLOGD, "vrndscaleps": VRNDSCALEPS, "vrangeps": VRANGEPS, "vrangepd": VRANGEPD, "vcvtps2ph": VCVTPS2PH,
	"vrndscalepd": VRNDSCALEPD, "vinserti64x4": VINSERTI64X4, "vgetmantps": VGETMANTPS, "vgetmantpd": VGETMANTPD, "vpshufd": VPSHUFD,
	"vshufps": VSHUFPS,
	"vpcmpd":  VPCMPD, "vpcmpud": VPCMPUD, "vpcmpub": VPCMPUB, "vpcmpb": VPCMPB, "vpcmpq": VPCMPQ, "vpcmpuq": VPCMPUQ, "vcmpps": VCMPPS,
	"vcmppd": VCMPPD,
}

// TestEncodings: LLVM's disassembler reads what is emitted as the instruction that it is called, with registers and, where there is that form and
// only there, an element in memory. A form that there is not is none to the processor, either: it was emitted once.
func TestEncodings(t *testing.T) {
	mc, err := exec.LookPath("llvm-mc-19")
	if err != nil {
		t.Skip("SKIPPED: llvm-mc-19 is not installed (Debian's llvm-19)")
	}
	oneSource := func(o VOp) bool {
		return slices.Contains([]VOp{VRNDSCALEPS, VRNDSCALEPD, VGETMANTPS, VGETMANTPD, VPSHUFD, VCVTPS2PH, VCVTDQ2PS, VCVTUD2PS, VPLZCNTD, VPMOVZXDQ, VPBCASTD, VPBCASTQ, VMOVDQU32, VMOVDQU8, VMOVDQU16, VMOVDQU64,
			VPOPCNTD, VPMOVZXBD, VPMOVSXBD, VPMOVZXWD, VPMOVSXWD, VCVTPS2PD, VCVTPD2PS, VSQRTPD, VCVTDQ2PD, VCVTUD2PD, VCVTTPS2D, VCVTTPS2U,
			VCVTPH2PS, VCVTTPD2D, VCVTTPD2U, VCVTQQ2PD, VGETEXPPS, VGETEXPPD}, o)
	}
	for _, name := range slices.Sorted(maps.Keys(encodings)) {
		o := encodings[name]
		for _, bcast := range []bool{false, true} {
			var rm any = Z(9)
			if bcast {
				rm = Bcast{At(RBX, 64)}
			}
			s := byte(18)
			if oneSource(o) {
				s = 0
			}
			reg := byte(20)
			if strings.HasPrefix(name, "vpcmp") || strings.HasPrefix(name, "vcmp") {
				reg = 3
			}
			var a Asm
			a.evex(o, reg, s, rm, 5, false, 1)
			if o.Map == m3a || o == VPSHUFD || o == VSHUFPS || o == VCMPPS || o == VCMPPD {
				a.emit(1)
			}
			got := disassembled(t, mc, a.code)
			valid := len(got) == 1 && strings.HasPrefix(strings.Replace(got[0], "lt", "", 1), name)
			if want := !bcast || o.broadcasts(); valid != want {
				t.Errorf("%s, an element in memory %v: % x is read as %q; valid %v, want %v", name, bcast, a.code, got, valid, want)
			}
		}
	}
}

// disassembled are the instructions that LLVM finds.
func disassembled(t *testing.T, mc string, code []byte) []string {
	t.Helper()
	cmd := exec.Command(mc, "-disassemble", "-triple=x86_64", "-mcpu=sapphirerapids")
	var in bytes.Buffer
	for _, b := range code {
		fmt.Fprintf(&in, "%#02x ", b)
	}
	cmd.Stdin = &in
	out, _ := cmd.Output() // it ends with an error where a byte begins no instruction
	var lines []string
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimSpace(line); line != "" && line != ".text" {
			lines = append(lines, strings.ReplaceAll(line, "\t", " "))
		}
	}
	return lines
}
