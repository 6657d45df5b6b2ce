//go:build linux && amd64

package ebpf

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// maxLibraries is how many different files are watched at once: there are few versions
// of a library on a machine, but anybody may make files with its name.
const maxLibraries = 64

// libraries are the files that are watched, each once, however many processes have it
// loaded and whatever they call it.
type libraries struct {
	attach func(f *os.File) ([]io.Closer, error)
	proc   proc
	files  []string // patterns of those that are watched without users
	only   string
	keep   time.Duration
	ask    *asker
	log    *slog.Logger
	now    func() time.Time

	known map[fileID]*library
	names map[mapKey]*opened
	full  bool // it was said that there are too many
}

// fileID is a file as stat tells it.
type fileID struct{ device, inode uint64 }

// opened is a file as a process's mappings tell it, and which file that is.
type opened struct {
	id     fileID
	err    error
	used   time.Time // when it was last seen
	answer answer[file]
}

// file is an open file, or why it could not be opened.
type file struct {
	*os.File
	id    fileID
	stamp stamp
	err   error
}

// stamp changes when a file is written to.
type stamp struct{ size, seconds, nanos int64 }

// library is a file that is watched, or that cannot be.
type library struct {
	path    string // as whoever has it loaded sees it
	file    file
	links   []io.Closer
	used    time.Time // when somebody was last seen to use it
	answer  answer[attached]
	changed answer[bool]
}

type attached struct {
	links []io.Closer
	err   error
}

func newLibraries(o *Options, a *asker, attach func(*os.File) ([]io.Closer, error)) *libraries {
	return &libraries{
		attach: attach, proc: proc(o.Proc), files: o.Files, only: o.only, keep: o.Keep, ask: a, log: o.Log, now: time.Now,
		known: map[fileID]*library{}, names: map[mapKey]*opened{},
	}
}

// watch sees to it that the files that are installed are watched, and those that
// processes have loaded; and no others.
func (l *libraries) watch(seen map[uint32]*seen) {
	now := l.now()
	for id, lib := range l.known {
		l.take(lib)
		if l.rewritten(lib) {
			lib.close()
			delete(l.known, id)
		}
	}
	for _, pattern := range l.files {
		paths, _ := filepath.Glob(pattern)
		for _, p := range paths {
			l.use(openFile(os.Open(p)), p, now)
		}
	}
	for pid, p := range seen {
		l.used(pid, p)
	}
	for id, lib := range l.known {
		if lib.answer == nil && now.Sub(lib.used) > l.keep {
			lib.close()
			delete(l.known, id)
			l.log.Info("a HIP library is not watched any more: nobody uses it", "path", lib.path)
		}
	}
	for key, o := range l.names {
		if o.answer == nil && now.Sub(o.used) > l.keep {
			delete(l.names, key)
		}
	}
}

// used takes note of the libraries that a process uses.
func (l *libraries) used(pid uint32, p *seen) {
	for i := range p.maps {
		l.loaded(pid, &p.maps[i], l.now())
	}
}

// loaded takes note that a process has a library loaded.
func (l *libraries) loaded(pid uint32, m *mapping, now time.Time) {
	o := l.names[m.file]
	if o == nil {
		if !strings.HasPrefix(m.path, l.only) {
			return
		}
		if len(l.names) >= 4*maxLibraries {
			return
		}
		o = &opened{}
		if o.answer = l.open(pid, m); o.answer == nil {
			return
		}
		l.names[m.file] = o
	}
	o.used = now
	if f, ok := o.answer.take(); ok {
		o.answer, o.id, o.err = nil, f.id, f.err
		l.use(f, m.path, now)
	} else if lib := l.known[o.id]; lib != nil {
		lib.used = now
	}
}

