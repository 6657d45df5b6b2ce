package windows

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rocwire/rocwire/examples"
)

// What is Linux': forks, signals, sockets and descriptors that go from process to process.
var notOnWindows = []string{"fork", "signal_stack", "ipc", "shareable"}

// Ordinary HIP programs in C, compiled by mingw against our header and import library.
func TestPrograms(t *testing.T) {
	folder(t)
	env := worker(t, "gfx90a", 1)
	for _, p := range examples.Programs {
		source, arg, _ := strings.Cut(p.Run, " ")
		name := strings.TrimSuffix(filepath.Base(source), ".c")
		if slices.Contains(notOnWindows, name) {
			continue
		}
		t.Run(name+arg, func(t *testing.T) {
			if out := runs(t, env, program(t, source, "amdhip64_6"), strings.Fields(arg)...); !strings.Contains(out, p.Wants) {
				t.Errorf("%q does not stand in:\n%s", p.Wants, out)
			}
		})
	}
}

// exportsOf are the names in a version script.
func exportsOf(t *testing.T, script string) (names []string) {
	t.Helper()
	b, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if name, ok := strings.CutSuffix(strings.TrimSpace(line), ";"); ok && name != "*" && !strings.HasPrefix(name, "}") {
			names = append(names, name)
		}
	}
	return names
}

