package attribution

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/prometheus/procfs"
)

// identity is what /proc tells of a process. It is not changed once it is made.
type identity struct {
	start   uint64 // since the machine started, in clock ticks; tells a number's users apart
	name    string
	command string
	uid     string
	user    string // the number until the name is known
	group   group
	job     job
	inner   uint32 // its number in the innermost namespace, 0 if that is the one of /proc
	local   uint32 // its number in this process's own namespace, 0 if it has none
}

// tree is a mounted /proc.
type tree struct {
	fs  procfs.FS
	dir string

	// foreign: its numbers are not the host's.
	foreign bool
	// hidden: its control groups are seen from inside of one.
	hidden bool
	// outer: its numbers are not those of this process, but those of a namespace around it.
	outer bool
	// ns is the namespace of this process's numbers, "" if that is not known.
	ns string
}

// The kernel's first namespaces have fixed numbers (include/linux/proc_ns.h).
const (
	initialPIDs   = "pid:[4026531836]"
	initialGroups = "cgroup:[4026531835]"
)

// openTree looks at a /proc. What it does not tell of itself is taken to be as on a
// host.
func openTree(dir string) (*tree, error) {
	fs, err := procfs.NewFS(dir)
	if err != nil {
		return nil, err
	}
	t := &tree{fs: fs, dir: dir}
	link := func(name string) string {
		s, err := os.Readlink(filepath.Join(dir, "self", "ns", name))
		if err != nil {
			return ""
		}
		return s
	}
	t.ns = link("pid")
	groups := link("cgroup")
	t.hidden = groups != "" && groups != initialGroups
	numbers := 1
	if self, err := fs.Self(); err == nil {
		if st, err := self.NewStatus(); err == nil {
			numbers = len(st.NSpids)
		}
	}
	t.outer = numbers > 1
	t.foreign = t.ns != "" && t.ns != initialPIDs && !t.outer
	return t, nil
}

// read reads a process, without its command line.
func (t *tree) read(pid uint32) (*identity, error) {
	p, err := t.fs.Proc(int(pid))
	if err != nil {
		return nil, err
	}
	id := &identity{local: pid}
	if id.name, id.start, err = t.stat(pid); err != nil {
		return nil, err
	}
	status, err := p.NewStatus()
	if err != nil {
		return nil, err
	}
	id.uid = strconv.FormatUint(status.UIDs[1], 10) // whose rights it has
	id.user = id.uid
	inner := uint32(0)
	if n := len(status.NSpids); n > 1 {
		inner = uint32(status.NSpids[n-1])
	}
	id.inner = inner
	if t.outer {
		id.local = 0
		if ns, err := os.Readlink(t.path(pid) + "/ns/pid"); err == nil && ns == t.ns {
			id.local = inner
		}
	}
	groups, err := p.Cgroups()
	if err != nil {
		return nil, err
	}
	id.group = groupOf(groups)
	return id, nil
}

// stat reads a process's name and start time. The name may have anything in it, a
// parenthesis too; the start time is the 22nd field, the 20th behind the name.
func (t *tree) stat(pid uint32) (name string, start uint64, err error) {
	b, err := head(t.path(pid)+"/stat", 4<<10)
	if err != nil {
		return "", 0, err
	}
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 0 || end < open {
		return "", 0, errStat
	}
	fields := bytes.Fields(b[end+1:])
	if len(fields) < 20 {
		return "", 0, errStat
	}
	if start, err = strconv.ParseUint(string(fields[19]), 10, 64); err != nil {
		return "", 0, errStat
	}
	return clean(string(b[open+1:end]), maxName), start, nil
}

var errStat = errors.New("attribution: no stat of a process")

// head is the first n bytes of a file.
func head(name string, n int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, n))
}

// maxCommandFile is how much of a command line is read, in bytes.
const maxCommandFile = 4 << 10

// command reads a process's command line. It waits for ever if the process's memory
// is locked, as that of one can be that waits for a card that hangs.
func (t *tree) command(pid uint32) string {
	b, err := head(t.path(pid)+"/cmdline", maxCommandFile)
	if err != nil {
		return ""
	}
	return commandLine(b)
}

func (t *tree) path(pid uint32) string { return t.dir + "/" + strconv.FormatUint(uint64(pid), 10) }

// usesGPU says whether a process has the driver open.
func (t *tree) usesGPU(pid uint32) bool {
	dir, err := os.Open(t.path(pid) + "/fd")
	if err != nil {
		return false
	}
	defer dir.Close()
	names, err := dir.Readdirnames(maxDescriptors)
	if err != nil {
		return false
	}
	for _, n := range names {
		if l, err := os.Readlink(t.path(pid) + "/fd/" + n); err == nil && (l == "/dev/kfd" || filepath.Dir(l) == "/dev/dri") {
			return true
		}
	}
	return false
}

// maxDescriptors is how many of a process's descriptors are looked through.
const maxDescriptors = 4096
