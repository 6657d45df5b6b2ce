package push

import (
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"math"
	"os"
)

// errDamaged is what a file fails with that holds no records.
var errDamaged = errors.New("not a file of records")

// disk is a queue of records in the files of a folder. It is for one goroutine at a
// time.
type disk struct {
	dir    *os.Root
	lock   *os.File
	cursor *os.File
	log    *slog.Logger

	maxBytes, segBytes int64

	segs []*segment // oldest first; the last one is written to if w is not nil
	w    *os.File
	buf  []byte
	head uint64 // number of the oldest record that waits, if head < tail
	tail uint64 // number of the next record written

	r    *frames // of segs[0]; nil: not opened
	rf   *os.File
	cur  *record // numbered head: it was read and waits
	read int64   // of segs[0] is behind the reader, without cur

	corrupt uint64 // records found to be lost
	dirty   dirty
	trouble string // with what is not necessary: syncing, noting what was sent
}

// segmentBytes is how large one file becomes: little is dropped at once, and there are
// few files.
func segmentBytes(maxBytes int64) int64 { return min(maxBytes/16, 4<<20) }

func openDisk(path string, maxBytes int64, log *slog.Logger) (d *disk, err error) {
	d = &disk{log: log, maxBytes: maxBytes, segBytes: segmentBytes(maxBytes)}
	if d.dir, d.lock, err = openFolder(path); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			d.release()
		}
	}()
	var sent uint64
	if d.cursor, sent, err = openCursor(d.dir); err != nil {
		return nil, err
	}
	oldest, err := d.list()
	if err != nil {
		return nil, err
	}
	if err := d.resume(); err != nil {
		return nil, err
	}
	d.head = sent
	if sent == 0 { // not known: everything is sent again
		d.head = oldest
	}
	d.tail = max(d.tail, d.head)
	d.free()
	d.saveHead()
	return d, nil
}

// list finds the files that are there. Those that cannot be used are removed; how many
// records that costs is known once the next file is read, by their numbers.
func (d *disk) list() (oldest uint64, err error) {
	entries, err := fs.ReadDir(d.dir.FS(), ".") // in the order of their names
	if err != nil {
		return 0, err
	}
	oldest = math.MaxUint64
	last := true // the last one can be used
	for _, e := range entries {
		first, ok := parseName(e.Name())
		if !ok {
			continue
		}
		oldest = min(oldest, max(first, 1))
		f, s, err := openSegment(d.dir, first, os.O_RDONLY)
		last = err == nil
		if err != nil {
			d.log.Warn("a file of the queue cannot be used", "file", e.Name(), "reason", err)
			if err := d.dir.Remove(e.Name()); err != nil {
				return 0, err // it would be there under a name that is used again
			}
			continue
		}
		_ = f.Close()
		d.segs = append(d.segs, s)
	}
	if !last {
		d.corrupt++ // one at least; there is no next file
	}
	if len(d.segs) == 0 {
		oldest = 1
	}
	return oldest, nil
}

// resume finds the end of the last file, cuts off what was not written completely, and
// goes on there.
func (d *disk) resume() error {
	d.tail = 1
	if len(d.segs) == 0 {
		return nil
	}
	last := d.segs[len(d.segs)-1]
	f, s, err := openSegment(d.dir, last.first, os.O_RDWR)
	if err != nil {
		return err
	}
	d.tail = s.first
	good := int64(segmentHeader)
	for fr := s.frames(f); ; good = fr.off {
		r, err := fr.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			d.log.Warn("the end of the queue cannot be read", "file", segmentName(s.first), "reason", err)
			_ = f.Close()
			return nil // the next record goes to another file; what can be read of this one is
		}
		d.tail = max(d.tail, r.seq+1)
	}
	if good < s.size {
		d.corrupt++ // whether it was one record that was being written, or more, nobody knows
		if err := f.Truncate(good); err != nil {
			_ = f.Close()
			return err
		}
	}
	last.size, d.w = good, f
	return nil
}

// size is of all files, in bytes.
func (d *disk) size() (n int64) {
	for _, s := range d.segs {
		n += s.size
	}
	return n
}

// waiting tells how many records wait, and how large they are.
func (d *disk) waiting() (records, bytes int64) {
	if d.head == d.tail {
		return 0, 0
	}
	bytes = d.size() - int64(len(d.segs))*segmentHeader
	if d.read > 0 {
		bytes -= d.read - segmentHeader
	}
	return int64(d.tail - d.head), max(bytes, 0)
}

// close writes everything to the disk and lets another process use the folder.
func (d *disk) close() error {
	err := d.takeDirty().sync()
	d.release()
	return err
}

// release closes what is open.
func (d *disk) release() {
	for _, f := range []*os.File{d.w, d.rf, d.cursor, d.lock} {
		if f != nil {
			_ = f.Close()
		}
	}
	_ = d.dir.Close()
}
