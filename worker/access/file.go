package access

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"syscall"
	"time"
)

// ErrReadable: a file with secrets that others than its owner and group can read, or others than its owner write.
var ErrReadable = errors.New("others can read or change it")

// rulesAt is a token file that is read again when it has changed.
type rulesAt struct {
	path string
	log  *slog.Logger

	mu    sync.Mutex
	seen  stamp
	rules *Rules // of the last file that made sense
}

// stamp tells one content of a file from another without reading it: a file that is replaced is another inode, one that is written has another time.
type stamp struct {
	dev, inode   uint64
	size         int64
	changed, mod time.Time
}

// openRules reads a token file; it must make sense.
func openRules(path string, log *slog.Logger) (*rulesAt, error) {
	f := &rulesAt{path: path, log: log}
	var err error
	if f.rules, f.seen, err = readRules(path); err != nil {
		return nil, fmt.Errorf("token file %s: %w", path, err)
	}
	return f, nil
}

// current is what the file says now. One that is broken changes nothing and is logged.
func (f *rulesAt) current() *Rules {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := stamp{}
	if info, err := os.Stat(f.path); err == nil {
		now = stampOf(info)
	}
	if now == f.seen {
		return f.rules
	}
	rules, read, err := readRules(f.path)
	if err != nil {
		f.seen = now
		f.log.Error("the token file is not taken; what it said before stays", "file", f.path, "error", err)
		return f.rules
	}
	f.rules, f.seen = rules, read
	f.log.Info("token file read anew", "file", f.path, "tokens", len(rules.tokens))
	return f.rules
}

func readRules(path string) (*Rules, stamp, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, stamp{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, stamp{}, err
	case !info.Mode().IsRegular():
		return nil, stamp{}, errors.New("no file")
	case info.Mode().Perm()&0o027 != 0:
		return nil, stamp{}, fmt.Errorf("%w (mode %04o): chmod 600", ErrReadable, info.Mode().Perm())
	}
	b, err := io.ReadAll(io.LimitReader(f, maxRulesFile+1))
	if err != nil {
		return nil, stamp{}, err
	}
	rules, err := ParseRules(b)
	return rules, stampOf(info), err
}

func stampOf(info os.FileInfo) stamp {
	s := stamp{size: info.Size(), mod: info.ModTime()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		s.dev, s.inode, s.changed = uint64(st.Dev), st.Ino, time.Unix(st.Ctim.Unix())
	}
	return s
}
