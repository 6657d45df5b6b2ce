package exec

import (
	"bytes"
	"encoding/hex"
	goflag "flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// What LLVM's assembler makes of the programs that tests execute is kept in
// testdata/asm.tsv: target, text, bytes. go test -update -run NameOfTheTest asks
// llvm-mc-19 for what is missing; of gfx950, which it does not know, the instructions must be gfx942's, in the same bytes.
var update = goflag.Bool("update", false, "assemble what testdata/asm.tsv lacks")

const asmFile = "testdata/asm.tsv"

var assembled = sync.OnceValue(func() map[string][]uint32 {
	m := map[string][]uint32{}
	b, _ := os.ReadFile(asmFile)
	for line := range strings.Lines(string(b)) {
		key, code, _ := cutLast(strings.TrimSuffix(line, "\n"), "\t")
		b, err := hex.DecodeString(code)
		if err != nil {
			panic(err)
		}
		m[key] = wordsOf(b)
	}
	return m
})

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

func wordsOf(b []byte) []uint32 {
	w := make([]uint32, len(b)/4)
	for i := range w {
		w[i] = uint32(b[4*i]) | uint32(b[4*i+1])<<8 | uint32(b[4*i+2])<<16 | uint32(b[4*i+3])<<24
	}
	return w
}

// assemble gives the code of a program; its lines are separated by "; ".
func assemble(t testing.TB, arch gcn.Arch, text string) []uint32 {
	t.Helper()
	key := arch.String() + "\t" + text
	if w, ok := assembled()[key]; ok {
		return w
	}
	if !*update {
		t.Fatalf("%s is not in %s: go test -update", key, asmFile)
	}
	dir, cpu := t.TempDir(), arch.String()
	if arch == gcn.GFX950 {
		cpu = gcn.GFX942.String()
	}
	cmd := exec.Command("llvm-mc-19", "-triple=amdgcn-amd-amdhsa", "-mcpu="+cpu, "-filetype=obj", "-o", dir+"/o")
	cmd.Stdin = strings.NewReader(strings.ReplaceAll(text, "; ", "\n") + "\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", text, err, out)
	}
	out, err := exec.Command("llvm-objcopy-19", "-O", "binary", "--only-section=.text", dir+"/o", dir+"/b").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	code, err := os.ReadFile(dir + "/b")
	if err != nil {
		t.Fatal(err)
	}
	assembled()[key] = wordsOf(code)
	var f bytes.Buffer
	for _, k := range slices.Sorted(maps.Keys(assembled())) {
		fmt.Fprintf(&f, "%s\t%x\n", k, bytesOf(assembled()[k]))
	}
	if err := os.WriteFile(asmFile, f.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return assembled()[key]
}

// run executes a program, which must not fault.
func (m *machine) run(text string) {
	m.t.Helper()
	if err := m.try(text); err != nil {
		m.t.Fatalf("%s: %v", text, err)
	}
}

// try executes a program and returns how it ends.
func (m *machine) try(text string) error {
	m.t.Helper()
	return m.exec(assemble(m.t, m.prog.arch, text)...)
}
