package worker_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/rocwire/rocwire/internal/debtree"
	"github.com/rocwire/rocwire/worker"
	"github.com/rocwire/rocwire/worker/confine"
	"github.com/rocwire/rocwire/worker/rocmbackend"
	"github.com/rocwire/rocwire/worker/workertest"
)

// onBackends runs a test of a worker with one card on the simulated one, and through AMD's own library on the same: --backend rocm.
func onBackends(t *testing.T, cfg worker.Config, test func(t *testing.T, w *worker.Server, rocm bool)) {
	t.Run("sim", func(t *testing.T) { test(t, serve(t, cards(1), cfg), false) })
	t.Run("rocm", func(t *testing.T) { test(t, serveROCm(t, cfg), true) })
}

// rocmCommand is the first argument of a session process of this binary on AMD's library.
const rocmCommand = "__rocm"

func rocmSession(args []string) (*worker.SessionProcess, error) {
	return rocmbackend.Session(args, testLog())
}

// serveROCm starts a worker whose session processes have AMD's libamdhip64 of Debian, which needs its own C library, on a simulated card through our libhsa-runtime64.
func serveROCm(t *testing.T, cfg worker.Config) *worker.Server {
	t.Helper()
	if testing.Short() {
		t.Skip("SKIPPED: the libraries for it take long to build")
	}
	tree := debtree.Path(t)
	libs := filepath.Join(tree, "usr/lib/x86_64-linux-gnu")
	if _, err := os.Stat(filepath.Join(libs, "libamdhip64.so.6")); err != nil {
		t.Skipf("SKIPPED, AMD's library is not tested: get it with\n\tscripts/fetch_debian.sh %s libamdhip64-6 libamd-comgr3 libllvm21 libedit2 libffi8 libtinfo6 libxml2-16 libz3-4 liblzma5 libbsd0 libmd0 libhsa-runtime64-1 libnuma1 libelf1t64 libdrm2 libdrm-amdgpu1 libzstd1 zlib1g libc6 libstdc++6 libgcc-s1", tree)
	}
	hsa, err := hsaLibrary()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("ROCWIRE_SIM_ARCH", "gfx942")
	if cfg.Backend, err = rocmbackend.New(""); err != nil {
		t.Fatal(err)
	}
	cfg.Command = []string{filepath.Join(tree, "usr/lib64/ld-linux-x86-64.so.2"), "--library-path", hsa + ":" + libs, os.Args[0], rocmCommand}
	cfg.Confine = confine.Options{None: true} // sessions' users may not go the way to a home
	if cfg.Log == nil {
		cfg.Log = testLog()
	}
	return workertest.Start(t, cfg)
}

// hsaFolder is where hsaLibrary's is, to be removed.
var hsaFolder string

// hsaLibrary builds libhsa-runtime64.so.1 once, and says where it is.
var hsaLibrary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "rocwire-hsa")
	if err != nil {
		return "", err
	}
	hsaFolder = dir
	cmd := exec.Command("../librocwire/build.sh", dir)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	return filepath.Join(dir, "hsa"), cmd.Run()
})
