package tlsrecord

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// Checksum is no cipher suite of TLS but records with a CRC32-C in place of the encryption: they tell what was changed by accident. Its secrets are
// 4 bytes that the sums start from. The two bytes of a record's header that have a version in TLS are a sum of the others, so that a changed length
// is noticed before anybody waits for the rest.
const Checksum Suite = 0xff01

const checksumSize = 4

// ErrCorrupted says that what came is not what was sent.
var ErrCorrupted = errors.New("data was changed on its way (its checksum is wrong)")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum is a cipher.AEAD that hides nothing.
type checksum uint32

func (c checksum) NonceSize() int { return ivSize }
func (c checksum) Overhead() int  { return checksumSize }

func (c checksum) sum(nonce, plain, data []byte) uint32 {
	s := crc32.Update(uint32(c), castagnoli, nonce)
	return crc32.Update(crc32.Update(s, castagnoli, data), castagnoli, plain)
}

func (c checksum) Seal(dst, nonce, plain, data []byte) []byte {
	s := c.sum(nonce, plain, data)
	return binary.LittleEndian.AppendUint32(append(dst, plain...), s)
}

func (c checksum) Open(dst, nonce, box, data []byte) ([]byte, error) {
	if len(box) < checksumSize {
		return nil, ErrCorrupted
	}
	plain := box[:len(box)-checksumSize]
	if c.sum(nonce, plain, data) != binary.LittleEndian.Uint32(box[len(plain):]) {
		return nil, ErrCorrupted
	}
	return append(dst, plain...), nil
}

// mark is what a record's header has in its second and third byte.
func (h *Half) mark(seq uint64, t byte, n int) [2]byte {
	c, ok := h.aead.(checksum)
	if !ok {
		return [2]byte{3, 3}
	}
	var b [11]byte
	binary.LittleEndian.PutUint64(b[:], seq)
	b[8], b[9], b[10] = t, byte(n>>8), byte(n)
	s := crc32.Update(uint32(c), castagnoli, b[:])
	return [2]byte{byte(s >> 8), byte(s)}
}
