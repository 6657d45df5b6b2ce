package main

import (
	"bytes"
	"debug/elf"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// exports are a library's symbols, each with its version and "T" or "W"; the
// library must have the SONAME and need nothing but needs.
func exports(t *testing.T, name string, needs ...string) map[string]string {
	t.Helper()
	f, err := elf.Open(filepath.Join(built, "lib", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if names, err := f.DynString(elf.DT_SONAME); err != nil || len(names) != 1 || names[0] != filepath.Base(name) {
		t.Errorf("SONAME %q, %v", names, err)
	}
	libs, err := f.ImportedLibraries()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range libs {
		if !slices.Contains(needs, l) {
			t.Errorf("%s needs %s", name, l)
		}
	}
	symbols, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, s := range symbols {
		if s.Section == elf.SHN_UNDEF || s.Section == elf.SHN_ABS { // imported; version nodes
			continue
		}
		kind := "T"
		if elf.ST_BIND(s.Info) == elf.STB_WEAK {
			kind = "W"
		}
		got[s.Name] = s.Version + " " + kind
	}
	return got
}

// compare says what got has too much and too little.
func compare(t *testing.T, got, want map[string]string) {
	t.Helper()
	for name, v := range want {
		if got[name] != v {
			t.Errorf("%s: %q, want %q", name, got[name], v)
		}
	}
	for name, v := range got {
		if want[name] == "" {
			t.Errorf("%s (%s) is exported too", name, v)
		}
	}
}

// libamdhip64.so.6 has the SONAME, the symbols and the versions of AMD's, and
// exports nothing else.
func TestHIPExports(t *testing.T) {
	table, err := os.ReadFile(filepath.Join(root, "hip", "testdata", "exports.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for line := range strings.Lines(string(table)) {
		field := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") || len(field) < 3 {
			continue
		}
		want[field[0]] = field[1] + " " + field[2]
	}
	if len(want) != 502 {
		t.Errorf("the table has %d symbols", len(want))
	}
	compare(t, exports(t, "libamdhip64.so.6", "libc.so.6"), want)
}

// librocm_smi64.so.1 has what Debian's exports to programs in C, and what the programs that
// it is for import is served and not only there.
func TestRSMIExports(t *testing.T) {
	names, err := os.ReadFile(filepath.Join("testdata", "librocm_smi64.txt"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, name := range strings.Fields(string(names)) {
		want[name] = " T"
	}
	if len(want) != 118 {
		t.Errorf("the list has %d symbols", len(want))
	}
	compare(t, exports(t, "librocm_smi64.so.1", "libc.so.6"), want)

	absent, err := os.ReadFile(filepath.Join("rsmi", "absent.c"))
	if err != nil {
		t.Fatal(err)
	}
	// RCCL 6.4, rocblas-bench 4.4, Slurm's gpu_rsmi.so.
	for name := range strings.FieldsSeq(`rsmi_compute_process_info_by_pid_get rsmi_dev_brand_get rsmi_dev_drm_render_minor_get rsmi_dev_gpu_clk_freq_get rsmi_dev_gpu_clk_freq_set
		rsmi_dev_gpu_metrics_info_get rsmi_dev_metrics_xcd_counter_get rsmi_dev_name_get rsmi_dev_pci_id_get rsmi_dev_perf_level_set rsmi_dev_power_ave_get rsmi_dev_unique_id_get
		rsmi_init rsmi_minmax_bandwidth_get rsmi_num_monitor_devices rsmi_shut_down rsmi_status_string rsmi_topo_get_link_type rsmi_topo_get_link_weight
		rsmi_topo_get_numa_node_number rsmi_version_get rsmi_version_str_get`) {
		if want[name] == "" || strings.Contains(string(absent), "("+name+")") {
			t.Errorf("%s is not served", name)
		}
	}
}

// libamd_smi.so.27 likewise.
func TestSMIExports(t *testing.T) {
	names, err := os.ReadFile(filepath.Join("testdata", "libamd_smi.txt"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, name := range strings.Fields(string(names)) {
		want[name] = "AMDSMI_1 T"
	}
	if len(want) != 250 {
		t.Errorf("the list has %d symbols", len(want))
	}
	compare(t, exports(t, "libamd_smi.so.27", "libc.so.6"), want)

	b, err := os.ReadFile(filepath.Join(root, "smiabi", "api.json"))
	if err != nil {
		t.Fatal(err)
	}
	var api struct{ Functions []struct{ Name string } }
	if err := json.NewDecoder(bytes.NewReader(b)).Decode(&api); err != nil {
		t.Fatal(err)
	}
	for _, f := range api.Functions {
		delete(want, f.Name)
	}
	if len(want) != 0 || len(api.Functions) != 250 {
		t.Errorf("smiabi/api.json has %d functions and lacks %v", len(api.Functions), want)
	}
}

// libhsa-runtime64.so.1 likewise, and the one variable that it has for debuggers.
func TestHSAExports(t *testing.T) {
	names, err := os.ReadFile(filepath.Join("testdata", "libhsa_runtime64.txt"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, name := range strings.Fields(string(names)) {
		want[name] = "ROCR_1 T"
	}
	if len(want) != 256 {
		t.Errorf("the list has %d symbols", len(want))
	}
	want["_amdgpu_r_debug"] = "ROCR_1 T"
	compare(t, exports(t, "hsa/libhsa-runtime64.so.1", "libc.so.6"), want)
}

// The shared object behind them exports no function of any, so that it takes
// the place of no other library's.
func TestCoreExports(t *testing.T) {
	got := exports(t, "librocwire.so", "libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "ld-linux-x86-64.so.2")
	for name := range got {
		if !strings.HasPrefix(name, "rocwire_hip_") && !strings.HasPrefix(name, "rocwire_smi_") && !strings.HasPrefix(name, "rocwire_hsa_") {
			t.Errorf("%s is exported", name)
		}
	}
	if len(got) != 3 {
		t.Errorf("%d symbols", len(got))
	}
}
