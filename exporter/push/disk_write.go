package push

import (
	"errors"
	"os"
)

// append writes a record, numbers it, and makes room for it: it tells how many waiting
// records it dropped for that, of those with numbers below from. An error changes
// nothing but that.
func (d *disk) append(r *record) (dropped span, err error) {
	rotate := d.w == nil || d.last().size > segmentHeader && d.last().size+r.size() > d.segBytes
	need := r.size()
	if rotate {
		need += segmentHeader
	}
	dropped = span{d.head, d.head}
	for len(d.segs) > 0 && d.size()+need > d.maxBytes {
		dropped.end = d.dropOldest().end
		if len(d.segs) == 0 {
			rotate = true
		}
	}
	if rotate {
		if err := d.rotate(); err != nil {
			return dropped, err
		}
	}
	s := d.last()
	seq := r.seq
	r.seq = d.tail
	d.buf = appendFrame(d.buf[:0], r, s.salt)
	n, err := d.w.WriteAt(d.buf, s.size)
	if cap(d.buf) > maxKeptBuffer {
		d.buf = nil
	}
	if err != nil {
		r.seq = seq
		if n > 0 && d.w.Truncate(s.size) != nil {
			d.retire() // what was written of it stays behind the end; nobody reads there
		}
		return dropped, err
	}
	s.size += int64(n)
	d.tail++
	d.dirty.data = true
	return dropped, nil
}

// maxKeptBuffer is how large a buffer is kept for the next record.
const maxKeptBuffer = 1 << 20

// span is the numbers from begin to before end.
type span struct{ begin, end uint64 }

func (s span) has(n uint64) bool { return n >= s.begin && n < s.end }
func (s span) len() uint64       { return s.end - s.begin }

func (d *disk) last() *segment { return d.segs[len(d.segs)-1] }

// rotate begins a new file.
func (d *disk) rotate() error {
	d.retire()
	if n := len(d.segs); n > 0 && d.segs[n-1].first == d.tail { // nothing was ever written to it
		d.forget(n - 1)
	}
	f, s, err := createSegment(d.dir, d.tail)
	if errors.Is(err, os.ErrExist) { // it was to be removed and could not be
		if err = d.dir.Remove(segmentName(d.tail)); err == nil {
			f, s, err = createSegment(d.dir, d.tail)
		}
	}
	if err != nil {
		return err
	}
	d.segs, d.w = append(d.segs, s), f
	d.dirty.names = true
	d.free()
	return nil
}

// retire ends writing to the last file.
func (d *disk) retire() {
	if d.w == nil {
		return
	}
	d.dirty.retired = append(d.dirty.retired, d.w)
	d.w, d.dirty.data = nil, false
	if len(d.dirty.retired) > maxRetired {
		d.synced(d.takeDirty().sync())
	}
}

// dropOldest drops the oldest file, and tells which records waited in it.
func (d *disk) dropOldest() span {
	end := d.tail
	if len(d.segs) > 1 {
		end = max(d.segs[1].first, d.head)
	} else {
		d.retire()
	}
	dropped := span{d.head, end}
	d.forget(0)
	d.setHead(end)
	return dropped
}

// forget removes a file.
func (d *disk) forget(i int) {
	if i == 0 {
		d.closeReader()
	}
	name := segmentName(d.segs[i].first)
	d.segs = append(d.segs[:i:i], d.segs[i+1:]...)
	d.dirty.names = true
	if err := d.dir.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		d.log.Warn("a file of the queue cannot be removed", "file", name, "reason", err)
	}
}
