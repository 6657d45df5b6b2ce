// Package poll waits for what can only be asked about.
package poll

import (
	"runtime"
	"time"

	"github.com/rocwire/rocwire/internal/mono"
)

// At first it is asked again and again, then with pauses of a part of the time that it took so far.
const (
	lookFor  = 50 * time.Microsecond
	partOf   = 8
	minPause = 20 * time.Microsecond
	maxPause = time.Millisecond
)

// Until asks until the answer is yes.
func Until(come func() bool) {
	for begin := mono.Now(); !come(); {
		if took := mono.Since(begin); took < lookFor {
			runtime.Gosched()
		} else {
			time.Sleep(min(max(took/partOf, minPause), maxPause))
		}
	}
}
