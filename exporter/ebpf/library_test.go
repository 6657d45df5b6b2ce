//go:build linux && amd64

package ebpf

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rocwire/rocwire/internal/debtree"
)

const root = "../.."

// ours builds rocwire's library and worker, and starts the worker with a simulated GPU.
func ours(t *testing.T) (lib string, env []string) {
	t.Helper()
	dir := t.TempDir()
	lib = filepath.Join(dir, "lib")
	build := func(name string, args ...string) {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
	}
	build("./librocwire/build.sh", lib)
	build("go", "build", "-o", dir, "./cmd/hip-worker", "./cmd/hip-session")
	cmd := exec.Command(filepath.Join(dir, "hip-worker"), "--backend", "sim", "--port", "0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the worker: %v\n%s", err, log.String())
		}
	})
	var said []byte
	port := regexp.MustCompile(`hip-worker.*\bport (\d+)`)
	for b := make([]byte, 1000); ; {
		n, err := out.Read(b)
		said = append(said, b[:n]...)
		if m := port.FindSubmatch(said); m != nil {
			return lib, []string{"TF_WORKER_HOST=127.0.0.1", "TF_WORKER_PORT=" + string(m[1])}
		}
		if err != nil {
			t.Fatalf("the worker says %q, %v\n%s", said, err, log.String())
		}
	}
}

// A program on our library: each export is a jump into another library, and the call
// returns from there.
func TestOurLibrary(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the library and the worker, which takes a minute")
	}
	tr := open(t, func(o *Options) { o.Functions = nil }) // the default ones
	lib, env := ours(t)
	dir := t.TempDir()
	library, program, hello := filepath.Join(lib, "libamdhip64.so.6"), filepath.Join(dir, "ours"), filepath.Join(dir, "hello_hip")
	rpath := "-Wl,-rpath," + lib
	gcc(t, "-O2", "-Wall", "-Werror", "-I"+root+"/hip/include", "testdata/ours.c", library, rpath, "-o", program)
	gcc(t, "-O2", "-I"+root+"/hip/include", "-Wa,-I"+root, root+"/examples/hello_hip/hello_hip.c", library, rpath, "-lm", "-o", hello)

	t.Setenv("TF_WORKER_HOST", strings.TrimPrefix(env[0], "TF_WORKER_HOST="))
	t.Setenv("TF_WORKER_PORT", strings.TrimPrefix(env[1], "TF_WORKER_PORT="))
	r := start(t, program)
	r.step("done") // before anybody watches
	watched(t, tr, 1)
	for range 5 {
		r.step("done")
	}
	p := of(t, tr, r.pid())
	equal(t, "calls", counts(p), map[string]uint64{
		"hipMalloc hipSuccess": 10, "hipMemcpy hipSuccess": 10, "hipMemcpyAsync hipSuccess": 5, "hipStreamSynchronize hipSuccess": 5, "hipFree hipSuccess": 5,
	})
	copied := map[string]uint64{}
	for _, k := range p.Copies {
		copied[k.Kind] = k.Bytes
	}
	equal(t, "bytes", copied, map[string]uint64{"host_to_device": 5 * 70000, "device_to_device": 5 * 65536, "device_to_host": 5 * 65536})
	if n, ok := p.Device.Held.Get(); !ok || n != 5*70000 {
		t.Errorf("it holds %d bytes, %v", n, ok)
	}
	if p.Name != "ours" || p.Executable != program || p.Library != library || p.User == "" || time.Since(p.Since) > time.Minute {
		t.Errorf("who it is: %+v", p)
	}

	cmd := exec.Command(hello)
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASSED") {
		t.Fatalf("%v\n%s", err, out)
	}
	p = of(t, tr, uint32(cmd.Process.Pid))
	equal(t, "calls of hello_hip", counts(p), map[string]uint64{
		"hipMalloc hipSuccess": 3, "hipFree hipSuccess": 3, "hipMemcpy hipSuccess": 3, "hipModuleLaunchKernel hipSuccess": 1,
		"hipDeviceSynchronize hipSuccess": 1, "hipModuleLoadData hipSuccess": 1, "hipModuleGetFunction hipSuccess": 1,
	})
	if !p.Ended || p.Launches != 1 || p.Grid.Sum != 1<<20 || p.Block.Sum != 256 || p.Grid.Buckets[20] != 1 || p.Block.Buckets[8] != 1 {
		t.Errorf("hello_hip: %+v", p)
	}
	equal(t, "dropped", dropped(tr), map[string]uint64{})
}

