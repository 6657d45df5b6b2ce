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
		if f.in(false) {
			have[f.Name] = f.Version
		}
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
	good := Function{Name: "a", Class: "sync", Opcode: "0x1", Capture: "pass", Quota: "pass", Params: []Param{{Name: "p", Type: "int *", Dir: "out"}}}
	if err := (&Table{Functions: []Function{good}}).check(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(f *Function){
		"no opcode":            func(f *Function) { f.Opcode = "" },
		"opcode of local":      func(f *Function) { *f = Function{Name: "a", Class: "local", Opcode: "0x1"} },
		"quota of local":       func(f *Function) { *f = Function{Name: "a", Class: "local", Quota: "pass"} },
		"unknown class":        func(f *Function) { f.Class = "perhaps" },
		"async with an out":    func(f *Function) { f.Class = "async" },
		"unknown direction":    func(f *Function) { f.Params[0].Dir = "sideways" },
		"count of nothing":     func(f *Function) { f.Params[0].Count = "n" },
		"destroys nothing":     func(f *Function) { f.Destroys = "q" },
		"of nothing":           func(f *Function) { f.Of = "q" },
		"silent about capture": func(f *Function) { f.Capture = "" },
		"silent about quotas":  func(f *Function) { f.Quota = "" },
		"unknown rule":         func(f *Function) { f.Capture = "maybe" },
		"syncs what":           func(f *Function) { f.Syncs = "world" },
		"unknown export":       func(f *Function) { f.Export = "soon" },
	} {
		f := good
		f.Params = append([]Param(nil), good.Params...)
		change(&f)
		if err := (&Table{Functions: []Function{f}}).check(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	other := good
	other.Name = "b"
	if (&Table{Functions: []Function{good, good}}).check() == nil || (&Table{Functions: []Function{good, other}}).check() == nil {
		t.Error("a name or an opcode stands twice")
	}
}

// What a pointer is must be said: none becomes an address by itself.
func TestPointersAreClassified(t *testing.T) {
	ty := (&Table{
		Handles:  []Handle{{C: []string{"hipStream_t"}, Go: "Stream"}},
		Structs:  []Struct{{Name: "hipBox", Size: 96, Fields: []Field{}}, {Name: "hipDot", Size: 8}},
		Typedefs: [][2]string{{"hipStream_t", "struct ihipStream_t *"}},
	}).types()
	f := &Function{Name: "f"}
	for _, c := range []string{"const int *", "void *", "const void *", "const hipBox *", "hipStream_t *", "void **", "char *"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s became %+v", c, ty.value(f, Param{Name: "p", Type: c}))
				}
			}()
			ty.value(f, Param{Name: "p", Type: c})
		}()
	}
	for _, c := range []struct {
		param            Param
		argument, result string
	}{
		{Param{Type: "void *", Dir: "addr"}, "hip.Ptr", "hip.Ptr"},
		{Param{Type: "const void *", Dir: "addr"}, "hip.Ptr", "hip.Ptr"},
		{Param{Type: "hipStream_t"}, "hip.Stream", "hip.Stream"},
		{Param{Type: "hipStream_t *", Dir: "out"}, "hip.Stream", "hip.Stream"},
		{Param{Type: "void **", Dir: "out"}, "hip.Ptr", "hip.Ptr"},
		{Param{Type: "const char *"}, "string", "string"},
		{Param{Type: "const hipBox *", Dir: "in"}, "*hip.Box", "*hip.Box"},
		{Param{Type: "hipDot *", Dir: "out"}, "*hip.Dot", "hip.Dot"},
		{Param{Type: "hipDot"}, "*hip.Dot", "hip.Dot"},
		{Param{Type: "const hipDot *", Dir: "in", Count: "n"}, "[]hip.Dot", "[]hip.Dot"},
		{Param{Type: "void *", Dir: "out", As: "uint64"}, "uint64", "uint64"},
		{Param{Type: "const uint32_t *", Dir: "in", Count: "n"}, "[]uint32", "[]uint32"},
	} {
		c.param.Name = "p"
		v := ty.value(f, c.param)
		if a, r := v.argument("hip."), ty.result(v, "hip."); a != c.argument || r != c.result {
			t.Errorf("%s %s: %s in, %s out", c.param.Type, c.param.Dir, a, r)
		}
	}
}
