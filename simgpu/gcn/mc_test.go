package gcn

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// sepText is printed between two blocks, and sepWord is its encoding, which no pattern uses.
const sepText = "s_setprio 0x5aa5"

func sepWord(arch Arch) uint32 {
	if arch.Has(RDNA) {
		return 0xbfb55aa5
	}
	return 0xbf8f5aa5
}

// crashed is what llvmMC answers for a block on which llvm-mc crashes.
var crashed = []string{"<crashed>"}

// llvmMC gives every block of words to llvm-mc and returns the instructions it
// printed for each. Within a block it stops at the first invalid instruction. It
// crashes on some that are invalid, and what it has printed is not all there then: each
// half of the blocks is tried alone.
func llvmMC(t testing.TB, arch Arch, blocks [][]uint32) [][]string {
	t.Helper()
	if res := runMC(t, arch, blocks); len(res) == len(blocks) {
		return res
	}
	if n := len(blocks) / 2; n > 0 {
		return append(llvmMC(t, arch, blocks[:n]), llvmMC(t, arch, blocks[n:])...)
	}
	t.Logf("llvm-mc crashes on %08x", blocks[0])
	return [][]string{crashed}
}

// runMC is one llvm-mc process; if it crashes, it answers fewer blocks.
func runMC(t testing.TB, arch Arch, blocks [][]uint32) [][]string {
	t.Helper()
	command := append(mcCommand(t), "--disassemble", "-triple=amdgcn-amd-amdhsa", "-mcpu="+arch.String())
	if arch != arch.Target() {
		command = append(command, "-mattr=+wavefrontsize64,-wavefrontsize32")
	}
	var in bytes.Buffer
	put := func(w uint32) {
		fmt.Fprintf(&in, "0x%02x 0x%02x 0x%02x 0x%02x ", byte(w), byte(w>>8), byte(w>>16), byte(w>>24))
	}
	for _, b := range blocks {
		in.WriteByte('[')
		for _, w := range b {
			put(w)
		}
		in.WriteString("]\n[")
		put(sepWord(arch))
		in.WriteString("]\n")
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin = &in
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	res := make([][]string, 0, len(blocks))
	var cur []string
	sc := bufio.NewScanner(out)
	sc.Buffer(make([]byte, 1<<16), 1<<20)
	for sc.Scan() {
		line := strings.TrimSpace(sc.Text())
		switch line {
		case "", ".text":
		case sepText:
			res = append(res, cur)
			cur = nil
		default:
			cur = append(cur, line)
		}
	}
	if err := cmd.Wait(); err != nil && cmd.ProcessState == nil {
		t.Fatalf("llvm-mc: %v", err)
	}
	if code := cmd.ProcessState.ExitCode(); len(res) != len(blocks) && code != -1 || code > 1 { // 1: some were invalid; -1: a signal
		t.Fatalf("llvm-mc ended with %v after %d blocks of %d", cmd.ProcessState, len(res), len(blocks))
	}
	return res
}

// ours does the same with this package.
func ours(arch Arch, block []uint32) (texts []string, err error) {
	code := make([]byte, 4*len(block))
	for i, w := range block {
		binary.LittleEndian.PutUint32(code[4*i:], w)
	}
	for off := 0; off < len(code); {
		in, err := Decode(arch, code, off)
		if err != nil {
			return texts, err
		}
		texts = append(texts, in.String())
		off += int(in.Len)
	}
	return texts, nil
}

// tally counts agreement and keeps one example of each kind of difference.
type tally struct {
	n, bad   int
	byKey    map[string]int
	examples map[string]string
}

func (y *tally) add(key, example string) {
	if y.byKey == nil {
		y.byKey, y.examples = map[string]int{}, map[string]string{}
	}
	y.bad++
	if y.byKey[key]++; y.byKey[key] == 1 {
		y.examples[key] = example
	}
}

// compare runs the blocks through both and tallies per instruction.
func compare(t testing.TB, arch Arch, blocks [][]uint32, y *tally) {
	t.Helper()
	for i, want := range llvmMC(t, arch, blocks) {
		if len(want) == 1 && want[0] == crashed[0] {
			continue
		}
		got, err := ours(arch, blocks[i])
		for k := 0; k < len(want) || k < len(got); k++ {
			y.n++
			g, w := fmt.Sprint("<invalid: ", err, ">"), "<invalid>"
			if k < len(got) {
				g = got[k]
			}
			if k < len(want) {
				w = want[k]
			}
			if g == w {
				continue
			}
			name := w
			if k >= len(want) {
				name = g
			}
			name, _, _ = strings.Cut(name, " ")
			kind := "text "
			if k >= len(want) {
				kind = "valid here only "
			} else if k >= len(got) {
				kind = "valid there only "
			}
			y.add(kind+name, fmt.Sprintf("%08x\n    llvm %s\n    ours %s", blocks[i], w, g))
			break
		}
	}
}

// archsAndWaves are the targets, and those whose kernels can have waves of another size a second time.
func archsAndWaves() []Arch {
	all := Archs()
	for _, a := range Archs() {
		if w := a.Wave64(); w != a {
			all = append(all, w)
		}
	}
	return all
}
