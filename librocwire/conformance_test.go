package main

import (
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiptest"
	"github.com/rocwire/rocwire/hipremote"
)

// TestLibraryConformance: what HIP promises of memory holds through a worker whose
// runtime is a real library that places it. The library is this one.
func TestLibraryConformance(t *testing.T) {
	env := proxy(t, "--sim-cards", "2", "--park", "0")
	var host, port string
	for _, v := range env {
		if s, ok := strings.CutPrefix(v, "TF_WORKER_HOST="); ok {
			host = s
		}
		if s, ok := strings.CutPrefix(v, "TF_WORKER_PORT="); ok {
			port = s
		}
	}
	hiptest.Run(t, func(t *testing.T) hip.Runtime {
		c := hipremote.New(hipremote.Config{Host: host, Port: port, ConnectTimeout: time.Minute, IOTimeout: time.Minute, Logf: t.Logf})
		t.Cleanup(func() {
			_ = c.Close()
			unreserve(t)
		})
		if _, e := c.GetDeviceCount(); e != hip.Success {
			t.Fatal(net.JoinHostPort(host, port), e)
		}
		if !c.Placed() {
			t.Fatal("no agreed addresses")
		}
		for range 1000 { // the session before may still be ending, and have memory of the card
			if free, total, _ := c.MemGetInfo(hip.Thread{}); free == total {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		return c
	}, "Devices", "Memory", "HostMemory", "Copy", "Copy3D", "Memset", "MemOps", "Pointers", "Threads")
}

// unreserve gives back what clients that have ended keep of the first range of
// addresses for the program: host memory that it did not free. This library, as
// the real one, reserves addresses only in its own range, which is the first, so
// that the next client must be able to offer it.
func unreserve(t *testing.T) {
	if _, _, e := unix.Syscall(unix.SYS_MUNMAP, 0x400000000000, 1<<40, 0); e != 0 {
		t.Error(e)
	}
}
