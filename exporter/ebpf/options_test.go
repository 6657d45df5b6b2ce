//go:build linux && amd64

package ebpf

import (
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestFlags(t *testing.T) {
	var o Options
	env := map[string]string{"ROCWIRE_EBPF": "1", "ROCWIRE_EBPF_FUNCTIONS": "copy"}
	if err := o.FromEnv(func(k string) string { return env[k] }); err != nil || !o.Enabled || !slices.Equal(o.Functions, []string{"copy"}) {
		t.Fatalf("%+v, %v", o, err)
	}
	fs := flag.NewFlagSet("x", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	o.AddFlags(fs)
	err := fs.Parse([]string{"--ebpf=false", "--ebpf-functions", "memory, hipInit", "--ebpf-files", "", "--ebpf-interval", "2s", "--ebpf-max-processes", "7"})
	if err != nil || o.Enabled || !slices.Equal(o.Functions, []string{"memory", "hipInit"}) || o.Files == nil || len(o.Files) > 0 ||
		o.Interval != 2*time.Second || o.MaxProcesses != 7 {
		t.Errorf("%+v, %v", o, err)
	}
	fs.VisitAll(func(f *flag.Flag) {
		if !strings.Contains(Usage(), "--"+f.Name+" ") {
			t.Errorf("--%s is not explained", f.Name)
		}
	})
	for g := range groups {
		if !strings.Contains(Usage(), g) {
			t.Errorf("the group %s is not explained", g)
		}
	}
	env["ROCWIRE_EBPF"] = "maybe"
	if err := o.FromEnv(func(k string) string { return env[k] }); !errors.Is(err, ErrOptions) {
		t.Error(err)
	}
}

func TestWrongOptions(t *testing.T) {
	for _, o := range []Options{
		{Functions: []string{"memroy"}}, {Libraries: []string{"["}}, {Libraries: []string{"a/b"}}, {Files: []string{"/["}},
		{Interval: time.Millisecond}, {MaxThreads: maxTable + 1},
	} {
		if _, err := Open(o); !errors.Is(err, ErrOptions) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// A process without rights is told which it lacks.
func TestNoRights(t *testing.T) {
	if os.Getenv("EBPF_TEST_NO_RIGHTS") != "" {
		_, err := Open(Options{})
		var s *SupportError
		if !errors.Is(err, ErrPermission) || !errors.As(err, &s) || !strings.Contains(err.Error(), "lacks CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH") {
			t.Errorf("%v", err)
		}
		return
	}
	if os.Getuid() != 0 {
		t.Skip("needs root, to be somebody else")
	}
	asNobody(t, "TestNoRights", "EBPF_TEST_NO_RIGHTS=1")
}

// asNobody runs a test of this program as a user without rights, but for some.
func asNobody(t *testing.T, test, env string, rights ...uintptr) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root, to be somebody else")
	}
	dir := t.TempDir() // which others may not read; but this one
	bin := filepath.Join(dir, "test")
	b, err := os.ReadFile("/proc/self/exe")
	if err == nil {
		err = errors.Join(os.WriteFile(bin, b, 0o755), readable(dir))
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, "-test.run", "^"+test+"$", "-test.v")
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), env)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}, AmbientCaps: rights}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+test) {
		t.Errorf("%v\n%s", err, out)
	}
}

// readable makes a temporary folder readable for everybody.
func readable(dir string) error {
	return errors.Join(os.Chmod(dir, 0o755), os.Chmod(filepath.Dir(dir), 0o755))
}

func TestRights(t *testing.T) {
	for set, want := range map[string]string{
		"000001ffffffffff": "",
		"0000000000280004": "", // CAP_SYS_ADMIN, CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH, as before Linux 5.8
		"000000c000080004": "",
		"0000008000080004": "CAP_PERFMON",
		"000000c000000000": "CAP_SYS_PTRACE CAP_DAC_READ_SEARCH",
		"rubbish":          "CAP_BPF CAP_PERFMON CAP_SYS_PTRACE CAP_DAC_READ_SEARCH",
	} {
		if got := strings.Join(missingRights("Name:\tx\nCapPrm:\t0\nCapEff:\t"+set+"\nCapBnd:\t0\n"), " "); got != want {
			t.Errorf("%s: %q is missing, want %q", set, got, want)
		}
	}
}

// A /proc that numbers processes otherwise than the kernel is refused.
func TestForeignProc(t *testing.T) {
	dir := t.TempDir()
	var s *SupportError
	if err := checkProc(dir); !errors.Is(err, ErrUnsupported) || !errors.As(err, &s) || !strings.Contains(err.Error(), "hostPID") {
		t.Error(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "2"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, ok := range map[string]bool{"sh\n": false, "kthreadd\n": true} {
		if err := os.WriteFile(filepath.Join(dir, "2", "comm"), []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := checkProc(dir); (err == nil) != ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	err := explain("the table", os.ErrPermission)
	if !errors.Is(err, ErrPermission) || !errors.Is(err, os.ErrPermission) || !strings.Contains(err.Error(), "perf_event_paranoid") {
		t.Error(err)
	}
	if err := explain("the table", syscall.ENOSYS); !errors.Is(err, ErrUnsupported) {
		t.Error(err)
	}
}
