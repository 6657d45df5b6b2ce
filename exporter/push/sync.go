package push

import (
	"errors"
	"os"
)

// maxRetired is how many files may wait to be synced and closed.
const maxRetired = 8

// dirty is what was changed and not synced yet. Syncing takes as long as the disk
// likes, so it is done beside the queue, for many changes at once.
type dirty struct {
	retired   []*os.File // to be closed as well
	data      bool       // disk.w
	names     bool       // the folder
	moved     bool       // the cursor
	err       error      // what failed already
	dir       *os.Root
	cursor, w *os.File
}

func (t *dirty) any() bool { return len(t.retired) > 0 || t.data || t.names || t.moved || t.err != nil }

// takeDirty hands over what is to be synced.
func (d *disk) takeDirty() dirty {
	t := d.dirty
	t.dir, t.cursor, t.w = d.dir, d.cursor, d.w
	d.dirty = dirty{}
	return t
}

// sync writes it to the disk. Files that were closed meanwhile were synced by who
// closed them, or are of no use any more.
func (t dirty) sync() error {
	errs := []error{t.err}
	do := func(f *os.File) {
		if err := f.Sync(); err != nil && !errors.Is(err, os.ErrClosed) {
			errs = append(errs, err)
		}
	}
	for _, f := range t.retired {
		do(f)
		_ = f.Close()
	}
	if t.data {
		do(t.w)
	}
	if t.moved {
		do(t.cursor)
	}
	if t.names {
		if f, err := t.dir.Open("."); err == nil {
			do(f)
			_ = f.Close()
		} else if !errors.Is(err, os.ErrClosed) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// synced reports a failure of sync once, until it is over or another one.
func (d *disk) synced(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != d.trouble && text != "" {
		d.log.Warn("the queue may not survive a power cut", "reason", text)
	}
	d.trouble = text
}

// saveHead notes how far was sent.
func (d *disk) saveHead() {
	if _, err := d.cursor.WriteAt(appendCursor(nil, d.head), 0); err != nil {
		d.dirty.err = err
		return
	}
	d.dirty.moved = true
}
