// Package workerlist reads where workers are, as people write it: TF_WORKER_HOST, and the --host of programs.
//
// A worker is HOST, HOST:PORT, [IPv6]:PORT, any of them with rocwire:// in front, or unix:PATH for one on this machine that listens on a Unix socket. A
// path has no comma in it.
package workerlist

import (
	"fmt"
	"net"
	"strconv"
	"strings"
)

// Split reads several workers with commas in between, in their order. port is that of hosts without one.
func Split(list, port string) (addresses []Address, err error) {
	for s := range strings.SplitSeq(list, ",") {
		a, err := Parse(strings.TrimSpace(s), port)
		if err != nil {
			return nil, err
		}
		addresses = append(addresses, a)
	}
	return addresses, nil
}

// DefaultPort is a worker's, where nothing else is said.
const DefaultPort = "18515"

// unixPrefix is what the path of a Unix socket has in front.
const unixPrefix = "unix:"

// scheme may stand in front of a worker, so that it can be told from other addresses.
const scheme = "rocwire://"

// Address is where one worker is. Of a Unix socket Host is unix:PATH, and there is no Port.
type Address struct{ Host, Port string }

// String is host:port, in brackets where it must be, or unix:PATH: what wire.Options.Address takes.
func (a Address) String() string {
	if strings.HasPrefix(a.Host, unixPrefix) {
		return a.Host
	}
	return net.JoinHostPort(a.Host, a.Port)
}

// Parse reads one.
func Parse(s, port string) (Address, error) {
	if path, ok := strings.CutPrefix(s, unixPrefix); ok {
		if path == "" {
			return Address{}, fmt.Errorf("%q is not a worker: a Unix socket has a path", s)
		}
		return Address{Host: s}, nil
	}
	written := s
	if rest, ok := strings.CutPrefix(s, scheme); ok {
		s = strings.TrimSuffix(rest, "/")
	}
	host := s
	switch {
	case strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]"):
		host = s[1 : len(s)-1]
	case strings.HasPrefix(s, "[") || strings.Count(s, ":") == 1: // two or more without brackets: an IPv6 address
		var err error
		if host, port, err = net.SplitHostPort(s); err != nil {
			return Address{}, fmt.Errorf("%q is not a worker: HOST, HOST:PORT, [IPv6]:PORT or unix:PATH", written)
		}
	}
	if host == "" || strings.ContainsAny(host, " \t[]/") {
		return Address{}, fmt.Errorf("%q is not a worker: HOST, HOST:PORT, [IPv6]:PORT or unix:PATH", written)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return Address{}, fmt.Errorf("%q is not a port (1 to 65535)", port)
	}
	return Address{host, port}, nil
}

// Once is a list without those whose address an earlier one has.
func Once[W any](list []W, address func(*W) Address) (once []W) {
	seen := make(map[Address]bool, len(list))
	for i := range list {
		if at := address(&list[i]); !seen[at] {
			seen[at] = true
			once = append(once, list[i])
		}
	}
	return once
}
