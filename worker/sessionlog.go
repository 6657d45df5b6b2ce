package worker

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"time"
)

// Limits of a session process's log.
const (
	maxLogLine   = 4 << 10  // bytes of a line; the rest of a longer one is left out
	maxLogBytes  = 64 << 10 // in a logPeriod; what is more is counted
	logPeriod    = time.Minute
	logLineExtra = 32 // what marks a line, about
)

// sessionLog takes what a session process writes to standard output and standard error, and puts it into the parent's log line by line. The process may
// have been taken over: a line says whose it is, so that none passes for the parent's, holds nothing that a terminal would obey, and there are
// no more than somebody may read.
type sessionLog struct {
	to   io.Writer
	cmd  *exec.Cmd
	line []byte // has no end yet

	began   time.Time // of the period
	written int       // bytes in it
	left    int       // lines left out in it
}

// Write implements io.Writer. It is called by one goroutine, and never fails: a log that is full or gone ends no session.
func (l *sessionLog) Write(p []byte) (int, error) {
	n := len(p)
	for {
		part, rest, whole := bytes.Cut(p, []byte("\n"))
		l.line = append(l.line, part[:min(len(part), maxLogLine-len(l.line))]...)
		if !whole {
			return n, nil
		}
		l.flush(time.Now())
		l.line, p = l.line[:0], rest
	}
}

func (l *sessionLog) flush(now time.Time) {
	if now.Sub(l.began) >= logPeriod {
		l.end()
		l.began, l.written = now, 0
	}
	if l.written += len(l.line) + logLineExtra; l.written > maxLogBytes {
		l.left++
		return
	}
	l.print(printable(string(l.line), maxLogLine))
}

// end says how much was left out. It is called when a period is over, and when the process is gone.
func (l *sessionLog) end() {
	if l.left > 0 {
		l.print(fmt.Sprintf("… %d more lines", l.left))
		l.left = 0
	}
}

func (l *sessionLog) print(s string) {
	_, _ = fmt.Fprintf(l.to, "session process %d: %s\n", l.cmd.Process.Pid, s)
}
