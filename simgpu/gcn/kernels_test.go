package gcn

import (
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// functions returns the words of every function of a code object.
func functions(t *testing.T, file string) [][]uint32 {
	t.Helper()
	f, err := elf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	syms, err := f.Symbols()
	if err != nil {
		if syms, err = f.DynamicSymbols(); err != nil {
			t.Fatal(err)
		}
	}
	var out [][]uint32
	for _, s := range syms {
		if elf.ST_TYPE(s.Info) != elf.STT_FUNC || s.Section == elf.SHN_UNDEF || int(s.Section) >= len(f.Sections) {
			continue
		}
		sec := f.Sections[s.Section]
		data, err := sec.Data()
		if err != nil {
			t.Fatal(err)
		}
		from := s.Value - sec.Addr
		if from+s.Size > uint64(len(data)) {
			t.Fatalf("%s: %s lies outside its section", file, s.Name)
		}
		code := data[from : from+s.Size]
		var words []uint32
		for i := 0; i+4 <= len(code); i += 4 {
			words = append(words, binary.LittleEndian.Uint32(code[i:]))
		}
		out = append(out, words)
	}
	return out
}

// codeFiles are the compiled kernels of this project, and those in the
// directory that GCN_CODE names: DIR/gfx90a/* and so on.
func codeFiles(t *testing.T, arch Arch) []string {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join("..", "..", "examples", "kernels", arch.String(), "*.co"))
	if dir := os.Getenv("GCN_CODE"); dir != "" {
		more, _ := filepath.Glob(filepath.Join(dir, arch.String(), "*"))
		files = append(files, more...)
	}
	if len(files) == 0 {
		t.Fatal("no compiled kernels found")
	}
	return files
}

// TestKernelsDecode decodes every function of the compiled kernels to its last
// byte.
func TestKernelsDecode(t *testing.T) {
	for arch := Arch(0); arch < numArch; arch++ {
		for _, file := range codeFiles(t, arch) {
			for _, words := range functions(t, file) {
				texts, err := ours(arch, words)
				if err != nil {
					t.Errorf("%s: %v after %q", file, err, texts[max(0, len(texts)-1):])
				}
				if len(texts) == 0 {
					t.Errorf("%s: empty function", file)
				}
			}
		}
	}
}

// TestKernelsText compares every instruction of the compiled kernels with LLVM.
func TestKernelsText(t *testing.T) {
	for arch := Arch(0); arch < numArch; arch++ {
		var y tally
		names := map[string]bool{}
		for _, file := range codeFiles(t, arch) {
			blocks := functions(t, file)
			for _, b := range blocks {
				texts, _ := ours(arch, b)
				for _, s := range texts {
					name, _, _ := strings.Cut(s, " ")
					names[name] = true
				}
			}
			compare(t, arch, blocks, &y)
		}
		report(t, "kernels", &y, 100)
		t.Logf("%s: %d mnemonics", arch, len(names))
	}
}
