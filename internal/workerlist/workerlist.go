// Package workerlist reads where workers are, as people write it: TF_WORKER_HOST, and the --host of programs.
package workerlist

import (
	"fmt"
	"net"
	"strconv"
	"strings"
)

// Split reads HOST, HOST:PORT and [ADDRESS]:PORT, several of them with commas in between, in their order. port is that of hosts without one.
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

// Address is where one worker is.
type Address struct{ Host, Port string }

// String is host:port, in brackets where it must be.
func (a Address) String() string { return net.JoinHostPort(a.Host, a.Port) }

// Parse reads one.
func Parse(s, port string) (Address, error) {
	host := s
	switch {
	case strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]"):
		host = s[1 : len(s)-1]
	case strings.HasPrefix(s, "[") || strings.Count(s, ":") == 1: // two or more without brackets: an IPv6 address
		var err error
		if host, port, err = net.SplitHostPort(s); err != nil {
			return Address{}, fmt.Errorf("%q is not a worker: HOST, HOST:PORT or [IPv6]:PORT", s)
		}
	}
	if host == "" || strings.ContainsAny(host, " \t[]/") {
		return Address{}, fmt.Errorf("%q is not a worker: HOST, HOST:PORT or [IPv6]:PORT", s)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return Address{}, fmt.Errorf("%q is not a port (1 to 65535)", port)
	}
	return Address{host, port}, nil
}
