package confine

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Entered is what [Enter] has done, for the parent to tell.
type Entered uint8

// Parts of it.
const (
	Confined Entered = 1 << iota // there is a boundary at all
	Filtered                     // system calls are filtered
)

// Limits of a session process. They are far from what programs need, and keep one from taking what all share.
const (
	maxFiles     = 16384 // descriptors
	maxProcesses = 2048  // threads: Go's, and a driver's
)

// Enter draws the rest of the boundary around this process, before it has read anything of a client. It can be called once.
func Enter() (Entered, error) {
	e, ok := lookupEntry()
	if !ok {
		return 0, nil
	}
	_ = os.Unsetenv(variable) // a name without = never fails
	if e.Program != 0 {
		_ = unix.Close(e.Program)
	}
	_, _ = time.Now().Local().Zone() // reads the time zone's file while that is allowed
	limits := []struct {
		what int
		most uint64
	}{
		{unix.RLIMIT_CORE, 0}, {unix.RLIMIT_MSGQUEUE, 0}, {unix.RLIMIT_RTPRIO, 0}, {unix.RLIMIT_NOFILE, maxFiles}, {unix.RLIMIT_NPROC, maxProcesses},
	}
	for _, l := range limits {
		if l.what == unix.RLIMIT_NPROC && !e.Alone {
			continue
		}
		var r unix.Rlimit
		if err := unix.Getrlimit(l.what, &r); err != nil {
			return 0, fmt.Errorf("confine: limits: %w", err)
		}
		r.Max = min(r.Max, l.most)
		r.Cur = r.Max
		if err := unix.Setrlimit(l.what, &r); err != nil {
			return 0, fmt.Errorf("confine: limits: %w", err)
		}
	}
	// Nobody reads its memory but who may read everybody's.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return 0, fmt.Errorf("confine: %w", err)
	}
	filtered, err := filter(e.Network, e.Driver, e.Scratch)
	if err != nil {
		return 0, fmt.Errorf("confine: filter of system calls: %w", err)
	}
	if !filtered {
		return Confined, nil
	}
	return Confined | Filtered, nil
}
