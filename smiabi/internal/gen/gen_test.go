package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/internal/genfile"
)

const moduleRoot = "../../.."

// The committed outputs are what the table and the handwritten functions say.
func TestUpToDate(t *testing.T) {
	table, err := readTable(filepath.Join(moduleRoot, "smiabi"))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range outputs {
		want, err := genfile.Format(o.path, o.make(table))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(moduleRoot, o.path))
		if err != nil || string(got) != string(want) {
			t.Errorf("%s is not what smiabi/api.json says: run make generate (%v)", o.path, err)
		}
	}
}

// The table has the vendor's exports, in order, and every function that is written
// for one stands behind it.
func TestExports(t *testing.T) {
	table, err := readTable(filepath.Join(moduleRoot, "smiabi"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(moduleRoot, "librocwire", "testdata", "libamd_smi.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var have []string
	written := map[string]bool{}
	for _, f := range table.Functions {
		have = append(have, f.Name)
		if table.answered(f) {
			written[goFunc(f.Name)] = true
		}
	}
	if want := strings.Fields(string(b)); !slices.Equal(have, want) {
		t.Errorf("%d functions, want %d, or not the same", len(have), len(want))
	}
	for name, w := range table.written {
		if w.says == "" {
			t.Errorf("%s: %s has no comment", w.file, name)
		}
		if !written[name] {
			t.Errorf("%s: %s is the name of no export", w.file, name)
		}
	}
	if len(written) < 100 {
		t.Errorf("only %d exports are answered", len(written))
	}
}

func TestNames(t *testing.T) {
	for c, want := range map[string]string{
		"amdsmi_get_gpu_asic_info": "amdsmiGetGPUASICInfo", "amdsmi_is_P2P_accessible": "amdsmiIsP2PAccessible", "rsmi_init": "rsmiInit",
	} {
		if got := goFunc(c); got != want {
			t.Errorf("%s: %s, want %s", c, got, want)
		}
	}
	for c, want := range map[string]string{"amdsmi_asic_info_t": "asicInfo", "amdsmi_range_t": "span", "amdsmi_fw_info_t::fw_info_list_": "fwInfoFWInfoList"} {
		if got := goType(c); got != want {
			t.Errorf("%s: %s, want %s", c, got, want)
		}
	}
}
