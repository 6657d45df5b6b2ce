package hipremote

// prefixed is the offset of the first piece of prefixPiece bytes in which a number of four bytes begins like prefix in the bits of mask, where its
// place is a multiple of four; the length of all whole pieces if there is none.
//
//go:noescape
func prefixed(data []byte, prefix, mask uint32) int
