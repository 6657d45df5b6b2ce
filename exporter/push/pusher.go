package push

import (
	"path/filepath"
	"sync"
	"time"
)

// besideDisk is how much may wait in memory while the disk takes nothing.
const besideDisk = 8 << 20

// syncPause is how long after a change files are synced.
const syncPause = time.Second

// Pusher is one sink's queue and what sends from it. What waits on disk is older than
// what waits in memory.
type Pusher struct {
	opt  Options
	wake chan struct{} // there is something to send; capacity 1

	mu      sync.Mutex
	disk    *disk // nil: no folder
	mem     memory
	cur     *record // the one that Run is about; nil: none
	sending bool    // cur is on its way: whoever drops it does not count it
	syncing bool    // files will be synced
	closed  bool

	sm sync.Mutex // separate, so that nobody who asks for figures waits for a disk
	st Stats
}

// Open opens the queue of a sink, with what waits in it since the last time. If
// another process has it open, the error Is ErrInUse and says which one.
func Open(opt Options) (*Pusher, error) {
	if err := opt.check(); err != nil {
		return nil, err
	}
	p := &Pusher{opt: opt, wake: make(chan struct{}, 1)}
	p.st.Name = opt.Name
	if opt.Dir != "" {
		var err error
		if p.disk, err = openDisk(filepath.Join(opt.Dir, opt.Name), opt.MaxBytes, opt.Log); err != nil {
			return nil, err
		}
	}
	p.publish()
	return p, nil
}

// Put adds a record, of which it keeps a copy. When it returns nil the record survives
// the end of the process, if the queue has a folder and its disk takes it. It never
// waits for the network. Its errors are ErrClosed and ErrTooLarge.
func (p *Pusher) Put(data []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return ErrClosed
	}
	r := &record{time: time.Now(), data: data}
	if r.size() > p.opt.MaxBytes-segmentHeader || r.size() > p.memoryBytes() {
		return ErrTooLarge
	}
	if p.disk == nil || !p.flush() || !p.write(r) {
		r.data = append([]byte(nil), data...)
		p.mem.push(r)
	}
	p.crowd()
	p.publish()
	select {
	case p.wake <- struct{}{}:
	default:
	}
	return nil
}

// memoryBytes is how much may wait in memory.
func (p *Pusher) memoryBytes() int64 {
	if p.disk == nil {
		return p.opt.MaxBytes
	}
	return besideDisk
}

// flush writes what waits in memory to the disk, in order; false: not all of it.
func (p *Pusher) flush() bool {
	for len(p.mem.recs) > 0 {
		if !p.write(p.mem.recs[0]) {
			return false
		}
		p.mem.pop()
	}
	return true
}

// write writes a record to the disk; false: the disk does not take it.
func (p *Pusher) write(r *record) bool {
	dropped, err := p.disk.append(r)
	p.crowded(dropped)
	p.diskState(err)
	if p.disk.dirty.any() {
		p.syncSoon()
	}
	return err == nil
}

// diskState notes whether the disk takes records, and tells when that changes.
func (p *Pusher) diskState(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	p.sm.Lock()
	before := p.st.DiskError
	p.st.DiskError = text
	p.sm.Unlock()
	switch {
	case before == "" && text != "":
		p.opt.Log.Warn("the queue's disk takes no records; they wait in memory", "reason", text)
	case before != "" && text == "":
		p.opt.Log.Info("the queue's disk takes records again")
	}
}

// crowd drops the oldest records until the others have room in memory. Those on disk
// are older, and what they leave may be used for those in memory.
func (p *Pusher) crowd() {
	for p.mem.bytes > p.memoryBytes() {
		if p.disk != nil && len(p.disk.segs) > 0 {
			before := p.mem.bytes
			dropped := p.disk.dropOldest()
			p.crowded(dropped)
			if p.flush() || p.mem.bytes < before || dropped.len() > 0 {
				continue
			}
		}
		p.popMemory(func(st *Stats) { st.Crowded++ })
	}
}

// crowded counts records that were dropped from the disk to make room.
func (p *Pusher) crowded(dropped span) {
	n := dropped.len()
	if p.sending && p.cur.seq != 0 && dropped.has(p.cur.seq) {
		n-- // whether it was sent will be known later
	}
	p.count(func(st *Stats) { st.Crowded += n })
}

// popMemory drops the oldest record in memory and counts it.
func (p *Pusher) popMemory(count func(*Stats)) {
	if !p.sending || p.cur != p.mem.recs[0] {
		p.count(count)
	}
	p.mem.pop()
}

func (p *Pusher) count(f func(*Stats)) {
	p.sm.Lock()
	defer p.sm.Unlock()
	f(&p.st)
}

// syncSoon has files synced in a while.
func (p *Pusher) syncSoon() {
	if p.syncing {
		return
	}
	p.syncing = true
	time.AfterFunc(syncPause, func() {
		p.mu.Lock()
		p.syncing = false
		if p.closed {
			p.mu.Unlock()
			return
		}
		t := p.disk.takeDirty()
		p.mu.Unlock()
		err := t.sync()
		p.mu.Lock()
		p.disk.synced(err)
		p.mu.Unlock()
	})
}

// Close ends the queue; what waits on disk is there again after the next Open. Run
// must have returned.
func (p *Pusher) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	if p.disk == nil {
		p.closed = true
		return nil
	}
	p.flush()
	p.publish()
	p.closed = true
	return p.disk.close()
}
