package main

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiptest"
	"github.com/rocwire/rocwire/hipremote"
)

// TestLibraryConformance: what HIP promises holds through a worker whose runtime is a
// real library, with agreed addresses and without. The library is this one.
func TestLibraryConformance(t *testing.T) {
	env := proxy(t, "--sim-cards", "2")
	var host, port string
	for _, v := range env {
		if s, ok := strings.CutPrefix(v, "TF_WORKER_HOST="); ok {
			host = s
		}
		if s, ok := strings.CutPrefix(v, "TF_WORKER_PORT="); ok {
			port = s
		}
	}
	for name, reserve := range map[string]bool{"placed": true, "not placed": false} {
		t.Run(name, func(t *testing.T) {
			hiptest.Run(t, func(t *testing.T) hip.Runtime {
				c := hipremote.New(hipremote.Config{
					Host: host, Port: port, ConnectTimeout: time.Minute, IOTimeout: time.Minute, NoReserve: !reserve, Logf: t.Logf,
				})
				t.Cleanup(func() { _ = c.Close() })
				if _, e := c.GetDeviceCount(); e != hip.Success {
					t.Fatal(net.JoinHostPort(host, port), e)
				}
				if c.Placed() != reserve {
					t.Fatal("agreed addresses:", c.Placed())
				}
				return c
			})
		})
	}
}
