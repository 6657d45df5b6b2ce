package codeobject

// A reader for the MessagePack of kernel metadata. It works on the note's
// bytes, allocates nothing that the input only announces, and bounds nesting.

// maxDepth bounds nested maps and arrays.
const maxDepth = 16

type msgReader struct {
	b   []byte
	at  int
	off uint64 // of b[0] in the image, for errors

	room *budget // for what is kept of it
}

// keep takes n bytes for what the next value describes.
func (r *msgReader) keep(n int) error { return r.room.spend(uint64(n), r.off+uint64(r.at)) }

func (r *msgReader) fail(format string, args ...any) error {
	return invalid(r.off+uint64(r.at), "metadata: "+format, args...)
}

// take returns the next n bytes.
func (r *msgReader) take(n int) ([]byte, error) {
	if n < 0 || n > len(r.b)-r.at {
		return nil, r.fail("%d bytes wanted, %d left", n, len(r.b)-r.at)
	}
	p := r.b[r.at : r.at+n]
	r.at += n
	return p, nil
}

// number reads a big-endian unsigned number of n bytes.
func (r *msgReader) number(n int) (uint64, error) {
	p, err := r.take(n)
	var v uint64
	for _, c := range p {
		v = v<<8 | uint64(c)
	}
	return v, err
}

func (r *msgReader) peek() (byte, error) {
	if r.at >= len(r.b) {
		return 0, r.fail("ends where a value should be")
	}
	return r.b[r.at], nil
}

// count reads a length of n bytes; each of that many things takes at least
// `least` bytes.
func (r *msgReader) count(n, least int) (int, error) {
	v, err := r.number(n)
	if err != nil {
		return 0, err
	}
	return r.fits(v, least)
}

func (r *msgReader) fits(v uint64, least int) (int, error) {
	if v > uint64(len(r.b)-r.at)/uint64(least) {
		return 0, r.fail("%d elements announced with %d bytes left", v, len(r.b)-r.at)
	}
	return int(v), nil
}

// mapLen reads the head of a map and returns its number of pairs.
func (r *msgReader) mapLen() (int, error) {
	t, err := r.peek()
	if err != nil {
		return 0, err
	}
	r.at++
	switch {
	case t&0xf0 == 0x80:
		return r.fits(uint64(t&15), 2)
	case t == 0xde:
		return r.count(2, 2)
	case t == 0xdf:
		return r.count(4, 2)
	}
	r.at--
	return 0, r.fail("type %#x where a map should be", t)
}

// arrayLen reads the head of an array and returns its number of elements.
func (r *msgReader) arrayLen() (int, error) {
	t, err := r.peek()
	if err != nil {
		return 0, err
	}
	r.at++
	switch {
	case t&0xf0 == 0x90:
		return r.fits(uint64(t&15), 1)
	case t == 0xdc:
		return r.count(2, 1)
	case t == 0xdd:
		return r.count(4, 1)
	}
	r.at--
	return 0, r.fail("type %#x where an array should be", t)
}

// str reads a string; the result is a part of the note.
func (r *msgReader) str() ([]byte, error) {
	t, err := r.peek()
	if err != nil {
		return nil, err
	}
	r.at++
	var n int
	switch {
	case t&0xe0 == 0xa0:
		n, err = r.fits(uint64(t&31), 1)
	case t == 0xd9:
		n, err = r.count(1, 1)
	case t == 0xda:
		n, err = r.count(2, 1)
	case t == 0xdb:
		n, err = r.count(4, 1)
	default:
		r.at--
		return nil, r.fail("type %#x where a string should be", t)
	}
	if err != nil {
		return nil, err
	}
	return r.take(n)
}

// uint reads a number that is not negative; false and true are 0 and 1, as
// some producers write flags.
func (r *msgReader) uint() (uint64, error) {
	t, err := r.peek()
	if err != nil {
		return 0, err
	}
	r.at++
	switch {
	case t < 0x80:
		return uint64(t), nil
	case t == 0xc2 || t == 0xc3:
		return uint64(t - 0xc2), nil
	case t >= 0xcc && t <= 0xcf:
		return r.number(1 << (t - 0xcc))
	case t >= 0xd0 && t <= 0xd3:
		n := 1 << (t - 0xd0)
		v, err := r.number(n)
		if err == nil && v>>(8*n-1) != 0 {
			return 0, r.fail("negative number where none can be")
		}
		return v, err
	}
	r.at--
	return 0, r.fail("type %#x where a number should be", t)
}

// u32 reads a number of at most 32 bits.
func (r *msgReader) u32() (uint32, error) {
	v, err := r.uint()
	if err == nil && v>>32 != 0 {
		return 0, r.fail("number %d needs more than 32 bits", v)
	}
	return uint32(v), err
}

// skip passes over one value of any kind.
func (r *msgReader) skip(depth int) error {
	if depth > maxDepth {
		return r.fail("nested deeper than %d", maxDepth)
	}
	t, err := r.peek()
	if err != nil {
		return err
	}
	switch {
	case t&0xf0 == 0x80 || t == 0xde || t == 0xdf:
		n, err := r.mapLen()
		for i := 0; i < 2*n && err == nil; i++ {
			err = r.skip(depth + 1)
		}
		return err
	case t&0xf0 == 0x90 || t == 0xdc || t == 0xdd:
		n, err := r.arrayLen()
		for i := 0; i < n && err == nil; i++ {
			err = r.skip(depth + 1)
		}
		return err
	case t&0xe0 == 0xa0 || t >= 0xd9 && t <= 0xdb:
		_, err := r.str()
		return err
	}
	r.at++
	n := 0
	switch {
	case t < 0x80 || t >= 0xe0 || t == 0xc0 || t == 0xc2 || t == 0xc3:
	case t >= 0xc4 && t <= 0xc6: // binary
		n, err = r.count(1<<(t-0xc4), 1)
	case t >= 0xc7 && t <= 0xc9: // extension: length, type, data
		if n, err = r.count(1<<(t-0xc7), 1); err == nil {
			n++
		}
	case t == 0xca:
		n = 4
	case t == 0xcb:
		n = 8
	case t >= 0xcc && t <= 0xcf:
		n = 1 << (t - 0xcc)
	case t >= 0xd0 && t <= 0xd3:
		n = 1 << (t - 0xd0)
	case t >= 0xd4 && t <= 0xd8:
		n = 1 + 1<<(t-0xd4)
	default:
		return r.fail("type %#x does not exist", t)
	}
	if err != nil {
		return err
	}
	_, err = r.take(n)
	return err
}

// each reads a map and hands every key to f, which reads the value. If f says
// false, the value is passed over.
func (r *msgReader) each(f func(key string) (bool, error)) error {
	n, err := r.mapLen()
	if err != nil {
		return err
	}
	for i := 0; i < n; i++ {
		key, err := r.str()
		if err != nil {
			return err
		}
		known, err := f(string(key))
		if err == nil && !known {
			err = r.skip(1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
