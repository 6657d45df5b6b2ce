package pagewatch

import (
	"bufio"
	"bytes"
	"os"
	"strconv"
)

// mapping is a line of /proc/self/maps: "7f00-7f10 rw-p 00000000 08:01 1234   /path".
type mapping struct {
	base, end uint64
	private   bool
	anonymous bool
	path      string
}

func parseMapping(line []byte) (m mapping, ok bool) {
	f := bytes.Fields(line)
	if len(f) < 5 || len(f[1]) != 4 {
		return m, false
	}
	from, to, _ := bytes.Cut(f[0], []byte("-"))
	var err1, err2 error
	m.base, err1 = strconv.ParseUint(string(from), 16, 64)
	m.end, err2 = strconv.ParseUint(string(to), 16, 64)
	m.private, m.anonymous = f[1][3] == 'p', string(f[4]) == "0"
	if len(f) > 5 {
		m.path = string(f[5])
	}
	return m, err1 == nil && err2 == nil
}

// mappings calls f for every mapping of this process, in order, until it says false. False: they cannot be read.
func mappings(f func(m mapping) bool) bool {
	file, err := os.Open("/proc/self/maps")
	if err != nil {
		return false
	}
	defer file.Close()
	s := bufio.NewScanner(file)
	for s.Scan() {
		m, ok := parseMapping(s.Bytes())
		if !ok {
			return false
		}
		if !f(m) {
			return true
		}
	}
	return s.Err() == nil
}

// private says whether all of [base, end) is memory of this process alone: what is written to it is written through it.
func private(base, end uint64) bool {
	at := base
	ok := mappings(func(m mapping) bool {
		if m.end <= at {
			return true
		}
		if m.base > at || !m.private || !m.anonymous {
			return false
		}
		at = m.end
		return at < end
	})
	return ok && at >= end
}
