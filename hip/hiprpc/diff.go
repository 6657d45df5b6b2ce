package hiprpc

import (
	"encoding/binary"
	"errors"
	"math/bits"

	"github.com/rocwire/rocwire/internal/pagewatch"
)

// Host memory that kernels use exists twice, once in the client and once on the worker, and each side keeps a twin: the bytes both sides
// last agreed on. A difference between memory and twin is what this side wrote since. Only those bytes travel, so two sides that write
// different bytes of one page do not undo each other.
//
// A difference is a sequence of changed 64-byte blocks: uvarint number of unchanged blocks before it, u64 little-endian mask of changed
// bytes (bit i = byte i), and the changed bytes in order.

// Block is the unit of comparison in bytes. The last block of a memory may be shorter; all offsets but that of the end are multiples of it.
const Block = 64

// ErrDiff says that a difference from the other side does not fit the memory it is for.
var ErrDiff = errors.New("hiprpc: malformed difference of host memory")

// AppendDiff appends the difference between mem and twin from byte offset from on, makes twin equal to what it saw of mem, and stops
// when dst has grown by about limit bytes. It returns dst and the offset to go on from; len(mem) when all is compared.
// The gap of the first block counts from the offset from. mem may change meanwhile: every byte that is sent is looked at once.
func AppendDiff(dst []byte, mem, twin []byte, from, limit int) ([]byte, int) {
	d := Differ{Mem: mem, Twin: twin, Diff: dst, Limit: len(dst) + limit, at: from}
	next, _ := d.Look(from, len(mem))
	return d.Diff, next
}

// Differ makes one difference of several parts of a memory.
type Differ struct {
	Mem, Twin []byte
	Diff      []byte // what was found; Limit is about how long it may become
	Limit     int

	at int // the offset from which the next gap counts
}

// NewDiffer is for a difference from an offset on.
func NewDiffer(mem, twin []byte, from, limit int) Differ {
	return Differ{Mem: mem, Twin: twin, Limit: limit, at: from}
}

// equalPiece is how many bytes are compared at once as long as they are equal.
const equalPiece = 4096

// Look compares the bytes from one offset to another, which follows on what was looked at before or leaves some out. It returns the offset to go on from, to
// or less if the difference has become long enough, and whether there was any.
func (d *Differ) Look(from, to int) (next int, changed bool) {
	var b [Block]byte
	for from < to {
		if n := min(equalPiece, to-from); string(d.Mem[from:from+n]) == string(d.Twin[from:from+n]) {
			from += n
			continue
		}
		for end := min(from+equalPiece, to); from < end; {
			n := min(Block, len(d.Mem)-from)
			t := d.Twin[from : from+n : from+n]
			copy(b[:], d.Mem[from:from+n])
			if string(b[:n]) == string(t) {
				from += n
				continue
			}
			if len(d.Diff) >= d.Limit {
				return from, changed
			}
			d.Diff = binary.AppendUvarint(d.Diff, uint64(from-d.at)/Block)
			d.block(b[:n:n], t)
			copy(t, b[:n])
			from += n
			d.at, changed = from, true
		}
	}
	return to, changed
}

// LookAt compares what was written since it was last looked at, and returns the offset to go on from: the length of the memory when that is all.
func (d *Differ) LookAt(w *pagewatch.Watch) int {
	for from := d.at; ; {
		p, ok := w.Next(from, Block)
		if !ok {
			return len(d.Mem)
		}
		next, changed := d.Look(p.From, p.To)
		if next < p.To {
			return next
		}
		w.Looked(p, changed)
		from = p.To
	}
}

// block appends the mask of what has changed, and those bytes.
func (d *Differ) block(b, t []byte) {
	mask := changedBytes(b, t)
	d.Diff = binary.LittleEndian.AppendUint64(d.Diff, mask)
	if mask == ^uint64(0) {
		d.Diff = append(d.Diff, b...)
		return
	}
	for rest := mask; rest != 0; {
		first := bits.TrailingZeros64(rest)
		n := bits.TrailingZeros64(^(rest >> first))
		d.Diff = append(d.Diff, b[first:first+n]...)
		rest &^= (1<<n - 1) << first
	}
}

// changedBytes has a bit for every byte of b, at most a block, in which t differs.
func changedBytes(b, t []byte) (mask uint64) {
	const low, high = 0x7f7f7f7f7f7f7f7f, 0x8080808080808080
	i := 0
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:]) ^ binary.LittleEndian.Uint64(t[i:])
		x = ((x & low) + low | x) & high               // the highest bit of each byte that differs
		mask |= x >> 7 * 0x0102040810204080 >> 56 << i // gathered in eight bits
	}
	for ; i < len(b); i++ {
		if b[i] != t[i] {
			mask |= 1 << i
		}
	}
	return mask
}

// CheckDiff says whether diff, starting at offset from, stays inside size bytes.
func CheckDiff(diff []byte, size, from int) error {
	return walkDiff(diff, size, from, func(int, uint64, []byte) {})
}

// ApplyDiff writes diff, made from offset from on, into mem and twin. Nothing is written unless all of it fits.
func ApplyDiff(mem, twin, diff []byte, from int) error {
	if err := CheckDiff(diff, min(len(mem), len(twin)), from); err != nil {
		return err
	}
	return walkDiff(diff, len(mem), from, func(off int, mask uint64, data []byte) {
		end := min(off+Block, len(mem))
		m, t := mem[off:end:end], twin[off:end:end]
		if mask == ^uint64(0) {
			copy(m, data)
			copy(t, data)
			return
		}
		for i := 0; mask != 0; mask &= mask - 1 {
			at := bits.TrailingZeros64(mask)
			m[at], t[at] = data[i], data[i]
			i++
		}
	})
}

// DiffRuns calls run for every run of changed bytes of diff, in order, with its offset, and adjoining ones as one. The bytes are valid during the call.
func DiffRuns(diff []byte, size, from int, run func(off int, data []byte)) error {
	at, pending := 0, []byte(nil)
	flush := func() {
		if len(pending) > 0 {
			run(at, pending)
		}
		pending = pending[:0]
	}
	err := walkDiff(diff, size, from, func(off int, mask uint64, data []byte) {
		for mask != 0 {
			first := bits.TrailingZeros64(mask)
			n := bits.TrailingZeros64(^(mask >> first))
			if off+first != at+len(pending) {
				flush()
				at = off + first
			}
			pending, data = append(pending, data[:n]...), data[n:]
			mask &^= (1<<n - 1) << first
		}
	})
	flush()
	return err
}

func walkDiff(diff []byte, size, from int, block func(off int, mask uint64, data []byte)) error {
	if from < 0 || from > size || from%Block != 0 && from != size {
		return ErrDiff
	}
	off := uint64(from)
	for len(diff) > 0 {
		gap, n := binary.Uvarint(diff)
		if n <= 0 || gap > uint64(size)/Block || len(diff)-n < 8 {
			return ErrDiff
		}
		mask := binary.LittleEndian.Uint64(diff[n:])
		diff = diff[n+8:]
		off += gap * Block
		k := bits.OnesCount64(mask)
		if off >= uint64(size) || k == 0 || k > len(diff) || uint64(bits.Len64(mask)) > uint64(size)-off {
			return ErrDiff
		}
		block(int(off), mask, diff[:k])
		diff = diff[k:]
		off += Block
	}
	return nil
}
