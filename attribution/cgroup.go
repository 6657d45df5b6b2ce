package attribution

import (
	"strings"

	"github.com/prometheus/procfs"
)

// group is what the control groups of a process say.
type group struct {
	container string // 64 hexadecimal digits, "" outside of a container
	podUID    string // "" outside of a pod
	root      bool   // it stands in the root of every hierarchy
	job       string // the number of its Slurm job, "" outside of one
}

// groupOf looks through all hierarchies: under v1 a process need not be in its
// container in each of them.
func groupOf(lines []procfs.Cgroup) group {
	best := group{root: true, job: jobOf(lines)}
	for i := range lines {
		path := lines[i].Path
		if path != "/" {
			best.root = false
		}
		container, uid := parseCgroupPath(path)
		switch {
		case container != "" && uid != "":
			return group{container: container, podUID: uid, job: best.job}
		case container != "" && best.container == "" && best.podUID == "":
			best.container = container
		case uid != "" && best.podUID == "":
			best.container, best.podUID = "", uid
		}
	}
	return best
}

// parseCgroupPath reads the container and the pod out of a control group's path.
// Within a pod it is the pod's own container, otherwise the outermost one: that is
// what the tools of this machine call it, whatever runs inside of it.
func parseCgroupPath(path string) (container, podUID string) {
	for part := range strings.SplitSeq(path, "/") {
		// containerd that was told a systemd name under the cgroupfs driver makes one
		// folder of all three: SLICE:RUNTIME:ID.
		first, last := part, part
		if i := strings.IndexByte(part, ':'); i >= 0 {
			first, last = part[:i], part[strings.LastIndexByte(part, ':')+1:]
		}
		if uid := podOf(first); uid != "" {
			container, podUID = "", uid
		}
		if container == "" {
			container = containerOf(last)
		}
	}
	return container, podUID
}

// containerOf reads "ID", "RUNTIME-ID" and "RUNTIME-ID.scope".
func containerOf(name string) string {
	name = strings.TrimSuffix(name, ".scope")
	prefix, id := "", name
	if i := strings.LastIndexByte(name, '-'); i >= 0 {
		prefix, id = name[:i], name[i+1:]
	}
	if len(id) != 64 || !isHex(id) || strings.HasSuffix(prefix, "conmon") { // the monitor runs beside its container
		return ""
	}
	return id
}

// podOf reads "podUID" and "…-podUID.slice". systemd writes the uid's dashes as
// underscores; that of a pod from a file has none.
func podOf(name string) string {
	name = strings.TrimSuffix(name, ".slice")
	i := strings.LastIndex(name, "pod")
	if i < 0 || i > 0 && name[i-1] != '-' {
		return ""
	}
	uid := name[i+len("pod"):]
	if !isPodUID(uid) {
		return ""
	}
	return strings.ReplaceAll(uid, "_", "-")
}

func isPodUID(s string) bool {
	if len(s) == 32 {
		return isHex(s)
	}
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		switch i {
		case 8, 13, 18, 23:
			if s[i] != '-' && s[i] != '_' {
				return false
			}
		default:
			if !isHex(s[i : i+1]) {
				return false
			}
		}
	}
	return true
}

func isHex(s string) bool {
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
