// Package freeport gives tests addresses on loopback that nobody else takes meanwhile. A port that was listened on and closed again is anybody's: the tests of other
// packages, which run beside, listen on ports that the kernel chooses, too.
package freeport

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"testing"
)

// Nobody is an address at which nobody listens as long as the test runs: the port is one end of a connection.
func Nobody(t testing.TB) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	c, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	other, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() })
	return c.LocalAddr().String()
}

// Later is an address for a server that starts later, or ends and starts again: a free one that the kernel chooses for nobody, and on Linux one that no other
// test, of this process or of another, is given before this one ends.
func Later(t testing.TB) string {
	t.Helper()
	least, most := 10_000, firstChosen()
	if most-least < 1000 { // it may choose nearly all
		least, most = 1024, 1<<16
	}
	for range 1000 {
		port := least + rand.IntN(most-least)
		addr := fmt.Sprintf("127.0.0.1:%d", port)
		ln, err := net.Listen("tcp", addr)
		if err != nil {
			continue // taken
		}
		mine := reserve(t, port)
		if err := ln.Close(); err != nil {
			t.Fatal(err)
		}
		if mine {
			return addr
		}
	}
	t.Fatal("no port is free")
	return ""
}

// reserve takes a port until the test ends, as a name of the network's that goes with its process. It is false if another test has it.
func reserve(t testing.TB, port int) bool {
	if runtime.GOOS != "linux" {
		return true
	}
	ln, err := net.Listen("unix", fmt.Sprintf("@rocwire-test-port-%d", port))
	if err != nil {
		return false
	}
	t.Cleanup(func() { _ = ln.Close() })
	return true
}

// firstChosen is the lowest port that the kernel chooses itself.
func firstChosen() int {
	first := 32_768 // elsewhere than on Linux it is higher
	if b, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range"); err == nil {
		_, _ = fmt.Sscan(string(b), &first)
	}
	return first
}
