package exec

import (
	"bytes"
	"fmt"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Races on the LDS. An access happens before another one if a barrier lies
// between them, or an atomic operation on the LDS that the one's wave made after it
// and the other's wave before it, on the same place. Two accesses of different
// waves, neither of which happens before the other, race if one of them changes
// what is there, unless both are atomic. Writing what is there already changes
// nothing: all waves may set the same flag. Within a wave instructions execute in
// order; what races there is one instruction whose lanes write different values
// to one place.

// races are the accesses since the last barrier.
type races struct {
	epoch  uint32
	cells  []cell              // a dword of the LDS each
	synced map[uint64][]uint32 // by address: how far the waves had come that did something atomic there
}

// cell is what was done to a dword.
type cell struct {
	epoch   uint32
	written uint8 // the bytes that were ever
	seen    []ldsAccess
}

type effect uint8

const (
	reads    effect = iota
	rewrites        // writes what is there
	changes
	updates // atomically
)

// ldsAccess is an access by a wave.
type ldsAccess struct {
	pc     uint64
	clock  uint32 // of the wave, when it made it
	wave   uint8
	bytes  uint8 // of the dword
	effect effect
}

// conflicts reports whether two accesses that are not ordered race.
func (a effect) conflicts(b effect) bool {
	switch {
	case a == changes:
		return b == changes || b == reads || b == updates
	case b == changes:
		return a == reads || a == updates
	}
	return false // atomic operations, and those with reads: polling
}

// laneWrite is what a lane of the instruction that executes has written.
type laneWrite struct {
	serial uint64
	off    uint64
	value  [16]byte
}

// race notes the accesses of lanes, whose offsets in the LDS are in w.offs.
func (w *wave) race(a *memAccess, lanes uint64) {
	x := w.watched
	r := x.group.races
	x.serial++
	if a.atomic {
		w.synchronize(lanes)
	}
	lds := w.wg.lds
	me := uint8(w.id)
	pc := w.pc()
	data, values := a.stored(w)
	for m := lanes; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		off := w.offs[i]
		if off > uint64(len(lds)) || a.size > uint64(len(lds))-off {
			continue
		}
		e := reads
		switch {
		case a.atomic:
			e = updates
		case a.write:
			var buf [16]byte
			value := buf[:min(a.size, 16)]
			if values {
				laneBytes(value, data, i, a.upper())
				x.twoLanes(w, i, off, value)
			}
			if e = changes; values && bytes.Equal(value, lds[off:off+uint64(len(value))]) {
				e = rewrites // if it was written before; see note
			}
		}
		for at := off; at < off+a.size; at = at&^3 + 4 {
			n := min(off+a.size, at&^3+4) - at
			mask := uint8(1<<n-1) << (at & 3)
			w.note(r, &r.cells[at/4], ldsAccess{pc, x.clock[me], me, mask, e}, i, at)
		}
	}
}

// note notes an access to a dword and tells of one that it races with.
func (w *wave) note(r *races, c *cell, a ldsAccess, lane int, at uint64) {
	x := w.watched
	if c.epoch != r.epoch {
		c.epoch, c.seen = r.epoch, c.seen[:0]
	}
	if a.effect == rewrites && a.bytes&^c.written != 0 {
		a.effect = changes
	}
	if a.effect != reads {
		c.written |= a.bytes
	}
	same := -1
	for i := range c.seen {
		o := &c.seen[i]
		if o.wave == a.wave {
			if o.effect == a.effect && o.bytes == a.bytes {
				same = i
			}
			continue
		}
		if o.bytes&a.bytes != 0 && a.effect.conflicts(o.effect) && o.clock > x.clock[o.wave] {
			what := map[effect]string{reads: "reads", rewrites: "writes", changes: "writes", updates: "changes atomically"}
			w.find(CheckRace, lane, Finding{Detail: fmt.Sprintf("wave %d %s what wave %d %s at %#x of the LDS, without a barrier between", a.wave, what[a.effect], o.wave, what[o.effect], at),
				Other: o.pc})
		}
	}
	if same >= 0 {
		c.seen[same] = a
		return
	}
	c.seen = append(c.seen, a)
}

// synchronize makes atomic operations order what waves did before and do after.
func (w *wave) synchronize(lanes uint64) {
	x, r := w.watched, w.watched.group.races
	if r.synced == nil {
		r.synced = map[uint64][]uint32{}
	}
	for m := lanes; m != 0; m &= m - 1 {
		off := w.offs[bits.TrailingZeros64(m)&63]
		known := r.synced[off]
		if known == nil {
			if known = slices.Clone(x.clock); off < uint64(len(w.wg.lds)) {
				r.synced[off] = known
			}
			continue
		}
		for i := range known {
			t := max(known[i], x.clock[i])
			known[i], x.clock[i] = t, t
		}
	}
	x.clock[w.id]++
}

// twoLanes tells of lanes of one instruction that write different values to one place.
func (x *watched) twoLanes(w *wave, lane int, off uint64, value []byte) {
	h := off / 4 * 0x9e3779b1 >> 3
	for n := range uint64(len(x.lanes)) {
		s := &x.lanes[(h+n)%uint64(len(x.lanes))]
		if s.serial != x.serial {
			s.serial, s.off = x.serial, off
			copy(s.value[:], value)
			return
		}
		if s.off == off {
			if !bytes.Equal(s.value[:len(value)], value) {
				w.find(CheckRace, lane, Finding{Detail: fmt.Sprintf("lanes write different values to %#x of the LDS", off), Other: w.pc()})
			}
			return
		}
	}
}

// stored is the first register of what is stored; false if that is not one value.
func (a *memAccess) stored(w *wave) (*Vec, bool) {
	o := &a.in.Data
	if a.atomic || !a.write || len(a.dsOffs) > 1 {
		return nil, false
	}
	switch o.Kind {
	case gcn.VGPR:
		return &w.V[o.Index], true
	case gcn.AccVGPR:
		return &w.A[o.Index], true
	}
	return nil, false
}

// laneBytes are the bytes of a lane's value.
func laneBytes(dst []byte, v *Vec, lane int, high bool) {
	for k := range dst {
		if k > 0 && k%4 == 0 {
			v = upper(v)
		}
		word := (*[4]byte)(unsafe.Pointer(&v[lane]))
		if high {
			dst[k] = word[k%4+2]
			continue
		}
		dst[k] = word[k%4]
	}
}
