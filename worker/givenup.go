package worker

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
)

// givenUp tells the client that the runtime has given up the process, as AMD's library does when a kernel faults: the contexts of all devices have ended, and
// the session is about to. A program that has the library itself would be gone.
func (s *session) givenUp(reason string) {
	f := &s.fails
	f.mu.Lock()
	f.seq++
	a := hiprpc.AsyncError{Seq: f.seq, Device: hiprpc.AllDevices, Code: hip.ErrorLaunchFailure, Sticky: true, Text: reason}
	f.mu.Unlock()
	s.log.Error("the session ends", "reason", reason)
	_ = s.conn.Notify(hiprpc.NoticeAsyncError, a.Append(nil)) // a lost connection has nobody to tell
}
