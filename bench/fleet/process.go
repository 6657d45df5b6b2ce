package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is one whose costs are measured while it runs.
type process struct{ pid int }

// processor is the processor time that its threads have used. Threads that have ended are not in it: Go's do not.
func (p *process) processor() (used time.Duration, err error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", p.pid))
	if err != nil || len(threads) == 0 {
		return 0, fmt.Errorf("process %d is gone", p.pid)
	}
	for _, name := range threads {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		var ns time.Duration
		if _, err := fmt.Sscan(string(b), &ns); err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
		used += ns
	}
	return used, nil
}

// resident is its memory in bytes.
func (p *process) resident() int64 {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid))
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "VmRSS:" {
			n, _ := strconv.ParseInt(f[1], 10, 64)
			return n << 10
		}
	}
	return 0
}

// descriptors is how many it has open.
func (p *process) descriptors() int {
	list, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.pid))
	return len(list)
}

// own is the processor time of this process.
func own() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
