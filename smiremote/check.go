package smiremote

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/rocwire/rocwire/smi"
)

// Bounds of a reply. A machine has some 16 cards with some hundred processes each.
const (
	maxDepth    = 12
	maxElements = 32 << 10 // of all lists together: the decoder allocates a list before it reads it
	maxText     = 4 << 10  // of one text
)

// unpack decodes one MessagePack value that came from the other side.
func unpack(b []byte, v any) (err error) {
	if err := check(b, maxElements); err != nil {
		return smi.Errorf(smi.ErrBadData, "malformed reply: %w", err)
	}
	d := msgpack.NewDecoder(bytes.NewReader(b))
	if err := d.Decode(v); err != nil {
		return smi.Errorf(smi.ErrBadData, "malformed reply: %w", err)
	}
	return nil
}

var errTruncated = errors.New("truncated")

// check walks one MessagePack value without recursion and without allocating, and
// makes sure that it is whole, followed by nothing, and within the bounds: most list
// elements in all.
func check(b []byte, most uint64) error {
	var left [maxDepth]uint64 // values still to come in each open list or map
	depth, elements := 0, uint64(0)
	for first := true; first || depth > 0; first = false {
		if depth > 0 {
			left[depth-1]--
		}
		size, inside, list, err := item(b)
		if err != nil {
			return err
		}
		b = b[size:]
		if list {
			elements += inside
		}
		if inside > uint64(len(b)) { // each takes a byte at least
			return errTruncated
		}
		if elements > most {
			return fmt.Errorf("more than %d list elements", most)
		}
		if inside > 0 {
			if depth == maxDepth {
				return fmt.Errorf("nested more than %d deep", maxDepth)
			}
			left[depth] = inside
			depth++
		}
		for depth > 0 && left[depth-1] == 0 {
			depth--
		}
	}
	if len(b) != 0 {
		return fmt.Errorf("%d bytes too many", len(b))
	}
	return nil
}

// item measures the value at the start of b: the bytes it takes without the values
// inside it, how many those are, and whether it is a list.
func item(b []byte) (size int, inside uint64, list bool, err error) {
	if len(b) == 0 {
		return 0, 0, false, errTruncated
	}
	c := b[0]
	var body uint64
	switch {
	case c <= 0x7f, c >= 0xe0, c == 0xc0, c == 0xc2, c == 0xc3: // small number, nil, false, true
		size = 1
	case c <= 0x8f:
		size, inside = 1, 2*uint64(c&0x0f)
	case c <= 0x9f:
		size, inside, list = 1, uint64(c&0x0f), true
	case c <= 0xbf:
		size, body = 1, uint64(c&0x1f)
	case c >= 0xc4 && c <= 0xc6: // bin, 1, 2 or 4 bytes of length
		size, body, err = length(b, 1<<(c-0xc4))
	case c >= 0xc7 && c <= 0xc9: // ext, and one byte of type
		size, body, err = length(b, 1<<(c-0xc7))
		body++
	case c >= 0xca && c <= 0xd3: // numbers
		size, body = 1, [...]uint64{4, 8, 1, 2, 4, 8, 1, 2, 4, 8}[c-0xca]
	case c >= 0xd4 && c <= 0xd8: // fixext
		size, body = 1, 1+1<<(c-0xd4)
	case c >= 0xd9 && c <= 0xdb: // str
		size, body, err = length(b, 1<<(c-0xd9))
		if body > maxText {
			return 0, 0, false, fmt.Errorf("a text of %d bytes", body)
		}
	case c == 0xdc, c == 0xdd:
		size, inside, err = length(b, 2<<(c-0xdc))
		list = true
	case c == 0xde, c == 0xdf:
		size, inside, err = length(b, 2<<(c-0xde))
		inside *= 2
	default:
		return 0, 0, false, fmt.Errorf("code %#02x", c)
	}
	if err == nil && body > uint64(len(b)-size) {
		err = errTruncated
	}
	return size + int(min(body, uint64(len(b)))), inside, list, err
}

// length reads a length of n bytes after the code.
func length(b []byte, n int) (size int, v uint64, err error) {
	if len(b) < 1+n {
		return 0, 0, errTruncated
	}
	switch n {
	case 1:
		v = uint64(b[1])
	case 2:
		v = uint64(binary.BigEndian.Uint16(b[1:]))
	default:
		v = uint64(binary.BigEndian.Uint32(b[1:]))
	}
	return 1 + n, v, nil
}
