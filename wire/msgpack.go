package wire

import (
	"encoding/binary"
	"fmt"

	"github.com/vmihailenco/msgpack/v5"
)

// AppendMap adds the MessagePack map of a struct to b: of a handshake, or of its details.
func AppendMap(b []byte, v any) ([]byte, error) {
	p, err := msgpack.Marshal(v)
	if err != nil {
		return b, fmt.Errorf("wire: handshake: %w", err)
	}
	if len(p) > MaxHello-4 {
		return b, violation(Header{}, "handshake of %d bytes", len(p))
	}
	return append(b, p...), nil
}

// ParseMap reads a struct from a stranger's MessagePack map. Fields that the struct does not have are ignored; the error is ErrProtocol.
func ParseMap(b []byte, v any) error {
	if len(b) > MaxHello {
		return violation(Header{}, "handshake of %d bytes", len(b))
	}
	if err := checkDepth(b); err != nil {
		return err
	}
	if err := msgpack.Unmarshal(b, v); err != nil {
		return violation(Header{}, "handshake: %v", err)
	}
	return nil
}

// maxDepth bounds the nesting of a handshake's MessagePack; a Hello needs 3.
const maxDepth = 8

// checkDepth walks one MessagePack value without recursion and without allocating and checks that it is a map, whole, followed by
// nothing and not nested deeper than maxDepth. The decoder behind it may then recurse over unknown fields.
func checkDepth(b []byte) error {
	var left [maxDepth]uint64 // values still to come per open array or map
	depth := 0
	bad := func(what string) error { return violation(Header{}, "handshake: %s", what) }
	if len(b) == 0 || (b[0]&0xf0 != 0x80 && b[0] != 0xde && b[0] != 0xdf) {
		return bad("not a MessagePack map")
	}
	for first := true; first || depth > 0; first = false {
		if len(b) == 0 {
			return bad("truncated")
		}
		if depth > 0 {
			left[depth-1]--
		}
		head, body, children, ok := msgpackItem(b)
		if !ok || head+body > uint64(len(b)) {
			return bad("malformed or truncated")
		}
		b = b[head+body:]
		if children > 0 {
			if depth == maxDepth {
				return bad("nested too deeply")
			}
			left[depth] = children
			depth++
		}
		for depth > 0 && left[depth-1] == 0 {
			depth--
		}
	}
	if len(b) != 0 {
		return bad("bytes after the map")
	}
	return nil
}

// msgpackItem measures the value at the start of b: its head (code and length field), the bytes that follow directly, and the number
// of values it contains. It is not ok if the head is truncated or the code is not assigned.
func msgpackItem(b []byte) (head, body, children uint64, ok bool) {
	c := b[0]
	size := func(n int) (uint64, bool) { // big-endian length field of n bytes
		if len(b) < 1+n {
			return 0, false
		}
		switch n {
		case 1:
			return uint64(b[1]), true
		case 2:
			return uint64(binary.BigEndian.Uint16(b[1:])), true
		}
		return uint64(binary.BigEndian.Uint32(b[1:])), true
	}
	switch {
	case c <= 0x7f, c >= 0xe0, c == 0xc0, c == 0xc2, c == 0xc3: // small integers, nil, false, true
		return 1, 0, 0, true
	case c <= 0x8f:
		return 1, 0, 2 * uint64(c&0xf), true
	case c <= 0x9f:
		return 1, 0, uint64(c & 0xf), true
	case c <= 0xbf:
		return 1, uint64(c & 0x1f), 0, true
	case c >= 0xc4 && c <= 0xc6: // bin
		n := 1 << (c - 0xc4)
		body, ok = size(n)
		return 1 + uint64(n), body, 0, ok
	case c >= 0xc7 && c <= 0xc9: // ext
		n := 1 << (c - 0xc7)
		body, ok = size(n)
		return 2 + uint64(n), body, 0, ok
	case c == 0xca, c == 0xce, c == 0xd2:
		return 1, 4, 0, true
	case c == 0xcb, c == 0xcf, c == 0xd3:
		return 1, 8, 0, true
	case c == 0xcc, c == 0xd0:
		return 1, 1, 0, true
	case c == 0xcd, c == 0xd1:
		return 1, 2, 0, true
	case c >= 0xd4 && c <= 0xd8: // fixext
		return 2, 1 << (c - 0xd4), 0, true
	case c >= 0xd9 && c <= 0xdb: // str
		n := 1 << (c - 0xd9)
		body, ok = size(n)
		return 1 + uint64(n), body, 0, ok
	case c == 0xdc, c == 0xdd: // array
		n := 2 << (c - 0xdc)
		children, ok = size(n)
		return 1 + uint64(n), 0, children, ok
	case c == 0xde, c == 0xdf: // map
		n := 2 << (c - 0xde)
		children, ok = size(n)
		return 1 + uint64(n), 0, 2 * children, ok
	}
	return 0, 0, 0, false // 0xc1
}