// open opens what a process has loaded: that file, whatever became of its path.
func (l *libraries) open(pid uint32, m *mapping) answer[file] {
	at := l.proc.path(pid, "map_files/") + strconv.FormatUint(m.begin, 16) + "-" + strconv.FormatUint(m.end, 16)
	path, inode := l.proc.path(pid, "root")+m.path, m.file.inode
	return ask(l.ask, func() file {
		f := openFile(os.Open(at))
		if !errors.Is(f.err, os.ErrPermission) {
			return f
		}
		f = openFile(os.Open(path)) // takes fewer rights, but may be another file by now
		if f.err == nil && f.id.inode != inode {
			f.Close()
			return file{err: fmt.Errorf("%w: it was replaced", errLibrary)}
		}
		return f
	})
}

func openFile(f *os.File, err error) file {
	if err != nil {
		return file{err: err}
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		f.Close()
		return file{err: errors.Join(errLibrary, err)}
	}
	return file{File: f, id: fileID{st.Dev, st.Ino}, stamp: stamp{st.Size, st.Mtim.Sec, st.Mtim.Nsec}}
}

// rewritten says whether the file was written to since it is watched. Probes that are
// where its functions no longer begin would break the programs that load it.
func (l *libraries) rewritten(lib *library) bool {
	if lib.answer != nil {
		return false
	}
	if changed, ok := lib.changed.take(); ok {
		lib.changed = nil
		return changed
	}
	if lib.changed == nil {
		f := lib.file
		lib.changed = ask(l.ask, func() bool {
			var st unix.Stat_t
			err := unix.Fstat(int(f.Fd()), &st)
			return err == nil && f.stamp != stamp{st.Size, st.Mtim.Sec, st.Mtim.Nsec}
		})
	}
	changed, ok := lib.changed.take()
	if ok {
		lib.changed = nil
	}
	return changed
}

// use watches a file that is used, and closes it in the end.
func (l *libraries) use(f file, path string, now time.Time) {
	if f.err != nil {
		if !errors.Is(f.err, os.ErrNotExist) { // whoever had it loaded has ended
			l.log.Warn("a HIP library cannot be watched", "path", path, "reason", f.err)
		}
		return
	}
	lib := l.known[f.id]
	if lib == nil {
		if len(l.known) >= maxLibraries {
			if !l.full {
				l.log.Warn("too many HIP libraries; more are not watched", "path", path, "most", maxLibraries)
			}
			l.full = true
			f.Close()
			return
		}
		lib = &library{path: path, file: f}
		lib.answer = ask(l.ask, func() attached {
			links, err := l.attach(f.File)
			return attached{links, err}
		})
		if lib.answer == nil {
			f.Close()
			return
		}
		l.known[f.id] = lib
	} else {
		f.Close()
	}
	lib.used = now
	l.take(lib)
}

// take notes how it went to watch a file.
func (l *libraries) take(lib *library) {
	a, ok := lib.answer.take()
	if !ok {
		return
	}
	lib.answer, lib.links = nil, a.links
	if a.err != nil {
		l.log.Warn("a HIP library cannot be watched", "path", lib.path, "reason", a.err)
		return
	}
	l.log.Info("watching a HIP library", "path", lib.path)
}

// path is the library that a process uses, "" if it is not watched.
func (l *libraries) path(p *seen) string {
	for i := range p.maps {
		if o := l.names[p.maps[i].file]; o != nil && l.known[o.id] != nil {
			return p.maps[i].path
		}
	}
	return ""
}

// watched is how many files are watched.
func (l *libraries) watched() int {
	n := 0
	for _, lib := range l.known {
		if len(lib.links) > 0 {
			n++
		}
	}
	return n
}

// atOnce is how many links are closed at once: for each of them the kernel waits until
// nobody is within its probe.
const atOnce = 32

func (l *library) close() {
	for links := range slices.Chunk(l.links, atOnce) {
		var wg sync.WaitGroup
		for _, c := range links {
			wg.Go(func() { _ = c.Close() })
		}
		wg.Wait()
	}
	l.links = nil
	if l.changed == nil { // else somebody may still be asking
		l.file.Close()
	}
}

func (l *libraries) close() {
	for _, lib := range l.known {
		if lib.answer != nil {
			// Whoever watches it at last stops at once.
			go func() { a := <-lib.answer; (&library{links: a.links, file: lib.file}).close() }()
			continue
		}
		lib.close()
	}
}
