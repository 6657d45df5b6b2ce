package sysfs

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/smi"
)

// Bounds of what is read of one file.
const (
	maxLine  = 4 << 10  // a number
	maxText  = 64 << 10 // the kernel's text files are one page; fdinfo and /proc a few
	maxTable = 64 << 10 // structure_size of gpu_metrics has 16 bits
	maxPages = 4 << 20  // gpu_vram_bad_pages: 28 bytes a page
)

// tree is a file system below a directory.
type tree struct {
	root string
	// open is unix.Open; tests make single files fail with it.
	open func(path string, flags int, mode uint32) (int, error)
	// written, if it is there, sees what is about to be written, and may refuse; for
	// tests, as a file keeps only what was written last.
	written func(path, text string) error
}

func newTree(root string) tree {
	if root == "" {
		root = "/"
	}
	return tree{root: root, open: unix.Open}
}

func (t tree) path(name string) string { return filepath.Join(t.root, name) }

var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 4096); return &b }}

// with hands f what is in a file, at most limit bytes; a longer file is an error.
// f must not keep the bytes.
func (t tree) with(name string, limit int, f func([]byte) error) error {
	path := t.path(name)
	fd, err := retry(func() (int, error) { return t.open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOCTTY, 0) })
	if err != nil {
		return fileError("reading", path, err)
	}
	defer unix.Close(fd)
	bp := buffers.Get().(*[]byte)
	defer buffers.Put(bp)
	b := (*bp)[:0]
	for {
		if len(b) == cap(b) {
			b = append(b, make([]byte, cap(b))...)[:len(b)]
			*bp = b[:0]
		}
		n, err := retry(func() (int, error) { return unix.Read(fd, b[len(b):cap(b)]) })
		if err != nil {
			return fileError("reading", path, err)
		}
		b = b[:len(b)+n]
		switch {
		case len(b) > limit:
			return smi.Errorf(smi.ErrBadData, "%s is longer than %d bytes", path, limit)
		case n == 0, limit == maxLine && n > 0 && b[len(b)-1] == '\n':
			return f(b) // of a line nothing comes after its end
		}
	}
}

// text is what is in a file without the white space around it.
func (t tree) text(name string) (s string, err error) {
	err = t.with(name, maxText, func(b []byte) error {
		s = strings.TrimSpace(string(b))
		return nil
	})
	return s, err
}

// line is a file's text if it can be read and is a name: printable, one line.
func (t tree) line(name string) string {
	s, err := t.text(name)
	if err != nil || len(s) > 256 {
		return ""
	}
	for _, r := range s {
		if r < ' ' || r == 0x7f || r == 0xfffd {
			return ""
		}
	}
	return s
}

// number is the number in a file, decimal or with 0x.
func (t tree) number(name string) (v uint64, err error) {
	err = t.with(name, maxLine, func(b []byte) error {
		v, err = strconv.ParseUint(strings.TrimSpace(string(b)), 0, 64)
		if err != nil {
			return smi.Errorf(smi.ErrBadData, "%s holds no number", t.path(name))
		}
		return nil
	})
	return v, err
}

// signed is the decimal number in a file.
func (t tree) signed(name string) (v int64, err error) {
	err = t.with(name, maxLine, func(b []byte) error {
		v, err = strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
		if err != nil {
			return smi.Errorf(smi.ErrBadData, "%s holds no number", t.path(name))
		}
		return nil
	})
	return v, err
}

// maxEntries is how many names of one directory are looked at.
const maxEntries = 1 << 17

// list is the names in a directory.
func (t tree) list(name string) ([]string, error) {
	path := t.path(name)
	d, err := os.Open(path)
	if err != nil {
		return nil, fileError("reading", path, err)
	}
	defer d.Close()
	names, err := d.Readdirnames(maxEntries)
	if err != nil && len(names) == 0 {
		if err.Error() == "EOF" {
			return nil, nil
		}
		return nil, fileError("reading", path, err)
	}
	return names, nil
}

// exists reports whether a name is there.
func (t tree) exists(name string) bool {
	_, err := os.Stat(t.path(name))
	return err == nil
}

// write puts text into a file that is there.
func (t tree) write(name, text string) error {
	path := t.path(name)
	fd, err := retry(func() (int, error) { return t.open(path, unix.O_WRONLY|unix.O_TRUNC|unix.O_CLOEXEC|unix.O_NOCTTY, 0) })
	if err != nil {
		return fileError("writing", path, err)
	}
	if t.written != nil {
		err = t.written(path, text)
	}
	if err == nil {
		_, err = retry(func() (int, error) { return unix.Write(fd, []byte(text)) })
	}
	if cerr := unix.Close(fd); err == nil {
		err = cerr
	}
	if err != nil {
		return fileError("writing", path, err)
	}
	return nil
}

func retry(f func() (int, error)) (int, error) {
	for {
		n, err := f()
		if err != unix.EINTR {
			return n, err
		}
	}
}

// fileError says what a failure with a file means. The files of amdgpu answer
// EINVAL and EOPNOTSUPP when the card does not have the figure, EPERM and EBUSY
// while it is being reset, ENODEV when it is gone.
func fileError(doing, path string, err error) error {
	var errno unix.Errno
	if !errors.As(err, &errno) {
		return smi.Errorf(smi.ErrIO, "%s %s: %w", doing, path, err)
	}
	code := smi.ErrIO
	switch errno {
	case unix.ENOENT, unix.ENOTDIR, unix.EOPNOTSUPP, unix.ENOTTY, unix.ENODATA:
		code = smi.ErrNotSupported
	case unix.EACCES, unix.EPERM, unix.EROFS:
		code = smi.ErrNoPermission
	case unix.EINVAL, unix.ERANGE:
		code = smi.ErrNotSupported
		if doing == "writing" {
			code = smi.ErrInvalid
		}
	case unix.ENODEV, unix.ENXIO, unix.ESRCH:
		code = smi.ErrUnavailable
	case unix.EBUSY, unix.EAGAIN:
		code = smi.ErrBusy
	case unix.ETIME, unix.ETIMEDOUT:
		code = smi.ErrTimeout
	}
	return smi.Errorf(code, "%s %s: %w", doing, path, errno)
}

// gone reports whether a failure may mean that what the file belongs to is gone.
func gone(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENODEV) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ENXIO)
}
