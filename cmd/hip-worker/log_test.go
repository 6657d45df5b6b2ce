package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/wire"
)

// counter counts what is written, and keeps the end of it.
type counter struct {
	mu   sync.Mutex
	n    int
	tail string
}

func (c *counter) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n += len(p)
	c.tail += string(p)
	c.tail = c.tail[max(0, len(c.tail)-64<<10):]
	return len(p), nil
}

// TestLogIsLimited: what a client or a stranger can have the worker log is a few lines, and one that counts the rest.
func TestLogIsLimited(t *testing.T) {
	exe := build(t)
	cmd := exec.Command(exe, "--backend", "sim", "-p", "0", "--sim-memory", "64M")
	var log counter
	cmd.Stderr = &log
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address := "127.0.0.1:" + strings.Fields(line)[5]
	const strangers, frames = 200, 100_000
	for range strangers {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = c.Write(make([]byte, 64)) // no Hello begins like that
		_, _ = io.Copy(io.Discard, c)    // it ends the connection, politely or not
		_ = c.Close()
	}
	c, err := wire.Dial(context.Background(), wire.Options{Address: address, Hello: wire.Hello{Purpose: "hip"}})
	if err != nil {
		t.Fatal(err)
	}
	for range frames {
		if err := c.Post(hip.OpLaunchKernel, []byte{1}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Call(hip.OpDeviceSynchronize, &wire.Msg{Req: make([]byte, 8)}); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if log.n > 32<<10 {
		t.Errorf("%d bytes were logged", log.n)
	}
	for _, want := range []string{"malformed request … 99,980 more like this", "client refused … 180 more like this"} {
		if !strings.Contains(log.tail, want) {
			t.Errorf("the log does not say %q:\n%s", want, log.tail)
		}
	}
}