// AMD's library, loaded while the program runs.
func TestAMDLibrary(t *testing.T) {
	sid := debtree.Path(t)
	lib := filepath.Join(sid, "usr/lib/x86_64-linux-gnu")
	loader := filepath.Join(sid, "usr/lib64/ld-linux-x86-64.so.2")
	for _, f := range []string{loader, lib + "/libamdhip64.so.6", lib + "/libhsa-runtime64.so.1", lib + "/libdrm_amdgpu.so.1", lib + "/libelf.so.1"} {
		if _, err := os.Stat(f); err != nil {
			t.Skipf("SKIPPED, AMD's library is not watched: get it with\n\tscripts/fetch_debian.sh %s libamdhip64-6 libhsa-runtime64-1 libnuma1 "+
				"libelf1t64 libdrm2 libdrm-amdgpu1 libzstd1 zlib1g libc6 libstdc++6 libgcc-s1", sid)
		}
	}
	tr := open(t, func(o *Options) {
		o.Functions, o.only = []string{"memory", "copy", "launch", "hipGetDeviceCount"}, sid
	})
	program := filepath.Join(t.TempDir(), "amd")
	gcc(t, "-O2", "-Wall", "-Werror", "testdata/amd.c", "-ldl", "-o", program)
	r := start(t, loader, "--library-path", lib, program)
	tr.Poll(t.Context())
	r.step("loaded")
	watched(t, tr, 1)
	r.step("no device")
	r.step("no device")
	p := of(t, tr, r.pid())
	equal(t, "calls", counts(p), map[string]uint64{"hipGetDeviceCount hipErrorNoDevice": 20})
	if h := p.Calls[0].Latency; h.Count() != 20 || h.Nanos == 0 {
		t.Errorf("durations: %+v", h)
	}
	// Others of this machine's may have had the library watched before this program loaded it; then its mappings are read when it is their turn.
	until(t, tr, "the program's library", func() bool { p = of(t, tr, r.pid()); return p.Library != "" })
	if !strings.HasPrefix(filepath.Base(p.Library), "libamdhip64.so.6") {
		t.Errorf("its library is %q", p.Library)
	}
}

// A program in namespaces of its own, with a library that no path of ours leads to.
func TestContainer(t *testing.T) {
	if _, err := exec.LookPath("unshare"); err != nil {
		t.Skip("needs unshare (apt-get install util-linux)")
	}
	library, program := stub(t)
	inner := t.TempDir()
	tr := open(t)
	r := start(t, "unshare", "--mount", "--pid", "--fork", "sh", "-c",
		fmt.Sprintf("mount -t tmpfs none %[1]s && cp %[2]s %[3]s %[1]s && exec %[1]s/calls copy", inner, library, program))
	watched(t, tr, 1)
	if _, err := os.Stat(filepath.Join(inner, "calls")); err == nil {
		t.Error("the program is not in a mount namespace of its own")
	}
	r.step("done")
	tr.Poll(t.Context())
	ps := tr.Local().Processes
	if len(ps) != 1 || ps[0].PID == r.pid() || ps[0].Name != "calls" || counts(&ps[0])["hipMemcpy hipSuccess"] != 2 {
		t.Errorf("%+v", ps)
	}
	r.end()
}

// A library that is replaced is another file; the old one is watched while it is used.
func TestReplaced(t *testing.T) {
	library, program := stub(t)
	tr := open(t, func(o *Options) { o.Keep = time.Millisecond })
	old := start(t, program, "sync", "sync")
	watched(t, tr, 1)
	fresh := library + ".new"
	gcc(t, "-O1", "-fPIC", "-shared", "-Wl,-soname,libamdhip64.so.6", "-Wl,--version-script=testdata/stub.map", "testdata/stub.c", "-o", fresh)
	if err := os.Rename(fresh, library); err != nil {
		t.Fatal(err)
	}
	r := start(t, program, "copy")
	watched(t, tr, 2)
	old.step("done")
	r.step("done")
	equal(t, "calls of the old one", counts(of(t, tr, old.pid())), map[string]uint64{"hipDeviceSynchronize hipSuccess": 1})
	if n := counts(of(t, tr, r.pid()))["hipMemcpy hipSuccess"]; n != 2 {
		t.Errorf("%d calls of the new one", n)
	}
	old.end()
	watched(t, tr, 1)
	r.end()
	watched(t, tr, 0)
}

// A library whose file is written to is looked through again: its functions are
// elsewhere now.
func TestRewritten(t *testing.T) {
	library, program := stub(t)
	tr := open(t, func(o *Options) { o.Files = []string{filepath.Join(filepath.Dir(library), "libamdhip64.so.?")} })
	watched(t, tr, 1)
	other := library + ".new"
	gcc(t, "-O0", "-fPIC", "-shared", "-Wl,-soname,libamdhip64.so.6", "-Wl,--version-script=testdata/stub.map", "testdata/stub.c", "-o", other)
	b, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(library, b, 0o755); err != nil {
		t.Fatal(err)
	}
	tr.Poll(t.Context())
	watched(t, tr, 1)
	r := start(t, program, "copy", "allocate")
	r.step("done")
	r.step("done")
	got := counts(of(t, tr, r.pid())) // from its very first call on
	if got["hipMemcpy hipSuccess"] != 2 || got["hipMalloc hipSuccess"] != 1 || got["hipFree hipSuccess"] != 3 {
		t.Errorf("calls: %v", got)
	}
}

// Programs that begin are looked at without waiting for the next scan.
func TestRun(t *testing.T) {
	_, program := stub(t)
	tr := open(t, func(o *Options) { o.Interval = 24 * time.Hour })
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan struct{})
	go func() { defer close(ran); tr.Run(ctx) }()
	defer func() { cancel(); <-ran }()
	for tr.Err() != nil {
		time.Sleep(10 * time.Millisecond)
	}
	r := start(t, program, "copy")
	for {
		tr.poll.Lock()
		n := tr.libs.watched()
		tr.poll.Unlock()
		if n == 1 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	r.step("done")
	if n := counts(of(t, tr, r.pid()))["hipMemcpy hipSuccess"]; n != 2 {
		t.Errorf("%d calls", n)
	}
}
