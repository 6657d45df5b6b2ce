//go:build linux && amd64

package ebpf

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"path"
	"strconv"
	"strings"
)

// mapping is executable memory that comes from a file whose name is looked for.
type mapping struct {
	file  mapKey
	begin uint64 // addresses
	end   uint64
	path  string // as the process sees it
}

// mapKey is a file as /proc/PID/maps tells it. The device may be another than stat's.
type mapKey struct {
	device string // MAJOR:MINOR
	inode  uint64
}

// maxLines is how many mappings of a process are looked through; the kernel allows
// 65530 unless it is told otherwise.
const maxLines = 1 << 17

// mappings reads /proc/PID/maps for files whose base name matches one of the patterns.
// Lines that are not as they should be are passed over.
func mappings(r io.Reader, patterns []string) ([]mapping, error) {
	var list []mapping
	in := bufio.NewReaderSize(r, 8<<10)
	for range maxLines {
		line, err := in.ReadSlice('\n')
		for errors.Is(err, bufio.ErrBufferFull) {
			line = nil // longer than any path
			_, err = in.ReadSlice('\n')
		}
		if m, ok := parseMapping(line, patterns); ok {
			list = append(list, m)
		}
		if err == io.EOF {
			return list, nil
		}
		if err != nil {
			return list, err
		}
	}
	return list, nil
}

// parseMapping reads a line such as
//
//	7f0000001000-7f0000002000 r-xp 00001000 fe:00 1234   /usr/lib/libamdhip64.so.6
//
// of which " (deleted)" may be the end. A newline in a path is written as \012.
func parseMapping(line []byte, patterns []string) (m mapping, ok bool) {
	slash := bytes.IndexByte(line, '/')
	if slash < 0 {
		return m, false
	}
	name := strings.TrimSuffix(strings.TrimSuffix(string(line[slash:]), "\n"), " (deleted)")
	if !matches(patterns, path.Base(name)) {
		return m, false
	}
	fields := bytes.Fields(line[:slash])
	if len(fields) != 5 || len(fields[1]) != 4 || fields[1][2] != 'x' || len(fields[3]) > 16 {
		return m, false
	}
	begin, end, _ := bytes.Cut(fields[0], []byte("-"))
	var errs [3]error
	m = mapping{path: name, file: mapKey{device: string(fields[3])}}
	m.begin, errs[0] = strconv.ParseUint(string(begin), 16, 64)
	m.end, errs[1] = strconv.ParseUint(string(end), 16, 64)
	m.file.inode, errs[2] = strconv.ParseUint(string(fields[4]), 10, 64)
	return m, errs == [3]error{}
}

func matches(patterns []string, name string) bool {
	for _, p := range patterns {
		if ok, err := path.Match(p, name); ok && err == nil {
			return true
		}
	}
	return false
}
