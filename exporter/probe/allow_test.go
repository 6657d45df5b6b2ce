package probe

import (
	"net"
	"net/netip"
	"strconv"
	"testing"

	"github.com/rocwire/rocwire/discovery"
)

func TestAllow(t *testing.T) {
	for _, c := range []struct {
		pattern  string
		yes, not []string
	}{
		{"gpu-*.example", []string{"gpu-1.example", "GPU-2.example.", "gpu-a.b.example:18515"}, []string{"gpu-1.example:22", "gpu-1.example.evil", "xgpu-1.example"}},
		{"gpu-?:18515-18520", []string{"gpu-1:18515", "gpu-1:18520"}, []string{"gpu-1:18521", "gpu-10:18515", "gpu-1:80"}},
		{"worker:*", []string{"worker:1", "worker:65535"}, []string{"worker2:1"}},
		{"10.1.0.0/16", []string{"10.1.2.3", "::ffff:10.1.2.3"}, []string{"10.2.0.1", "10.1.2.3:22", "ten.example", "10.1.example"}},
		{"10.1.2.3/16:1-9", []string{"10.1.0.1:5"}, []string{"10.1.0.1", "10.1.0.1:10"}},
		{"[fd00::]/8:7", []string{"[fd12::1]:7"}, []string{"[fe80::1]:7", "[fd12::1]:8", "[fd12::1%eth0]:7"}},
		{"fd00::/8", []string{"[fd12::1]", "fd12::1"}, []string{"10.1.2.3"}},
		{"127.0.0.1:9", []string{"127.0.0.1:9", "::ffff:127.0.0.1:9"}, []string{"127.0.0.2:9", "localhost:9"}},
		{"[::1]:9", []string{"[::1]:9", "[0:0::1]:9"}, []string{"[::2]:9"}},
		{"1*", []string{"1a"}, []string{"10.0.0.1", "127.0.0.1"}},
		{"*", []string{"anything", "10.0.0.1", "[fd00::1]"}, []string{"anything:22", "unix:/run/x"}},
	} {
		p, err := parsePattern(c.pattern)
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		for _, s := range c.yes {
			if n, err := discovery.Normalize(s); err == nil && !p.match(n) {
				t.Errorf("%s does not match %s (%s)", c.pattern, s, n)
			} else if err != nil && s != "::ffff:127.0.0.1:9" {
				t.Errorf("%s: %v", s, err)
			}
		}
		for _, s := range c.not {
			if n, err := discovery.Normalize(s); err == nil && p.match(n) {
				t.Errorf("%s matches %s (%s)", c.pattern, s, n)
			}
		}
	}
	for _, bad := range []string{"", ":18515", "gpu:0", "gpu:http", "gpu:5-4", "gpu:1-70000", "10.0.0.0/40", "a b", "[", "gpu[:1", "http://x"} {
		if p, err := parsePattern(bad); err == nil {
			t.Errorf("%q is taken: %+v", bad, p)
		}
	}
}

// Whatever a pattern is, it matches only addresses of its ports and its network.
func FuzzPattern(f *testing.F) {
	f.Add("gpu-*:1-2", "gpu-1:1")
	f.Add("[fd00::]/8", "[fd00::1]:18515")
	f.Add("*:*", "unix:/x")
	f.Fuzz(func(t *testing.T, pattern, target string) {
		p, err := parsePattern(pattern)
		if err != nil {
			return
		}
		n, err := discovery.Normalize(target)
		if err != nil || !p.match(n) {
			return
		}
		host, port, err := net.SplitHostPort(n)
		if err != nil {
			t.Fatalf("%q matches %q", pattern, n)
		}
		if number, err := strconv.Atoi(port); err != nil || number < int(p.first) || number > int(p.last) {
			t.Fatalf("%q matches %q, ports %d to %d", pattern, n, p.first, p.last)
		}
		if a, err := netip.ParseAddr(host); p.net.IsValid() && (err != nil || !p.net.Contains(a.Unmap())) {
			t.Fatalf("%q matches %q, which is not in %v", pattern, n, p.net)
		}
	})
}
