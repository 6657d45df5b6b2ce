package worker

import (
	"bytes"
	"crypto/sha256"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
)

// moduleFile is a memory file with these bytes and seals.
func moduleFile(t *testing.T, b []byte, seals int) int {
	t.Helper()
	fd, err := unix.MemfdCreate("test", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := unix.Write(fd, b); err != nil {
		t.Fatal(err)
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals); err != nil {
		t.Fatal(err)
	}
	return fd
}

const allSeals = unix.F_SEAL_WRITE | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL

// kept keeps and waits until that is decided.
func (c *moduleCache) kept(who string, fd int) {
	c.keep(who, fd)
	for range maxChecking { // as many as there is room for have been through
		c.room <- struct{}{}
	}
	for range maxChecking {
		<-c.room
	}
}

// TestModuleCache: only what cannot change is kept, under the sum that it has, for its user, and no more than there is room for.
func TestModuleCache(t *testing.T) {
	const n = hiprpc.MinContent
	c := newModuleCache(10 * n)
	module := func(i int) []byte { return bytes.Repeat([]byte{byte(i + 1)}, n) }
	sum := func(i int) hip.ShareToken { return sha256.Sum256(module(i)) }
	has := func(who string, i int) bool {
		fd := c.find(who, sum(i), n)
		if fd < 0 {
			return false
		}
		defer unix.Close(fd)
		got := make([]byte, n)
		if k, err := unix.Pread(fd, got, 0); err != nil || k != n || !bytes.Equal(got, module(i)) {
			t.Errorf("module %d: %d bytes, %v", i, k, err)
		}
		if _, err := unix.Pwrite(fd, []byte{1}, 0); err == nil {
			t.Error("a session can change what others load")
		}
		return true
	}
	for _, seals := range []int{0, allSeals &^ unix.F_SEAL_WRITE, allSeals &^ unix.F_SEAL_SHRINK, allSeals &^ unix.F_SEAL_GROW} {
		if c.kept("a", moduleFile(t, module(0), seals)); has("a", 0) {
			t.Errorf("kept with seals %#x", seals)
		}
	}
	var p [2]int
	if err := unix.Pipe(p[:]); err != nil {
		t.Fatal(err)
	}
	defer unix.Close(p[1])
	c.kept("a", p[0])
	c.kept("a", moduleFile(t, module(0)[:n-1], allSeals))
	c.kept("a", moduleFile(t, bytes.Repeat(module(0), 6), allSeals)) // more than half of all
	if c.totals.held != 0 {
		t.Errorf("%d bytes are held", c.totals.held)
	}
	for i := range 10 {
		c.kept("a", moduleFile(t, module(i), allSeals))
		c.kept("a", moduleFile(t, module(i), allSeals)) // once more is nothing new
	}
	if c.totals.held != 10*n || len(c.all) != 10 {
		t.Errorf("%d bytes of %d modules are held", c.totals.held, len(c.all))
	}
	if !has("a", 0) || has("b", 0) || c.find("a", sum(0), n+1) >= 0 || c.find("a", hip.ShareToken{}, n) >= 0 {
		t.Error("a module is found by who has not sent it, or not by who has")
	}
	c.kept("b", moduleFile(t, module(20), allSeals))
	if !has("a", 0) || has("a", 1) || !has("b", 20) || has("a", 20) || c.totals.held != 10*n {
		t.Error("not the one went that nobody has used for longest")
	}
	if c.totals.hits != 3 || c.totals.saved != 3*n {
		t.Errorf("%+v", c.totals)
	}
	c.close()
	if c.totals.held != 0 || len(c.all) != 0 || has("a", 0) {
		t.Error("something is held after the end")
	}
}
