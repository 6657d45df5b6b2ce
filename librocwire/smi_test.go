package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var simEnv = []string{"AMDSMI_REMOTE=sim:", "TF_WORKER_HOST=sim:", "ROCWIRE_SIM_ARCH=gfx90a"}

// smiProgram compiles a C program of testdata against both libraries.
func smiProgram(t *testing.T, source string) string {
	t.Helper()
	bin := filepath.Join(built, "smi_"+strings.TrimSuffix(filepath.Base(source), ".c"))
	if !filepath.IsAbs(source) {
		source = filepath.Join("librocwire", "testdata", source)
	}
	lib := filepath.Join(built, "lib")
	build(t, "gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-Wno-unused-result", "-Ihip/include", "-Ismiabi/include", source, "-o", bin,
		"-L"+lib, "-Wl,--as-needed", "-lamd_smi", "-lamdhip64", "-Wl,-rpath,"+lib, "-lpthread")
	return bin
}

func wants(t *testing.T, out, line string) {
	t.Helper()
	if !strings.Contains(out, line) {
		t.Errorf("%q does not stand in:\n%s", line, out)
	}
}

// One process has both libraries, and one Go runtime: what HIP allocates, AMD SMI
// sees, on a worker's card and on a simulated one in the process.
func TestBoth(t *testing.T) {
	bin := smiProgram(t, "both.c")
	t.Run("worker", func(t *testing.T) {
		wants(t, runs(t, worker(t, nil, "--backend", "sim", "--sim-arch", "gfx90a"), bin), "both: ok")
	})
	t.Run("sim", func(t *testing.T) { wants(t, runs(t, simEnv, bin), "both: ok") })
}

// The libraries are opened by name in either order, each without the other's
// functions.
func TestOpen(t *testing.T) {
	bin := smiProgram(t, "open.c")
	hip, smi := library(), filepath.Join(built, "lib", "libamd_smi.so.27")
	wants(t, runs(t, simEnv, bin, hip, smi), "open: 1 sockets, 1 devices")
	wants(t, runs(t, simEnv, bin, smi, hip), "open: 1 sockets, 1 devices")
	env := append([]string{"LD_LIBRARY_PATH=" + filepath.Join(built, "lib")}, simEnv...)
	wants(t, runs(t, env, bin, "libamd_smi.so.27", "libamdhip64.so.6"), "open: 1 sockets, 1 devices")
}

func TestLifetime(t *testing.T) {
	bin := smiProgram(t, "lifetime.c")
	out := runs(t, simEnv, bin)
	wants(t, out, "lifetime: ok")
	if strings.Count(out, "child of a fork") != 1 {
		t.Errorf("the fork is not told once:\n%s", out)
	}
}

// A source that cannot be reached is told in one line that says what is wrong.
func TestInitFails(t *testing.T) {
	bin := smiProgram(t, "init.c")
	for _, c := range []struct{ env, status, line string }{
		{"AMDSMI_REMOTE=127.0.0.1:1", "12", "127.0.0.1:1"},
		{"AMDSMI_REMOTE=unix:/nonexistent/socket", "12", "/nonexistent/socket"},
		{"AMDSMI_REMOTE=worker", "1", `AMDSMI_REMOTE="worker"`},
		{"TF_WORKER_HOST=127.0.0.1 TF_WORKER_PORT=1", "12", "127.0.0.1:1"},
		{"AMDSMI_REMOTE=127.0.0.1:1 TF_WORKER_HOST=sim:", "12", "127.0.0.1:1"},
	} {
		out := runs(t, strings.Fields(c.env), bin)
		wants(t, out, "init: "+c.status+"\n")
		wants(t, out, c.line)
		if strings.Count(out, "\n") != 2 {
			t.Errorf("%s: more than one line:\n%s", c.env, out)
		}
	}
	wants(t, runs(t, []string{"AMDSMI_REMOTE=sim:", "TF_WORKER_HOST=127.0.0.1"}, bin), "init: 0\n")
}

// Without a worker the library looks for AMD's own, and does not take itself for it.
func TestLocalCards(t *testing.T) {
	if _, err := os.Stat("/sys/module/amdgpu"); err == nil {
		t.Skip("this machine has the driver")
	}
	lib := filepath.Join(built, "lib")
	env := []string{"LD_LIBRARY_PATH=" + lib, "ROCM_PATH=" + built, "AMDSMI_REMOTE=", "TF_WORKER_HOST="}
	out := runs(t, env, smiProgram(t, "init.c"))
	wants(t, out, "init: 34\n") // AMDSMI_STATUS_DRIVER_NOT_LOADED
	wants(t, out, "rocwire's own library")
	wants(t, out, "/sys/module/amdgpu")
}

