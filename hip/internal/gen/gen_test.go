package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/internal/genfile"
)

const moduleRoot = "../../.."

// The committed outputs are what the table says.
func TestUpToDate(t *testing.T) {
	table, err := os.ReadFile(filepath.Join(moduleRoot, "hip/api.json"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := genfile.Write(filepath.Join(dir, "hip/api.json"), string(table)); err != nil {
		t.Fatal(err)
	}
	if err := generate(dir); err != nil {
		t.Fatal(err)
	}
	n := 0
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		want, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		got, err := os.ReadFile(filepath.Join(moduleRoot, rel))
		if err != nil || string(got) != string(want) {
			t.Errorf("%s is not what hip/api.json says: run make generate", rel)
		}
		n++
		return nil
	})
	if err != nil || n < 10 {
		t.Fatalf("compared %d files: %v", n, err)
	}
}

// Every symbol of the vendor's library is in the table with its version, and
// nothing else is.
func TestExports(t *testing.T) {
	table, err := readTable(filepath.Join(moduleRoot, "hip/api.json"))
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]string{}
	for _, f := range table.Functions {
		have[f.Name] = f.Version
	}
	b, err := os.ReadFile(filepath.Join(moduleRoot, "hip/testdata/exports.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, l := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		if strings.HasPrefix(l, "#") {
			continue
		}
		c := strings.Split(l, "\t")
		if have[c[0]] != c[1] {
			t.Errorf("%s: version %q in the table, %q in the vendor's library", c[0], have[c[0]], c[1])
		}
		n++
	}
	if n != len(have) {
		t.Errorf("%d symbols in the table, %d in the vendor's library", len(have), n)
	}
}

func TestCheckRefuses(t *testing.T) {
	for name, fs := range map[string][]Function{
		"twice":            {{Name: "a", Class: "c"}, {Name: "a", Class: "c"}},
		"shared opcode":    {{Name: "a", Class: "sync", Opcode: "0x1"}, {Name: "b", Class: "sync", Opcode: "0x1"}},
		"no opcode":        {{Name: "a", Class: "sync"}},
		"opcode of local":  {{Name: "a", Class: "local", Opcode: "0x1"}},
		"unknown class":    {{Name: "a", Class: "perhaps"}},
		"async with a out": {{Name: "a", Class: "async", Opcode: "0x1", Params: []Param{{Name: "p", Type: "int *", Dir: "out"}}}},
	} {
		if err := (&Table{Functions: fs}).check(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
