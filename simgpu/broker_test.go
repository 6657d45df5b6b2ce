package simgpu

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/vmem"
)

// TestOwnBroker: what was published is fetched until it is withdrawn, by the way of another process, too; what somebody made up opens nothing.
func TestOwnBroker(t *testing.T) {
	fd, err := vmem.NewFile(vmem.PageSize)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	var b ownBroker
	token, e := b.Publish(hip.Shared{FD: fd, Size: vmem.PageSize, Card: 3, Kind: sharedMemory})
	if e != hip.Success {
		t.Fatal(e)
	}
	at, ok := sharedAtOf(token)
	if !ok {
		t.Fatal("a token that says nothing")
	}
	for name, fetch := range map[string]func() (hip.Shared, hip.Error){
		"own":   func() (hip.Shared, hip.Error) { return b.Fetch(token) },
		"other": at.fetch,
	} {
		s, e := fetch()
		if e != hip.Success || s.Size != vmem.PageSize || s.Card != 3 || s.Kind != sharedMemory {
			t.Errorf("%s: %+v, %v", name, s, e)
			continue
		}
		_ = unix.Close(s.FD)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for name, made := range map[string]sharedAt{
		"another file": {pid: at.pid, fd: uint32(null.Fd()), inode: at.inode},
		"inode":        {pid: at.pid, fd: at.fd, inode: at.inode + 1},
		"descriptor":   {pid: at.pid, fd: 1 << 30, inode: at.inode},
		"process":      {pid: 1 << 30, fd: at.fd, inode: at.inode},
	} {
		if s, e := made.fetch(); e != hip.ErrorInvalidValue {
			t.Errorf("%s: %+v, %v", name, s, e)
		}
	}
	for i := range token { // one of them would say another thread of this process
		changed := token
		changed[i] ^= 1
		if _, e := b.Fetch(changed); e != hip.ErrorInvalidValue {
			t.Errorf("a token that nobody was given, byte %d: %v", i, e)
		}
	}
	b.Withdraw(token)
	if _, e := b.Fetch(token); e != hip.ErrorInvalidValue {
		t.Error("withdrawn: ", e)
	}
	if _, e := at.fetch(); e != hip.ErrorInvalidValue {
		t.Error("withdrawn, from another process: ", e)
	}
}
