package wire

import (
	"errors"
	"os"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// named is a file whose name tells it from others.
func named(t *testing.T, name string) int {
	t.Helper()
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	return fd
}

// TestPass: a descriptor comes with its number, those before it are dropped, and neither side waits for the other.
func TestPass(t *testing.T) {
	server, client := sharedPair(t)
	defer client.close()
	if _, err := client.passed(1); !errors.Is(err, unix.EAGAIN) {
		t.Errorf("nothing was passed: %v", err)
	}
	before := descriptors(t)
	for i, name := range []string{"a", "b", "c"} {
		if err := server.pass(uint64(i), named(t, name)); err != nil {
			t.Fatal(err)
		}
	}
	fd, err := client.passed(2)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd)); err != nil || got != "/memfd:c (deleted)" {
		t.Errorf("%q, %v", got, err)
	}
	_ = unix.Close(fd)
	if n := descriptors(t); n != before+3 { // those of named
		t.Errorf("%d descriptors, want %d", n, before+3)
	}
	file, err := error(nil), error(nil)
	x := named(t, "x")
	for range 1 << 20 { // nobody takes them
		if file = server.pass(9, x); file != nil {
			break
		}
	}
	if file == nil {
		t.Error("a client that takes nothing is passed any number of descriptors")
	}
	server.close()
	if server.pass(1, x) == nil {
		t.Error("passed on a connection that is closed")
	}
	for err == nil {
		if fd, err = client.passed(9); err == nil {
			_ = unix.Close(fd)
		}
	}
	if !errors.Is(err, ErrProtocol) {
		t.Errorf("at the end: %v", err)
	}
}

// TestPassNonsense: a peer that sends anything else is told apart, and leaves no descriptor behind.
func TestPassNonsense(t *testing.T) {
	server, client := sharedPair(t)
	defer server.close()
	defer client.close()
	x := named(t, "x")
	before := descriptors(t)
	for _, c := range []struct {
		note []byte
		fds  []int
		want error
	}{
		{[]byte{1}, []int{x}, ErrProtocol},
		{make([]byte, 9), []int{x}, ErrProtocol},
		{make([]byte, 100), nil, ErrProtocol},
		{make([]byte, 8), nil, unix.EAGAIN},
		{make([]byte, 8), []int{x, x, x}, nil},
	} {
		if err := unix.Sendmsg(server.channel, c.note, unix.UnixRights(c.fds...), nil, 0); err != nil {
			t.Fatal(err)
		}
		fd, err := client.passed(0)
		if !errors.Is(err, c.want) {
			t.Errorf("%d bytes and %d descriptors: %v, want %v", len(c.note), len(c.fds), err, c.want)
		}
		if err == nil {
			_ = unix.Close(fd)
		}
	}
	if n := descriptors(t); n != before {
		t.Errorf("%d descriptors, want %d", n, before)
	}
}
