package hipremote

import (
	"testing"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
)

// TestEndedOf: a copy that waits for room when the session ends is told what the session has ended of, if it said so.
func TestEndedOf(t *testing.T) {
	c := New(Config{})
	c.stage.end()
	if code := c.sendStaged(nil, nil, 0, nil, make([]byte, 1), terms{}); code != hip.ErrorNotInitialized {
		t.Error(code)
	}
	e := hiprpc.AsyncError{Seq: 1, Device: hiprpc.AllDevices, Code: hip.ErrorLaunchFailure, Sticky: true}
	if !c.atOnce(hiprpc.NoticeAsyncError, e.Append(nil)) {
		t.Error("the notice is not taken at once")
	}
	if code := c.sendStaged(nil, nil, 0, nil, make([]byte, 1), terms{}); code != hip.ErrorLaunchFailure {
		t.Error(code)
	}
}