// AMD's library, of an older interface too, behind ours: programs see its cards as
// they see a worker's.
func TestVendorLibrary(t *testing.T) {
	bin := smiProgram(t, "cards.c")
	for _, abi := range []string{"25", "27"} {
		dir := filepath.Join(built, "vendor"+abi)
		if err := os.MkdirAll(filepath.Join(dir, "lib"), 0o700); err != nil {
			t.Fatal(err)
		}
		name := "libamd_smi.so." + abi
		build(t, "gcc", "-shared", "-fPIC", "-DABI="+abi, "-Wl,-soname,"+name, "-o", filepath.Join(dir, "lib", name), "rocm/amdsmi/testdata/stub.c", "-ldl", "-lpthread")
		out := runs(t, []string{"ROCM_PATH=" + dir, "AMDSMI_REMOTE=", "TF_WORKER_HOST="}, bin)
		if strings.Count(out, "\n") != 3 || strings.Count(out, "AMD Instinct") != 2 {
			t.Errorf("not the stub's three cards:\n%s", out)
		}
	}
}

// calls writes a C program that calls every export: with nothing but zeros, with a
// handle that is none, and with what it asks for.
func calls(t *testing.T, path string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, "smiabi", "api.json"))
	if err != nil {
		t.Fatal(err)
	}
	var api struct {
		Functions []struct {
			Name   string
			Void   bool
			NoInit bool
			Params []struct{ Name, Type string }
		}
	}
	if err := json.Unmarshal(b, &api); err != nil {
		t.Fatal(err)
	}
	var w strings.Builder
	w.WriteString(`#include "amd_smi/amdsmi.h"
#include "calls.h"

void zeros(void)
{
	memset(scratch, 0, sizeof scratch);
`)
	call := func(kind, name string, void bool, args []string) {
		if void {
			fmt.Fprintf(&w, "\t%s(%s);\n", name, strings.Join(args, ", "))
		} else {
			fmt.Fprintf(&w, "\t%s(\"%s\", %s(%s));\n", kind, name, name, strings.Join(args, ", "))
		}
	}
	end := map[string]bool{"amdsmi_init": true, "amdsmi_shut_down": true} // called by calls.h
	for _, f := range api.Functions {
		var zeros []string
		for _, p := range f.Params {
			switch p.Type {
			case "amdsmi_bdf_t", "amdsmi_link_id_bw_type_t":
				zeros = append(zeros, "("+p.Type+"){0}")
			default:
				zeros = append(zeros, "0")
			}
		}
		kind := "any"
		if !f.NoInit {
			kind = "early"
		}
		if !end[f.Name] {
			call(kind, f.Name, f.Void, zeros)
		}
	}
	for _, pass := range []string{"processor", "stray"} {
		fmt.Fprintf(&w, "}\n\nvoid with_%s(void)\n{\n", pass)
		for _, f := range api.Functions {
			if end[f.Name] || f.Void {
				continue
			}
			var args []string
			kind := "any"
			for i, p := range f.Params {
				arg := "0"
				switch {
				case strings.HasSuffix(p.Type, "*"):
					arg = fmt.Sprintf("(void *)scratch[%d]", i)
				case p.Type == "processor":
					arg = pass
					if pass == "stray" {
						kind = "refused"
					}
				case p.Type == "socket":
					arg = "socket"
				case p.Type == "amdsmi_bdf_t", p.Type == "amdsmi_link_id_bw_type_t":
					arg = "(" + p.Type + "){0}"
				}
				args = append(args, arg)
			}
			call(kind, f.Name, false, args)
		}
	}
	w.WriteString("}\n\n#include \"calls_main.h\"\n")
	if err := os.WriteFile(path, []byte(w.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// No export crashes whatever it is called with, each refuses a handle that is none,
// and those that need amdsmi_init say so.
func TestEveryExport(t *testing.T) {
	path := filepath.Join(built, "calls.c")
	calls(t, path)
	for _, h := range []string{"calls.h", "calls_main.h"} {
		b, err := os.ReadFile(filepath.Join("testdata", h))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(built, h), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out := runs(t, simEnv, smiProgram(t, path))
	wants(t, out, "calls: ok")
	if strings.Contains(out, "goroutine") {
		t.Errorf("an export failed inside:\n%s", out)
	}
}