// Every function of each library is found by its name, nothing is opened before one is called, and the two names of HIP's library are
// one library: memory and errors are the same.
func TestByName(t *testing.T) {
	byname := program(t, "librocwire/windows/testdata/byname.c")
	env := worker(t, "gfx942", 1)
	for _, l := range []struct {
		library, script string
		least           int
		more            []string
	}{
		{"amdhip64_6.dll", "../../hipabi/zz_libamdhip64.map", 500, []string{"amdhip64_7.dll"}},
		{"amdhip64_7.dll", "../../hipabi/zz_libamdhip64_next.map", 500, []string{"amdhip64_7.dll"}},
		{"amd_smi.dll", "../../smiabi/zz_libamd_smi.map", 240, nil},
	} {
		names := exportsOf(t, l.script)
		if len(names) < l.least {
			t.Errorf("%s names %d functions", l.script, len(names))
		}
		list := filepath.Join(t.TempDir(), "names")
		if err := os.WriteFile(list, []byte(strings.Join(names, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
		out := runs(t, env, byname, append([]string{l.library, path(list)}, l.more...)...)
		if want := fmt.Sprintf("%d functions, 0 wrong", len(names)); !strings.Contains(out, want) {
			t.Errorf("%s: not %q:\n%s", l.library, want, out)
		}
	}
}

// The run-time compiler's functions are those of the machine's hiprtc, if it has one.
func TestHiprtc(t *testing.T) {
	rtc := program(t, "examples/tests/rtc.c", "amdhip64_6")
	stub := filepath.Join(t.TempDir(), "hiprtc0604.dll")
	build(t, mingw, "-shared", "-Wall", "-Werror", "-Ihip/include", "librocwire/testdata/hiprtc.c", "-o", stub)
	env := worker(t, "gfx942", 1)
	runs(t, append(env, "ROCWIRE_HIPRTC="+path(stub)), rtc, "compile")
	runs(t, append(env, "WINEPATH="+path(filepath.Dir(stub))), rtc, "compile")
	for _, none := range []string{`Z:\nonexistent\hiprtc.dll`, path(filepath.Join(filepath.Dir(rtc), "amdhip64_6.dll"))} {
		out := runs(t, append(env, "ROCWIRE_HIPRTC="+none), rtc)
		if !strings.Contains(out, none) || strings.Count(out, "rocwire:") != 1 {
			t.Errorf("without a compiler, one line that names it is wanted:\n%s", out)
		}
	}
}

// One process has both libraries and one rocwire.dll: what HIP allocates, AMD SMI sees.
func TestBoth(t *testing.T) {
	bin := program(t, "librocwire/testdata/both.c", "amdhip64_6", "amd_smi")
	wants(t, runs(t, worker(t, "gfx90a", 1), bin), "both: ok")
}

// A program that returns from main has said goodbye, and smi-remote shows what there is, in a pipe and in a console.
func TestRemote(t *testing.T) {
	hello := program(t, "examples/hello_hip/hello_hip.c", "amdhip64_6")
	remote := filepath.Join(folder(t), "smi-remote.exe")
	env := worker(t, "gfx90a", 1)
	wants(t, runs(t, env, hello), "PASSED")
	wants(t, runs(t, env, remote, "sessions"), "No client is connected.")
	wants(t, runs(t, env, remote, "list"), "gfx90a")
	wants(t, runs(t, env, remote, "metrics"), "°C")

	// script is a terminal. The view is ended when it shows the card.
	c := exec.Command("script", "-qefc", fmt.Sprintf("stty rows 30 cols 120; exec %s %s top", wine.program, remote), "/dev/null")
	c.Env = append(append(wineEnv(), env...), "TERM=xterm-256color")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	shown, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(4*time.Minute, func() { _ = c.Process.Kill() })
	defer kill.Stop()
	var all bytes.Buffer
	for buf, asked := make([]byte, 4096), false; ; {
		n, err := shown.Read(buf)
		all.Write(buf[:n])
		if !asked && bytes.Contains(all.Bytes(), []byte("Instinct")) {
			asked = true
			if _, err := in.Write([]byte("q")); err != nil {
				t.Error(err)
			}
		}
		if err != nil {
			break
		}
	}
	if err := c.Wait(); err != nil {
		t.Errorf("top: %v", err)
	}
	for _, want := range []string{"Instinct", "°C", "── GPUs", "\x1b["} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("%q is not shown:\n%q", want, all.String())
		}
	}
}

// What is handed out: everything that the page for Windows names.
func TestZip(t *testing.T) {
	dir := folder(t)
	z, err := zip.OpenReader(dir + ".zip")
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	has := map[string]bool{}
	for _, f := range z.File {
		has[strings.TrimPrefix(f.Name, filepath.Base(dir)+"/")] = f.UncompressedSize64 > 0
	}
	for _, name := range []string{
		"rocwire.dll", "amdhip64_6.dll", "amdhip64_7.dll", "amd_smi.dll", "smi-remote.exe", "gpu-exporter.exe", "install.ps1", "README.md", "LICENSE",
		"lib/amdhip64.lib", "lib/amdhip64_6.lib", "lib/amdhip64_7.lib", "lib/amd_smi.lib", "lib/libamdhip64_6.dll.a", "include/hip/hip_runtime_api.h", "include/amd_smi/amdsmi.h",
	} {
		if !has[name] {
			t.Errorf("%s is missing", name)
		}
	}
}

// A library registers its code while it is loaded and takes it back while it is unloaded, when nothing may be waited for; threads use HIP meanwhile.
func TestPlugins(t *testing.T) {
	plugins := program(t, "librocwire/windows/testdata/plugins.c", "amdhip64_6")
	dir := folder(t)
	build(t, mingw, "-shared", "-O2", "-Wall", "-Wextra", "-Werror", "-Ihip/include", "librocwire/windows/testdata/plugin.c", "-o", filepath.Join(dir, "plugin.dll"),
		filepath.Join(dir, "lib", "libamdhip64_6.dll.a"))
	wants(t, runs(t, worker(t, "gfx90a", 1), plugins), "plugins: ok")
}

// A program that clang makes of one source for host and device, linked by the import library that Microsoft's linker takes.
func TestClang(t *testing.T) {
	clang, err := exec.LookPath("clang++-19")
	if err != nil {
		t.Skip("clang++-19 is missing")
	}
	dir := folder(t)
	object, bin := filepath.Join(dir, "launch.o"), filepath.Join(dir, "launch.exe")
	build(t, clang, "-x", "hip", "--target=x86_64-w64-windows-gnu", "--offload-arch=gfx90a", "--offload-arch=gfx942", "-nogpuinc", "-nogpulib", "-O2", "-Wall", "-Werror",
		"-Ihip/include", "-c", "examples/tests/launch.hip", "-o", object)
	build(t, mingw, object, filepath.Join(dir, "lib", "amdhip64_6.lib"), "-o", bin, "-static")
	wants(t, runs(t, worker(t, "gfx942", 2), bin), "launch: ok")
}

// %AppData%\rocwire\config.yaml names the worker, for the library and for smi-remote.
func TestConfig(t *testing.T) {
	hello := program(t, "examples/hello_hip/hello_hip.c", "amdhip64_6")
	remote := filepath.Join(folder(t), "smi-remote.exe")
	env := worker(t, "gfx90a", 1)
	var port string
	for _, v := range env {
		if p, ok := strings.CutPrefix(v, "TF_WORKER_PORT="); ok {
			port = p
		}
	}
	folders, err := filepath.Glob(filepath.Join(wine.prefix, "drive_c", "users", "*", "AppData", "Roaming"))
	if err != nil || len(folders) == 0 {
		t.Fatal(folders, err)
	}
	for _, f := range folders {
		f = filepath.Join(f, "rocwire")
		if err := os.MkdirAll(f, 0o755); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(f) }) // of the next test's concern, which would fail
		if err := os.WriteFile(filepath.Join(f, "config.yaml"), []byte("default: gpus\nworkers:\n  gpus:\n    address: 127.0.0.1:"+port+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	wants(t, runs(t, []string{"TF_WORKER_HOST=", "TF_WORKER_PORT="}, hello), "PASSED")
	wants(t, runs(t, []string{"TF_WORKER_HOST=", "TF_WORKER_PORT="}, remote, "list"), "gfx90a")
}
