package sysfs

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/procfs"

	"github.com/rocwire/rocwire/smi"
)

// scanner finds the programs that have a card open, by their descriptors. Looking
// at every descriptor of a machine is dear, so of a process that is known only the
// descriptors that led to a card are read again, and the others are looked at anew
// every few seconds.
type scanner struct {
	tree tree
	fs   procfs.FS
	have bool // there is a proc

	mu    sync.Mutex
	known map[int]*opener
}

// opener is what is known of a process.
type opener struct {
	start  uint64 // clock ticks after boot; another number is another process
	looked time.Time
	fds    []string // that lead to a card
	name   string
}

// lookEvery is how long a process's other descriptors are taken as unchanged.
const lookEvery = 5 * time.Second

// maxDescriptors is how many of a process are looked at.
const maxDescriptors = 1 << 16

func (sc *scanner) init(t tree) {
	sc.tree = t
	fs, err := procfs.NewFS(t.path("proc"))
	sc.fs, sc.have = fs, err == nil
	sc.known = map[int]*opener{}
}

// Numbers by which the host's process table is known: the inode of the first PID
// namespace (PROC_PID_INIT_INO) and the flag of a kernel thread (PF_KTHREAD).
const (
	hostNamespace = "pid:[4026531836]"
	kernelThread  = 0x200000
)

// host reports whether proc numbers processes as the host does. The compute driver
// always does; in a container with its own numbers, joining the two would give one
// process's use to another.
func (sc *scanner) host() bool {
	if !sc.have {
		return false
	}
	// A process with number 1 of another user does not show its namespace; the second
	// process of the host is a kernel thread, which no container has.
	if ns, err := os.Readlink(sc.tree.path("proc/1/ns/pid")); err == nil {
		return ns == hostNamespace
	}
	p, err := sc.fs.Proc(2)
	if err != nil {
		return false
	}
	st, err := p.Stat()
	return err == nil && st.PPID == 0 && st.Flags&kernelThread != 0
}

// held is one process's use of one card.
type held struct {
	pid uint32
	client
}

// clients lists who has cards open, by PCI address. A client is counted once, for
// the first process that has it.
func (sc *scanner) clients() map[smi.BDF][]held {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	procs, err := sc.fs.AllProcs()
	if err != nil {
		return nil
	}
	type key struct {
		pci smi.BDF
		id  uint64
	}
	seen := map[key]bool{}
	alive := make(map[int]*opener, len(procs))
	out := map[smi.BDF][]held{}
	now := time.Now()
	for i, p := range procs {
		if i >= maxProcesses {
			break
		}
		o := sc.opener(p, now)
		if o == nil {
			continue
		}
		alive[p.PID] = o
		sum := map[smi.BDF]*client{}
		var order []smi.BDF
		for _, fd := range o.fds {
			text, err := sc.tree.text(fmt.Sprintf("proc/%d/fdinfo/%s", p.PID, fd))
			if err != nil {
				continue
			}
			c, ok := parseClient(text)
			k := key{c.pci, c.id}
			if !ok || seen[k] {
				continue
			}
			seen[k] = true
			if s := sum[c.pci]; s != nil {
				s.add(c)
				continue
			}
			sum[c.pci] = &c
			order = append(order, c.pci)
		}
		for _, pci := range order {
			if c := sum[pci]; !c.idle() {
				out[pci] = append(out[pci], held{pid: uint32(p.PID), client: *c})
			}
		}
	}
	sc.known = alive
	return out
}

// opener is what is known of a process, looked up where that is old; nil if it has
// ended or may not be looked at.
func (sc *scanner) opener(p procfs.Proc, now time.Time) *opener {
	st, err := p.Stat()
	if err != nil || p.PID <= 0 {
		return nil
	}
	o := sc.known[p.PID]
	if o != nil && o.start == st.Starttime && now.Sub(o.looked) < lookEvery {
		return o
	}
	o = &opener{start: st.Starttime, looked: now, name: st.Comm}
	dir := sc.tree.path(fmt.Sprintf("proc/%d/fd", p.PID))
	d, err := os.Open(dir)
	if err != nil {
		return o
	}
	fds, _ := d.Readdirnames(maxDescriptors)
	d.Close()
	for _, fd := range fds {
		if _, err := strconv.ParseUint(fd, 10, 31); err != nil {
			continue
		}
		to, err := os.Readlink(filepath.Join(dir, fd))
		if err == nil && strings.HasPrefix(to, "/dev/dri/") {
			o.fds = append(o.fds, fd)
		}
	}
	return o
}

// name is the program of a process that was there at the last look.
func (sc *scanner) name(pid uint32) string {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	o := sc.known[int(pid)]
	if o == nil || strings.ContainsFunc(o.name, func(r rune) bool { return r < ' ' || r == 0x7f || r == 0xfffd }) {
		return ""
	}
	return o.name
}
