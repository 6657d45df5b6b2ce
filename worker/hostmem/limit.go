package hostmem

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

const (
	// Least is the smallest limit of a session, in bytes: what ordinary programs need.
	Least = 16 << 20

	base       = 512 << 20 // of a session beside what its share of device memory asks for
	mostQueue  = 64 << 20
	mostStaged = 192 << 20
)

// Queue is the part of a limit for what streams have to do; Staging the part for copies' buffers.
func Queue(limit uint64) uint64 { return min(limit/4, mostQueue) }

// Staging: see Queue.
func Staging(limit uint64) uint64 { return min(limit/4, mostStaged) }

// Default is the limit of a session that may have so much device memory (0: all): room for a copy of that in pinned memory, and some more, but
// not more than half of what the machine, or this process's control group, has.
func Default(device uint64) uint64 {
	most := max(machine()/2, Least)
	if device == 0 || device > most/2 {
		return most
	}
	return min(2*device+base, most)
}

// machine is the memory that this process can have.
func machine() uint64 {
	n := uint64(1 << 30)
	var si unix.Sysinfo_t
	if unix.Sysinfo(&si) == nil {
		n = uint64(si.Totalram) * uint64(si.Unit)
	}
	for _, name := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		b, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		if v, err := strconv.ParseUint(string(bytes.TrimSpace(b)), 10, 64); err == nil && v > 0 { // "max" is none
			n = min(n, v)
		}
	}
	return n
}
