package hipremote

import (
	"fmt"
	"time"

	"github.com/rocwire/rocwire/hip"
)

// When the person who runs a program is told that it waits for a code object to be sent: after so long, and then every so often. Smaller
// ones are not worth a word.
const (
	uploadPatience = 3 * time.Second
	uploadEvery    = 5 * time.Second
	uploadLeast    = 1 << 20
)

// uploading sends a code object of so many bytes by f, and says from time to time how far it has come if that takes long. What is
// counted is what has left for the worker: compressed it is less than the object, and with it goes what other threads send.
func (c *Client) uploading(l *link, size int, f func() hip.Error) hip.Error {
	if size < uploadLeast {
		return f()
	}
	var code hip.Error
	done, ended := make(chan struct{}), make(chan struct{})
	before, began := l.Sent(), time.Now()
	go func() {
		defer close(ended)
		wait := time.NewTimer(c.uploadPatience)
		defer wait.Stop()
		for told := false; ; told = true {
			select {
			case <-wait.C:
				c.cfg.logf("sending a code object of %s to %s: %s so far, in %s", mib(uint64(size)), c.cfg.Host, mib(l.Sent()-before), time.Since(began).Round(time.Second))
				wait.Reset(c.uploadEvery)
			case <-done:
				if told && code == hip.Success {
					c.cfg.logf("the code object of %s is loaded, after %s", mib(uint64(size)), time.Since(began).Round(time.Second))
				}
				return
			}
		}
	}()
	code = f()
	close(done)
	<-ended
	return code
}

func mib(n uint64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }
