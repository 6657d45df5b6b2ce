package hipremote

import (
	"strings"
	"testing"
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/wire"
)

// TestUploading: whoever waits for a large code object to be sent is told how far it is, and when it is there; of what goes quickly, or is
// small, nothing is said.
func TestUploading(t *testing.T) {
	const size = 64 << 20 // more than sockets and windows hold
	log := &logLines{}
	told := func(what string) bool {
		for _, l := range log.all() {
			if strings.Contains(l, what) {
				return true
			}
		}
		return false
	}
	host, port := server(t, welcome(wire.Welcome{}), func(_ *wire.ServerConn, r *wire.Request) {
		if r.Op == hip.OpModuleLoadData && r.BulkLen == size {
			for end := time.Now().Add(time.Minute); !told("sending a code object of 64.0 MiB to 127.0.0.1: ") && time.Now().Before(end); {
				time.Sleep(time.Millisecond) // nothing is read meanwhile
			}
			p := make([]byte, size)
			if err := r.ReadBulk(p); err != nil || p[size-1] != 7 {
				t.Error(err)
			}
		}
		var loaded [8]byte
		loaded[0] = 1
		_ = r.Reply(0, loaded[:])
	})
	c := New(Config{Host: host, Port: port, Logf: log.logf, NoShare: true})
	defer c.Close()
	image := make([]byte, size)
	image[size-1] = 7
	c.uploadPatience, c.uploadEvery = time.Hour, time.Hour
	if _, code := c.ModuleLoadData(hip.Thread{}, image[:2<<20]); code != hip.Success {
		t.Fatal(code, log.all())
	}
	if told("code object") {
		t.Error(log.all())
	}
	c.uploadPatience, c.uploadEvery = time.Millisecond, time.Millisecond
	if _, code := c.ModuleLoadData(hip.Thread{}, image[:uploadLeast-1]); code != hip.Success || told("code object") {
		t.Fatal(code, log.all())
	}
	if _, code := c.ModuleLoadData(hip.Thread{}, image); code != hip.Success {
		t.Fatal(code, log.all())
	}
	if !told("sending a code object") || !told(" so far, in ") || !told("the code object of 64.0 MiB is loaded, after ") {
		t.Error(log.all())
	}
}
