package worker

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestSessionLog: what a session writes is marked as its own line by line, whatever it writes.
func TestSessionLog(t *testing.T) {
	var out bytes.Buffer
	l := &sessionLog{to: &out, cmd: &exec.Cmd{Process: &os.Process{Pid: 7}}}
	for _, s := range []string{"one\ntwo", " more\r\x1b[2J\n\n", strings.Repeat("x", 3*maxLogLine), "y\nlast"} {
		if n, err := l.Write([]byte(s)); n != len(s) || err != nil {
			t.Fatal(n, err)
		}
	}
	const mark = "session process 7: "
	want := mark + "one\n" + mark + "two more??[2J\n" + mark + "\n" + mark + strings.Repeat("x", maxLogLine) + "\n"
	if out.String() != want {
		t.Errorf("%q\nwant %q", out.String(), want)
	}
}

// TestSessionLogIsLimited: a session that writes without end leaves one line that says so.
func TestSessionLogIsLimited(t *testing.T) {
	var out bytes.Buffer
	l := &sessionLog{to: &out, cmd: &exec.Cmd{Process: &os.Process{Pid: 7}}}
	for range 10000 {
		_, _ = l.Write([]byte(strings.Repeat("z", 100) + "\n"))
	}
	l.end()
	l.end()
	if got := out.String(); len(got) > maxLogBytes || strings.Count(got, " more lines\n") != 1 || !strings.Contains(got, "session process 7: … ") {
		t.Errorf("%d bytes, the last: %q", len(got), got[len(got)-200:])
	}
}
