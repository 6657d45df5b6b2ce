package discovery

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// fileSource reads one file, or those that a pattern names.
type fileSource struct {
	pattern string
	last    map[string]stamp // by file
	known   map[string][]Target
}

// stamp tells whether a file changed.
type stamp struct {
	modified time.Time
	size     int64
	inode    any
}

// filePeriod is how often files are looked at. A look at one that did not change is
// one stat.
const filePeriod = 2 * time.Second

func (f *fileSource) name() string          { return "file:" + f.pattern }
func (f *fileSource) period() time.Duration { return filePeriod }

func (f *fileSource) read(context.Context) (targets []Target, bad int, err error) {
	paths, err := filepath.Glob(f.pattern)
	if err != nil {
		return nil, 0, err
	}
	if len(paths) == 0 && !strings.ContainsAny(f.pattern, `*?[\`) { // a pattern may match nothing
		return nil, 0, fmt.Errorf("no file is called %s", f.pattern)
	}
	last, known := map[string]stamp{}, map[string][]Target{}
	for _, p := range paths {
		list, now, n, e := f.readFile(p)
		if e != nil {
			err = e
			list = f.known[p] // as it was
		}
		bad += n
		last[p], known[p] = now, list
		targets = append(targets, list...)
	}
	f.last, f.known = last, known
	if err != nil && len(targets) > 0 {
		return targets, bad, &partialError{err}
	}
	return targets, bad, err
}

// partialError comes with targets that are to be used all the same.
type partialError struct{ error }

func (e *partialError) Unwrap() error { return e.error }

func (f *fileSource) readFile(path string) (list []Target, now stamp, bad int, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, stamp{}, 0, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, stamp{}, 0, err
	}
	now = stamp{modified: info.ModTime(), size: info.Size(), inode: inode(file)}
	if !info.Mode().IsRegular() {
		return nil, stamp{}, 0, fmt.Errorf("%s is no file", path)
	}
	if old, ok := f.last[path]; ok && old == now {
		return f.known[path], now, 0, nil
	}
	b, err := io.ReadAll(io.LimitReader(file, MaxBytes+1))
	if err != nil {
		return nil, stamp{}, 0, err
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".json":
		list, bad, err = ParseJSON(b)
	case ".yml", ".yaml":
		list, bad, err = ParseYAML(b)
	default:
		err = fmt.Errorf("is neither .json nor .yml nor .yaml")
	}
	if err != nil {
		return nil, stamp{}, 0, fmt.Errorf("%s: %w", path, err)
	}
	return list, now, bad, nil
}
