package push

import (
	"errors"
	"io"
	"os"
)

// peek returns the oldest record that waits, or nil if none does. What is found to be
// lost before it is counted. An error may be over the next time.
func (d *disk) peek() (*record, error) {
	for d.head < d.tail {
		if d.cur != nil {
			return d.cur, nil
		}
		if len(d.segs) == 0 {
			d.lost(d.tail)
			break
		}
		if err := d.openReader(); err != nil {
			return nil, err
		}
		limit := d.tail // of the numbers that may be in the file
		if len(d.segs) > 1 {
			limit = min(limit, d.segs[1].first)
		}
		r, err := d.nextFrame()
		switch {
		case err != nil:
			gone := len(d.segs) == 1 && err != io.EOF
			if err != io.EOF {
				d.log.Warn("a file of the queue cannot be read", "file", segmentName(d.segs[0].first), "reason", err)
			}
			d.lost(limit)
			if gone { // what is written to it may be lost as well
				d.retire()
				d.forget(0)
			}
		case r.seq < d.head || r.seq >= limit:
			d.read = d.r.off
		default:
			d.lost(r.seq)
			d.cur, d.read = r, d.r.off-r.size()
		}
	}
	return nil, nil
}

// openReader opens the oldest file. One that is no longer there, or no longer what it
// was, has no reader.
func (d *disk) openReader() error {
	if d.r != nil {
		return nil
	}
	f, s, err := openSegment(d.dir, d.segs[0].first, os.O_RDONLY)
	if err == nil {
		d.rf, d.r, d.read = f, s.frames(f), segmentHeader
		return nil
	}
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, errDamaged) {
		d.r = &frames{r: noFile{}}
		return nil
	}
	return err
}

// noFile is what a file reads like that was taken away.
type noFile struct{}

func (noFile) ReadAt([]byte, int64) (int, error) { return 0, io.EOF }

// nextFrame reads on in the oldest file. After an error nothing more comes from it.
func (d *disk) nextFrame() (*record, error) {
	d.r.end = d.segs[0].size
	r, err := d.r.next()
	if err != nil {
		d.r.off, d.read = d.r.end, d.r.end
	}
	return r, err
}

// lost counts the records up to before next that should have been there.
func (d *disk) lost(next uint64) {
	if next > d.head {
		d.corrupt += next - d.head
		d.setHead(next)
	}
}

// setHead says that no record below next waits any more.
func (d *disk) setHead(next uint64) {
	d.head = max(d.head, next)
	if d.cur != nil && d.cur.seq < d.head {
		d.cur, d.read = nil, d.r.off
	}
	d.free()
	d.saveHead()
}

// free removes files in which nothing waits. The last one is kept, to be written to.
func (d *disk) free() {
	for len(d.segs) > 1 && d.segs[1].first <= d.head {
		d.forget(0)
	}
}

func (d *disk) closeReader() {
	if d.rf != nil {
		_ = d.rf.Close()
	}
	d.r, d.rf, d.cur, d.read = nil, nil, nil, 0
}
