package wire

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestPeerLocal(t *testing.T) {
	for _, c := range []struct {
		addr net.Addr
		want bool
	}{
		{&net.TCPAddr{IP: net.IPv4(127, 0, 0, 9)}, true}, {&net.TCPAddr{IP: net.IPv6loopback}, true}, {&net.UnixAddr{}, true},
		{&net.TCPAddr{IP: net.ParseIP("::ffff:127.0.0.1")}, true}, {&net.TCPAddr{IP: net.IPv4(10, 0, 0, 1)}, false}, {&net.TCPAddr{}, false}, {nil, false},
	} {
		if got := (Peer{Addr: c.addr}).Local(); got != c.want {
			t.Errorf("%v: %v", c.addr, got)
		}
	}
}

func TestPeerString(t *testing.T) {
	for want, p := range map[string]Peer{
		"unknown": {}, "local client": {Addr: &net.UnixAddr{Name: "@"}}, "10.0.0.1:7": {Addr: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 7}},
		"local process 8 of uid 9": {Addr: &net.UnixAddr{}, Credentials: &Credentials{PID: 8, UID: 9}},
	} {
		if got := p.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestCredentials: the kernel says who has connected through a Unix socket, and nothing of who has over TCP.
func TestCredentials(t *testing.T) {
	for network, address := range map[string]string{"unix": filepath.Join(t.TempDir(), "s"), "tcp": "127.0.0.1:0"} {
		l, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		c, err := net.Dial(network, l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		s, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		p := PeerOf(s)
		if !p.Local() {
			t.Errorf("%s: %+v is not local", network, p)
		}
		if network == "tcp" {
			if p.Credentials != nil {
				t.Errorf("credentials over TCP: %+v", p.Credentials)
			}
			continue
		}
		groups, err := os.Getgroups()
		if err != nil {
			t.Fatal(err)
		}
		got := p.Credentials
		if got == nil || int(got.PID) != os.Getpid() || int(got.UID) != os.Getuid() || int(got.GID) != os.Getgid() || len(got.Groups) != len(groups) {
			t.Fatalf("%+v, groups %v", got, groups)
		}
		for _, g := range groups {
			if !slices.Contains(got.Groups, uint32(g)) {
				t.Errorf("group %d is missing in %v", g, got.Groups)
			}
		}
	}
}
