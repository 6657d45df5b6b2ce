package hipremote

import "encoding/binary"

// prefixPiece is how many bytes are looked at together.
const prefixPiece = 64

// prefixedPlain is prefixed without instructions of a processor's own.
func prefixedPlain(data []byte, prefix, mask uint32) int {
	p, m := uint64(prefix)<<32|uint64(prefix), uint64(mask)<<32|uint64(mask)
	at := 0
	for ; len(data)-at >= prefixPiece; at += prefixPiece {
		d := (*[prefixPiece]byte)(data[at:])
		hit := zeroHalf(d[0:8], p, m) | zeroHalf(d[8:16], p, m) | zeroHalf(d[16:24], p, m) | zeroHalf(d[24:32], p, m) |
			zeroHalf(d[32:40], p, m) | zeroHalf(d[40:48], p, m) | zeroHalf(d[48:56], p, m) | zeroHalf(d[56:64], p, m)
		if hit&(1<<63|1<<31) != 0 {
			break
		}
	}
	return at
}

// zeroHalf has the top bit of a half of eight bytes, if all in it that the mask leaves is like the prefix.
func zeroHalf(b []byte, prefix, mask uint64) uint64 {
	x := binary.LittleEndian.Uint64(b)&mask ^ prefix
	return (x - (1<<32 | 1)) &^ x
}
