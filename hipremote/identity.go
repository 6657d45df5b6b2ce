package hipremote

import (
	"bufio"
	"os"
	"os/user"
	"regexp"
	"strconv"
	"strings"

	"github.com/rocwire/rocwire/internal/version"
	"github.com/rocwire/rocwire/wire"
)

// identity says who this process is, as far as it knows.
func identity() wire.Hello {
	h := wire.Hello{Client: "rocwire libamdhip64", Version: version.String(), Purpose: "hip", PID: int64(os.Getpid()), User: userName()}
	h.Host, _ = os.Hostname() // an identity without it is still one
	if exe, err := os.Executable(); err == nil {
		h.Executable = exe
	}
	h.Container = containerID("/proc/self/cgroup", "/proc/self/mountinfo")
	h.Pod, h.Namespace = os.Getenv("POD_NAME"), os.Getenv("POD_NAMESPACE")
	h.TraceParent = os.Getenv("TRACEPARENT")
	for _, s := range []*string{&h.Host, &h.Executable, &h.User, &h.Pod, &h.Namespace, &h.TraceParent} {
		*s = (*s)[:min(len(*s), 4096)]
	}
	return h
}

func userName() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return strconv.Itoa(os.Getuid())
}

// container ids are 64 hexadecimal digits in the paths of cgroups (version 1) or of what is mounted for the container (version 2).
var containerPath = regexp.MustCompile(`(?:^|[/:-])([0-9a-f]{64})(?:$|[/.])`)

// containerID finds the container this process runs in; "" for none.
func containerID(files ...string) string {
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			continue
		}
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			line := lines.Text()
			if strings.HasSuffix(name, "mountinfo") && !strings.Contains(line, "/containers/") && !strings.Contains(line, "/sandboxes/") {
				continue
			}
			if m := containerPath.FindStringSubmatch(line); m != nil {
				_ = f.Close()
				return m[1]
			}
		}
		_ = f.Close()
	}
	return ""
}
