package session

import (
	"math/bits"
	"slices"
)

// region is memory that the session has allocated.
type region struct {
	base, size uint64
	device     int32
	placed     bool // where the client wanted it
}

// regions are all of them, by address. None overlaps another.
type regions struct {
	list []region
}

// find is the index of the first region that ends behind p.
func (r *regions) find(p uint64) int {
	i, _ := slices.BinarySearchFunc(r.list, p, func(x region, p uint64) int {
		if x.base+x.size <= p {
			return -1
		}
		return 1
	})
	return i
}

// add notes a region. What was there in its place was freed without our knowing.
func (r *regions) add(x region) {
	i := r.find(x.base)
	n := i
	for n < len(r.list) && r.list[n].base < x.base+x.size {
		n++
	}
	r.list = slices.Replace(r.list, i, n, x)
}

// at is the region that begins at p.
func (r *regions) at(p uint64) (region, bool) {
	i := r.find(p)
	if i < len(r.list) && r.list[i].base == p {
		return r.list[i], true
	}
	return region{}, false
}

// remove forgets the region that begins at p.
func (r *regions) remove(p uint64) {
	if i := r.find(p); i < len(r.list) && r.list[i].base == p {
		r.list = slices.Delete(r.list, i, i+1)
	}
}

// has reports whether n bytes at p lie in one region.
func (r *regions) has(p, n uint64) bool {
	i := r.find(p)
	if i == len(r.list) {
		return false
	}
	x := &r.list[i]
	return p >= x.base && n <= x.size && p-x.base <= x.size-n
}

// clear forgets the regions of a device.
func (r *regions) clear(device int32) {
	r.list = slices.DeleteFunc(r.list, func(x region) bool { return x.device == device })
}

// rows is the bytes from the first to behind the last of height rows, false if that is more than there can be.
func rows(pitch, width, height uint64) (uint64, bool) {
	if width == 0 || height == 0 {
		return 0, true
	}
	hi, n := bits.Mul64(pitch, height-1)
	n, over := bits.Add64(n, width, 0)
	return n, hi == 0 && over == 0
}

// hasRows reports whether rows lie in one region.
func (r *regions) hasRows(p, pitch, width, height uint64) bool {
	n, ok := rows(pitch, width, height)
	return ok && (n == 0 || r.has(p, n))
}
