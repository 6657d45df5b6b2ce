// Command gen turns layouts.txt and smiabi/api.json into the tables of offsets of
// package amdsmi, and into C declarations from which the tests' stub library is
// compiled. Running it twice changes nothing.
//
//	go generate ./rocm/amdsmi
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/rocwire/rocwire/internal/genfile"
)

// abis are the interfaces known, by the number in the library's SONAME.
var abis = []int{25, 26, 27}

func main() {
	dir := flag.String("dir", ".", "the folder of package amdsmi")
	api := flag.String("api", "../../smiabi/api.json", "the table of ABI 27")
	flag.Parse()
	if err := generate(*dir, *api); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func generate(dir, api string) error {
	old, err := readText(filepath.Join(dir, "layouts.txt"))
	if err != nil {
		return err
	}
	newest, err := readAPI(api, old)
	if err != nil {
		return err
	}
	t := append(old, newest...)
	if err := place(t); err != nil {
		return err
	}
	for path, text := range map[string]string{
		"zz_layouts.go":         goTables(t),
		"zz_layouts_test.go":    goTest(t),
		"testdata/zz_structs.h": cStructs(t),
	} {
		if err := genfile.Write(filepath.Join(dir, path), text); err != nil {
			return err
		}
	}
	return nil
}
