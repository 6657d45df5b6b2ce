//go:build linux && amd64

package ebpf

import (
	"bytes"
	"io"
	"os"
	"strconv"
)

// proc is the host's /proc.
type proc string

func (p proc) path(pid uint32, name string) string {
	return string(p) + "/" + strconv.FormatUint(uint64(pid), 10) + "/" + name
}

// pids are the processes there are.
func (p proc) pids() ([]uint32, error) {
	dir, err := os.Open(string(p))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	list := make([]uint32, 0, len(names))
	for _, n := range names {
		if pid, err := strconv.ParseUint(n, 10, 32); err == nil {
			list = append(list, uint32(pid))
		}
	}
	return list, nil
}

// status is what is looked at of /proc/PID/stat.
type status struct {
	start uint64 // when it began, in ticks since the machine did
	size  uint64 // of its address space, in bytes; 0 for a thread of the kernel
	ended bool   // and nobody has asked how yet
}

// stat reads a process's status. The kernel tells it without waiting for anything.
func (p proc) stat(pid uint32, buf []byte) (status, bool) {
	f, err := os.Open(p.path(pid, "stat"))
	if err != nil {
		return status{}, false
	}
	defer f.Close()
	n, err := f.Read(buf)
	if err != nil && err != io.EOF {
		return status{}, false
	}
	return parseStat(buf[:n])
}

// parseStat reads the fields behind the name, which may hold anything: state is the
// first of them, the number of threads the 18th, the start the 20th, the size the 21st.
func parseStat(b []byte) (status, bool) {
	end := bytes.LastIndexByte(b, ')')
	if end < 0 {
		return status{}, false
	}
	fields := bytes.Fields(b[end+1:])
	if len(fields) < 21 {
		return status{}, false
	}
	threads, err1 := strconv.ParseUint(string(fields[17]), 10, 64)
	start, err2 := strconv.ParseUint(string(fields[19]), 10, 64)
	size, err3 := strconv.ParseUint(string(fields[20]), 10, 64)
	if err1 != nil || err2 != nil || err3 != nil {
		return status{}, false
	}
	// A process whose first thread has ended may have others.
	dead := fields[0][0] == 'X' || fields[0][0] == 'Z' && threads <= 1
	return status{start: start, size: size, ended: dead}, true
}
