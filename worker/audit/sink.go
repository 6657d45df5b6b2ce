package audit

import (
	"errors"
	"net"
	"os"
	"sync"
)

// Names of sinks that are no files.
const (
	Stderr   = "stderr"
	Journald = "journald"
)

func openSink(where string) (sink, error) {
	switch where {
	case "":
		return nil, errors.New("a file, stderr or journald")
	case Stderr:
		return stream{os.Stderr}, nil
	case Journald:
		return dialJournal(journalSocket)
	}
	f := &file{path: where}
	return f, f.reopen()
}

// stream is a sink that somebody else opens and closes.
type stream struct{ f *os.File }

func (s stream) write(line []byte) error {
	_, err := s.f.Write(append(line, '\n'))
	return err
}

func (stream) reopen() error { return nil }
func (stream) close() error  { return nil }

// file is a file that lines are added to.
type file struct {
	path string
	mu   sync.Mutex
	f    *os.File
}

func (s *file) write(line []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.f.Write(append(line, '\n'))
	return err
}

func (s *file) reopen() error {
	f, err := os.OpenFile(s.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	s.mu.Lock()
	old := s.f
	s.f = f
	s.mu.Unlock()
	if old != nil {
		return old.Close()
	}
	return nil
}

func (s *file) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.f.Close()
}

// journalSocket is where systemd's journal takes entries.
const journalSocket = "/run/systemd/journal/socket"

// journal sends entries to systemd's journal, in its native form.
type journal struct {
	path string
	c    net.Conn
}

func dialJournal(path string) (sink, error) {
	c, err := net.Dial("unixgram", path)
	if err != nil {
		return nil, err
	}
	return &journal{path, c}, nil
}

// write sends one entry: a field a line. A line of JSON has no end of line in it.
func (j *journal) write(line []byte) error {
	entry := []byte("PRIORITY=5\nSYSLOG_IDENTIFIER=hip-worker-audit\nMESSAGE=" + string(line) + "\n")
	_, err := j.c.Write(entry)
	if err == nil {
		return nil
	}
	c, dialErr := net.Dial("unixgram", j.path) // the journal was started again
	if dialErr != nil {
		return err
	}
	_ = j.c.Close()
	j.c = c
	_, err = c.Write(entry)
	return err
}

func (*journal) reopen() error  { return nil }
func (j *journal) close() error { return j.c.Close() }
