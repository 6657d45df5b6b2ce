package llamacpp

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Packages are llama.cpp, its backends for CPUs and HIP, and what they link. AMD's HIP is not among them: ours takes its place.
var Packages = []string{
	"llama.cpp-tools", "libllama0", "libggml0", "libggml0-backend-hip", "libhipblas2", "librocblas4", "libroctx64-4",
	"libgomp1", "libssl3t64", "libzstd1", "zlib1g", "libc6", "libstdc++6", "libgcc-s1",
}

// libraries is where Debian's lie in a tree.
const libraries = "usr/lib/x86_64-linux-gnu"

// Program is a program of a tree.
func Program(ctx context.Context, tree, lib, name string, args ...string) *exec.Cmd {
	libs := filepath.Join(tree, libraries)
	cmd := exec.CommandContext(ctx, filepath.Join(tree, "usr/lib64/ld-linux-x86-64.so.2"), append([]string{
		"--library-path", lib + ":" + libs + ":" + filepath.Join(libs, "llama"), Path(tree, name)}, args...)...)
	cmd.Env = append(os.Environ(), "GGML_NO_BACKTRACE=1")
	return cmd
}

// Path is where a program lies in a tree.
func Path(tree, name string) string { return filepath.Join(tree, "usr/bin", name) }

// Folders makes two folders in dir for programs to run in: one has ggml's backends for CPUs, the other HIP's as well.
func Folders(tree, dir string) (cpu, hip string, err error) {
	cpu, hip = filepath.Join(dir, "cpu"), filepath.Join(dir, "hip")
	return cpu, hip, errors.Join(linkBackends(tree, cpu, false), linkBackends(tree, hip, true))
}

// linkBackends makes a folder with links to ggml's backends for CPUs, and to HIP's.
func linkBackends(tree, dir string, hip bool) error {
	all, err := filepath.Glob(filepath.Join(tree, libraries, "ggml/backends*/libggml-*.so"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, b := range all {
		name := filepath.Base(b)
		if !strings.HasPrefix(name, "libggml-cpu-") && !(hip && name == "libggml-hip.so") {
			continue
		}
		if err := os.Symlink(b, filepath.Join(dir, name)); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	return nil
}
