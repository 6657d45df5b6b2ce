package freeport

import (
	"errors"
	"net"
	"runtime"
	"syscall"
	"testing"
)

// TestNobody: who connects is refused, and nobody can listen there.
func TestNobody(t *testing.T) {
	addr := Nobody(t)
	for range 3 {
		if _, err := net.Dial("tcp", addr); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("a connection: %v", err)
		}
	}
	if l, err := net.Listen("tcp", addr); err == nil {
		l.Close()
		t.Error("somebody listens there")
	}
}

// TestLater: one can listen there, again and again, and no port is one that the kernel chooses.
func TestLater(t *testing.T) {
	addr := Later(t)
	for range 3 {
		l, err := net.Listen("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		if n := l.Addr().(*net.TCPAddr).Port; n >= firstChosen() && firstChosen() > 11_000 {
			t.Errorf("port %d", n)
		}
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		l.Close()
	}
}

// TestLaterOnce: nobody is given what another one has. That 600 ports of 22,000 are all different by chance has a probability of 1 in 2,700.
func TestLaterOnce(t *testing.T) {
	if runtime.GOOS != "linux" {
		return
	}
	seen := map[string]bool{}
	for range 600 {
		addr := Later(t)
		if seen[addr] {
			t.Fatalf("%s is given twice", addr)
		}
		seen[addr] = true
	}
}
