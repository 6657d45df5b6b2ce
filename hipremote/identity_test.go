package hipremote

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestContainerID(t *testing.T) {
	id := strings.Repeat("0123456789abcdef", 4)
	for name, c := range map[string]struct{ cgroup, mountinfo, want string }{
		"docker, version 1":     {"12:memory:/docker/" + id + "\n", "", id},
		"kubernetes, version 1": {"5:cpu:/kubepods/burstable/podab-cd/" + id + "\n", "", id},
		"containerd, systemd":   {"0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-" + id + ".scope\n", "", id},
		"docker, version 2":     {"0::/\n", "613 596 254:1 /var/lib/docker/containers/" + id + "/hostname /etc/hostname rw - ext4 /dev/vda1 rw\n", id},
		"none":                  {"0::/user.slice/user-1000.slice\n", "22 1 254:1 / / rw - ext4 /dev/vda1 rw\n", ""},
		"an image's digest":     {"0::/\n", "30 1 0:5 / /sys/" + id + " rw - sysfs sysfs rw\n", ""},
		"63 digits":             {"1:x:/docker/" + id[1:] + "\n", "", ""},
	} {
		dir := t.TempDir()
		cgroup, mounts := filepath.Join(dir, "cgroup"), filepath.Join(dir, "mountinfo")
		for f, text := range map[string]string{cgroup: c.cgroup, mounts: c.mountinfo} {
			if err := os.WriteFile(f, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := containerID(cgroup, mounts); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := containerID("/no/such/file"); got != "" {
		t.Errorf("without files: %q", got)
	}
}

func TestIdentity(t *testing.T) {
	t.Setenv("POD_NAME", "pod-1")
	t.Setenv("POD_NAMESPACE", "ns")
	h := identity()
	if h.PID != int64(os.Getpid()) || h.Purpose != "hip" || h.User == "" || h.Executable == "" || h.Host == "" || h.Pod != "pod-1" || h.Namespace != "ns" {
		t.Errorf("%+v", h)
	}
	if _, err := h.Append(nil); err != nil {
		t.Error(err)
	}
}
