//go:build linux && amd64

package ebpf

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Capabilities, by number.
var wanted = []struct {
	name string
	bit  uint
}{
	{"CAP_BPF", unix.CAP_BPF}, {"CAP_PERFMON", unix.CAP_PERFMON}, {"CAP_SYS_PTRACE", unix.CAP_SYS_PTRACE},
	{"CAP_DAC_READ_SEARCH", unix.CAP_DAC_READ_SEARCH},
}

// checkRights says which capabilities are missing.
func checkRights() error {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return &SupportError{ErrPermission, "the rights of this process are not known", err}
	}
	missing := missingRights(string(b))
	if len(missing) == 0 {
		return nil
	}
	return &SupportError{ErrPermission, "this process is not root and lacks " + strings.Join(missing, ", "), nil}
}

// missingRights reads /proc/PID/status. CAP_SYS_ADMIN stands for the first two, as it
// did before Linux 5.8.
func missingRights(status string) (missing []string) {
	_, rest, _ := strings.Cut(status, "\nCapEff:")
	line, _, _ := strings.Cut(rest, "\n")
	set, err := strconv.ParseUint(strings.TrimSpace(line), 16, 64)
	if err != nil {
		set = 0
	}
	for i, c := range wanted {
		if set&(1<<c.bit) == 0 && !(i < 2 && set&(1<<unix.CAP_SYS_ADMIN) != 0) {
			missing = append(missing, c.name)
		}
	}
	return missing
}

// checkProc says whether /proc counts processes as the kernel does: the second process
// is the kernel's own then, and in no container.
func checkProc(dir string) error {
	name, err := os.ReadFile(filepath.Join(dir, "2/comm"))
	if err == nil && string(name) == "kthreadd\n" {
		return nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return &SupportError{ErrPermission, "processes cannot be looked at", err}
	}
	return &SupportError{ErrUnsupported,
		dir + " belongs to a container and numbers processes otherwise than the kernel; share the host's PID namespace (hostPID), or mount its /proc and name it", nil}
}

// lockdown is what the kernel's lockdown is set to, "" if to nothing.
func lockdown() string {
	b, err := os.ReadFile("/sys/kernel/security/lockdown")
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(b), "[")
	mode, _, _ := strings.Cut(rest, "]")
	if mode == "none" {
		return ""
	}
	return mode
}

// explain makes a SupportError of what the kernel said.
func explain(what string, err error) error {
	kind := ErrUnsupported
	if errors.Is(err, os.ErrPermission) {
		kind = ErrPermission
		what += " (kernel.perf_event_paranoid, a seccomp profile or a security module may forbid it to this process)"
		if mode := lockdown(); mode != "" {
			what += "; the kernel is locked down: " + mode
		}
	}
	return &SupportError{kind, what, err}
}
