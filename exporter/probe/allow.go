package probe

import (
	"fmt"
	"net"
	"net/netip"
	"path"
	"strconv"
	"strings"

	"github.com/rocwire/rocwire/discovery"
)

// pattern says which targets may be asked.
type pattern struct {
	host  string       // with *, ? and […] as in file names; "" if net is set
	net   netip.Prefix // of addresses
	first uint16       // of the ports
	last  uint16
}

// parsePattern reads HOST[:PORTS] or NETWORK[:PORTS]: HOST is a name or address in
// which * stands for anything and ? for one character, NETWORK is 10.0.0.0/8 or
// [fd00::]/8, PORTS are one port, 18515-18520, or * for all; DefaultPort if there are
// none.
func parsePattern(s string) (p pattern, err error) {
	bad := fmt.Errorf("%q is no pattern of workers like gpu-*.example:18515 or 10.0.0.0/8", s)
	host, ports := s, discovery.DefaultPort
	if i := strings.LastIndexByte(s, ':'); i >= 0 && !strings.ContainsAny(s[i:], "]/") && (strings.Count(s, ":") == 1 || strings.Contains(s, "]")) {
		host, ports = s[:i], s[i+1:]
	}
	if p.first, p.last, err = parsePorts(ports); err != nil {
		return p, bad
	}
	host = strings.ToLower(host)
	if strings.Contains(host, "/") {
		if p.net, err = netip.ParsePrefix(strings.NewReplacer("[", "", "]", "").Replace(host)); err != nil {
			return p, bad
		}
		p.net = p.net.Masked()
		return p, nil
	}
	if a, e := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")); e == nil {
		p.net = netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen())
		return p, nil
	}
	if _, err := path.Match(host, ""); err != nil || host == "" || strings.ContainsAny(host, ":\\ ") {
		return p, bad
	}
	p.host = strings.TrimSuffix(host, ".")
	return p, nil
}

func parsePorts(s string) (first, last uint16, err error) {
	if s == "*" {
		return 1, 65535, nil
	}
	lo, hi, both := strings.Cut(s, "-")
	if !both {
		hi = lo
	}
	a, err1 := strconv.ParseUint(lo, 10, 16)
	b, err2 := strconv.ParseUint(hi, 10, 16)
	if err1 != nil || err2 != nil || a == 0 || b < a {
		return 0, 0, fmt.Errorf("%q is no port", s)
	}
	return uint16(a), uint16(b), nil
}

// match reports whether a target, in its normal form, may be asked.
func (p *pattern) match(target string) bool {
	host, port, err := net.SplitHostPort(target)
	if err != nil || strings.HasPrefix(target, "unix:") {
		return false
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || uint16(n) < p.first || uint16(n) > p.last {
		return false
	}
	addr, err := netip.ParseAddr(host)
	if p.net.IsValid() {
		return err == nil && addr.Zone() == "" && p.net.Contains(addr.Unmap())
	}
	if err == nil && p.host != "*" {
		return false // a pattern of names is about names: 1* is not 10.0.0.1
	}
	ok, _ := path.Match(p.host, host) // its form was checked
	return ok
}
