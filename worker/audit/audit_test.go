package audit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func read(t *testing.T, path string) (events []Event) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var e Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		events = append(events, e)
	}
	return events
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// TestFile: an event is a line, whatever is in it; a file that was moved away is opened anew.
func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit")
	l, err := Open(path, quiet())
	if err != nil {
		t.Fatal(err)
	}
	l.Record(Event{Kind: Begin, Who: "a\nb\x00\"", From: strings.Repeat("x", 9999), Result: OK, Session: "7"})
	for deadline := time.Now().Add(time.Minute); len(read(t, path)) == 0 && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
	}
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	if err := l.Reopen(); err != nil {
		t.Fatal(err)
	}
	l.Record(Event{Kind: Kill, Result: "no"})
	l.Close()
	l.Close()
	old, now := read(t, path+".1"), read(t, path)
	if len(old) != 1 || old[0].Who != `a?b?"` || len(old[0].From) != maxText || old[0].Session != "7" || old[0].Time.IsZero() {
		t.Errorf("%+v", old)
	}
	if len(now) != 1 || now[0].Kind != Kill || now[0].Result != "no" {
		t.Errorf("%+v", now)
	}
	if i, err := os.Stat(path); err != nil || i.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", i.Mode(), err)
	}
}

// stuck is a sink that takes nothing until it is told to.
type stuck struct {
	gate  chan struct{}
	mu    sync.Mutex
	lines []string
}

func (s *stuck) write(line []byte) error {
	<-s.gate
	s.mu.Lock()
	s.lines = append(s.lines, string(line))
	s.mu.Unlock()
	return nil
}
func (*stuck) reopen() error { return nil }
func (*stuck) close() error  { return nil }

// TestFlood: a sink that hangs holds up nobody, and refusals without end leave room for the rest; what is missing is counted.
func TestFlood(t *testing.T) {
	s := &stuck{gate: make(chan struct{})}
	l := newLog(s, quiet())
	for range 20000 {
		l.Record(Event{Kind: Refuse, Result: "no"})
	}
	close(s.gate)
	for range 10 { // the budget of refusals is used up
		l.Record(Event{Kind: Refuse, Result: "no"})
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline) && len(l.queue) > 0; time.Sleep(time.Millisecond) {
	}
	l.Record(Event{Kind: Kill, Session: "9", Result: OK})
	l.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	var kills, missing int
	for _, line := range s.lines {
		if strings.Contains(line, `"event":"kill"`) {
			kills++
		}
		if strings.Contains(line, `"event":"dropped"`) {
			missing++
		}
	}
	if kills != 1 || missing == 0 || len(s.lines) > atOnce+perTime*60 {
		t.Errorf("%d lines, %d kills, %d notes of what is missing", len(s.lines), kills, missing)
	}
}

// failing is a sink that cannot write.
type failing struct{ stuck }

func (*failing) write([]byte) error { return errors.New("the disk is full") }

func TestFailing(t *testing.T) {
	var b bytes.Buffer
	l := newLog(&failing{}, slog.New(slog.NewTextHandler(&b, nil)))
	for range 50 {
		l.Record(Event{Kind: Begin, Result: OK})
	}
	l.Close()
	if n := strings.Count(b.String(), "the disk is full"); n != 1 {
		t.Errorf("said %d times", n)
	}
}

// TestJournal: entries in the journal's form, and again after the journal was started anew.
func TestJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "socket")
	listen := func() *net.UnixConn {
		c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	next := func(c *net.UnixConn) string {
		b := make([]byte, 4096)
		n, err := c.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		return string(b[:n])
	}
	c := listen()
	s, err := dialJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	l := newLog(s, quiet())
	l.Record(Event{Kind: Begin, Who: "a", Result: OK})
	if e := next(c); !strings.Contains(e, "\nMESSAGE={") || !strings.HasSuffix(e, "}\n") || strings.Count(e, "\n") != 3 {
		t.Errorf("%q", e)
	}
	_ = c.Close()
	_ = os.Remove(path)
	c = listen()
	defer c.Close()
	l.Record(Event{Kind: Kill, Result: OK})
	if e := next(c); !strings.Contains(e, `"kill"`) {
		t.Errorf("%q", e)
	}
	l.Close()
	if _, err := dialJournal(path + "x"); err == nil {
		t.Error("a journal that is not there")
	}
}

func TestNone(t *testing.T) {
	var l *Log
	l.Record(Event{})
	if err := l.Reopen(); err != nil {
		t.Error(err)
	}
	l.Close()
	for _, where := range []string{"", "/no/such/folder/audit"} {
		if _, err := Open(where, quiet()); err == nil {
			t.Errorf("%q", where)
		}
	}
	l, err := Open(Stderr, quiet())
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
}
