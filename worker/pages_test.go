package worker

import (
	"encoding/binary"
	"os/exec"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// TestOpenPagemap: the page map of a session process says which pages it has and not where in the machine's memory they lie, whoever the parent is.
func TestOpenPagemap(t *testing.T) {
	cmd := exec.Command("sleep", "100")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	runtime.LockOSThread() // capabilities are a thread's
	defer runtime.UnlockOSThread()
	before := capabilities(t)
	fd, err := openPagemap(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	present := 0
	var b [8 << 10]byte
	for at := int64(0x7ff000000000) / 4096 * 8; at < 0x7ffffffff000/4096*8; at += int64(len(b)) { // the stack is there
		n, err := unix.Pread(fd, b[:], at)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i+8 <= n; i += 8 {
			v := binary.LittleEndian.Uint64(b[i:])
			if v>>63 != 0 {
				present++
				if v&(1<<55-1) != 0 {
					t.Fatalf("entry %#x has a page's number", v)
				}
			}
		}
	}
	if present == 0 {
		t.Error("no page is there")
	}
	if after := capabilities(t); after != before {
		t.Errorf("capabilities %#x, before %#x", after, before)
	}
}

func capabilities(t *testing.T) (own [2]unix.CapUserData) {
	t.Helper()
	if err := unix.Capget(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &own[0]); err != nil {
		t.Fatal(err)
	}
	return own
}
