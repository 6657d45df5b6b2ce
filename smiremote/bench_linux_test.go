package smiremote_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
	"github.com/rocwire/rocwire/smiremote"
	"github.com/rocwire/rocwire/smiremote/remotetest"
	"github.com/rocwire/rocwire/wire"
)

func cpuTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// clientsEnv makes the test binary a process of 100 clients of the worker it names.
const clientsEnv = "ROCWIRE_SMIREMOTE_CLIENTS"

func TestMain(m *testing.M) {
	if addr := os.Getenv(clientsEnv); addr != "" {
		hundredClients(addr)
	}
	os.Exit(m.Run())
}

// hundredClients ask for a snapshot once a second each, until standard input ends.
func hundredClients(addr string) {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	for i := range 100 {
		go func() {
			c, err := wire.Dial(context.Background(), wire.Options{Address: addr, Hello: wire.Hello{Purpose: smiremote.Purpose}})
			if err != nil {
				fmt.Println(err)
				os.Exit(1)
			}
			time.Sleep(time.Duration(i) * 10 * time.Millisecond)
			for range time.Tick(time.Second) {
				m := &wire.Msg{}
				if err := c.Call(0x0851, m); err != nil || m.Code != 0 {
					fmt.Println(m.Code, err)
					os.Exit(1)
				}
			}
		}()
	}
	select {}
}

// BenchmarkHundredClients is a second of a worker that 100 clients in another process
// ask for a snapshot of 8 cards with 64 processes each, once a second. cpu% is of one
// core.
func BenchmarkHundredClients(b *testing.B) {
	w := remotetest.Start(b, "", smiremote.HandlerOptions{Source: smitest.NewMachine(8, 64)})
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), clientsEnv+"="+w.Addr)
	cmd.Stdout = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			b.Error(err)
		}
	}()
	time.Sleep(2 * time.Second) // all of them have begun
	before, start := cpuTime(), time.Now()
	for b.Loop() {
		time.Sleep(time.Second)
	}
	b.ReportMetric(100*float64(cpuTime()-before)/float64(time.Since(start)), "cpu%")
}

// BenchmarkSnapshot is what one snapshot costs a worker whose clients ask so rarely
// that nothing is known any more: reading, encoding and sending. The source's own
// work is only copying.
func BenchmarkSnapshot(b *testing.B) {
	w := remotetest.Start(b, "", smiremote.HandlerOptions{Source: smitest.NewMachine(8, 64), Fresh: -1})
	for _, v := range []struct {
		name string
		op   uint16
	}{{"packed", 0x0851}, {"plain", 0x0840}} {
		b.Run(v.name, func(b *testing.B) {
			c, err := wire.Dial(b.Context(), wire.Options{Address: w.Addr, Hello: wire.Hello{Purpose: smiremote.Purpose}})
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			b.ReportAllocs()
			m := &wire.Msg{}
			before := cpuTime()
			for b.Loop() {
				if err := c.Call(v.op, m); err != nil || m.Code != 0 {
					b.Fatal(m.Code, err)
				}
			}
			b.ReportMetric(float64(cpuTime()-before)/1e6/float64(b.N), "cpu-ms/op")
			b.ReportMetric(float64(len(m.Rep)), "B/snapshot")
		})
	}
}

// BenchmarkClientSnapshot is the client's side as well.
func BenchmarkClientSnapshot(b *testing.B) {
	w := remotetest.Start(b, "", smiremote.HandlerOptions{Source: smitest.NewMachine(8, 64)})
	c := smiremote.NewClient(smiremote.Options{Address: w.Addr})
	defer c.Close()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Snapshot(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkShared is what a source that is shared adds to a question it knows the
// answer of.
func BenchmarkShared(b *testing.B) {
	s := smi.NewShared(smitest.NewMachine(8, 64), smi.SharedOptions{})
	b.Run("view", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := s.View(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("metrics", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := s.Metrics(b.Context(), 0); err != nil {
				b.Fatal(err)
			}
		}
	})
}
