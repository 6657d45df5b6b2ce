package deploy

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// run runs a script of ours with a changed environment.
func run(t *testing.T, env []string, script string, args ...string) (code int, out string) {
	t.Helper()
	cmd := exec.Command(script, args...)
	cmd.Env = append(os.Environ(), env...)
	b, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(b)
}

// tree makes a tarball of files, whose content is their name.
func tree(t *testing.T, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, f := range files {
		h := &tar.Header{Name: f, Mode: 0o755, Size: int64(len(f)), Typeflag: tar.TypeReg}
		if strings.HasSuffix(f, "/") {
			h.Typeflag, h.Size = tar.TypeDir, 0
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			if _, err := w.Write([]byte(f)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const installer = "../scripts/install_rocm_tarball.sh"

// mirror serves tarballs by their paths.
func mirror(t *testing.T, files map[string][]byte) string {
	t.Helper()
	if _, err := exec.LookPath("curl"); err != nil {
		if _, err := exec.LookPath("wget"); err != nil {
			t.Skip("curl and wget are missing: apt-get install curl")
		}
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, ok := files[strings.TrimPrefix(r.URL.Path, "/")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(b)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func whole(t *testing.T) []byte {
	return tree(t, "bin/", "bin/hipcc", "include/", "lib/", "lib/libamdhip64.so", "lib/libamd_smi.so")
}

// left is what is in a folder.
func left(t *testing.T, dir string) string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

func TestInstallROCm(t *testing.T) {
	one := whole(t)
	url := mirror(t, map[string][]byte{
		"therock-dist-linux-gfx94X-dcgpu-7.10.0.tar.gz":    one,
		"therock-dist-linux-gfx94X-dcgpu-7.11.0rc0.tar.gz": whole(t),
		"therock-dist-linux-gfx94X-dcgpu-7.12.0.tar.gz":    tree(t, "bin/", "lib/", "lib/libamdhip64.so"),
		"therock-dist-linux-gfx94X-dcgpu-7.13.0.tar.gz":    one[:len(one)/2],
	})
	prefix := t.TempDir()
	install := func(args ...string) (int, string) {
		t.Helper()
		return run(t, nil, installer, append([]string{"--prefix", prefix, "--base-url", url}, args...)...)
	}
	sum := fmt.Sprintf("%x", sha256.Sum256(one))
	if code, out := install("--dry-run", "7.10.0", "gfx94X-dcgpu"); code != 0 || !strings.Contains(out, "nothing was done") || left(t, prefix) != "" {
		t.Fatalf("dry run: exit %d, %s, left %q", code, out, left(t, prefix))
	}
	if code, out := install("--sha256", sum, "7.10.0", "gfx94X-dcgpu"); code != 0 || !strings.Contains(out, "is installed") {
		t.Fatalf("exit %d, %s", code, out)
	}
	if b, err := os.ReadFile(filepath.Join(prefix, "rocm/bin/hipcc")); err != nil || string(b) != "bin/hipcc" {
		t.Errorf("%q, %v", b, err)
	}
	if to, err := os.Readlink(filepath.Join(prefix, "rocm")); err != nil || to != "rocm-7.10.0" {
		t.Errorf("the link is to %q, %v", to, err)
	}
	if code, out := install("7.10.0", "gfx94X-dcgpu"); code != 1 || !strings.Contains(out, "--force") {
		t.Errorf("again: exit %d, %s", code, out)
	}
	if code, out := install("--force", "7.10.0", "gfx94X-dcgpu"); code != 0 {
		t.Errorf("with force: exit %d, %s", code, out)
	}
	kept := filepath.Join(t.TempDir(), "rocm.tar.gz")
	if code, out := install("--keep", kept, "7.11.0rc0", "gfx94X-dcgpu", "prereleases"); code != 0 {
		t.Errorf("exit %d, %s", code, out)
	}
	if _, err := os.Stat(kept); err != nil {
		t.Error(err)
	}
	before := left(t, prefix)
	for what, args := range map[string][]string{
		"it is no ROCm":      {"7.12.0", "gfx94X-dcgpu"},
		"cannot be unpacked": {"7.13.0", "gfx94X-dcgpu"},
		"cannot be fetched":  {"7.14.0", "gfx94X-dcgpu"},
		"checksum":           {"--force", "--sha256", strings.Repeat("0", 64), "7.10.0", "gfx94X-dcgpu"},
	} {
		if code, out := install(args...); code != 1 || !strings.Contains(out, what) {
			t.Errorf("%v: exit %d, %s", args, code, out)
		}
		if now := left(t, prefix); now != before {
			t.Errorf("%v leaves %q, there was %q", args, now, before)
		}
	}
	if to, err := os.Readlink(filepath.Join(prefix, "rocm")); err != nil || to != "rocm-7.11.0rc0" {
		t.Errorf("after failures the link is to %q, %v", to, err)
	}
}

// TestInstallROCmFrom: each type of release has its server, and nothing is asked of it.
func TestInstallROCmFrom(t *testing.T) {
	for kind, host := range map[string]string{
		"": "https://repo.amd.com/rocm/tarball/", "stable": "https://repo.amd.com/rocm/tarball/", "nightlies": "https://rocm.nightlies.amd.com/tarball/",
		"prereleases": "https://rocm.prereleases.amd.com/tarball/", "devreleases": "https://rocm.devreleases.amd.com/tarball/",
	} {
		args := strings.Fields("--dry-run --prefix " + t.TempDir() + " 7.10.0 gfx94X-dcgpu " + kind)
		if code, out := run(t, nil, installer, args...); code != 0 || !strings.Contains(out, host+"therock-dist-linux-gfx94X-dcgpu-7.10.0.tar.gz\n") {
			t.Errorf("%s: exit %d, %s", kind, code, out)
		}
	}
	for _, args := range []string{
		"", "7.10.0", "7.10.0 gfx94X-dcgpu stable more", "../7 gfx94X-dcgpu", "7.10.0 gfx/../x", "7.10.0 gfx94X-dcgpu betas", "--prefix relative 7.10.0 gfx94X-dcgpu",
		"--sha256 short 7.10.0 gfx94X-dcgpu", "--nonsense 7.10.0 gfx94X-dcgpu", "7.10.0 gfx94X-dcgpu --prefix",
	} {
		if code, out := run(t, nil, installer, strings.Fields(args)...); code != 2 || !strings.Contains(out, "--help") {
			t.Errorf("%q: exit %d, %s", args, code, out)
		}
	}
	if code, out := run(t, nil, installer, "--help"); code != 0 || !strings.Contains(out, "FAMILY") || strings.Contains(out, "set -") {
		t.Errorf("exit %d, %s", code, out)
	}
}
