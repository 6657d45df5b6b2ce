package tlsrecord

import (
	"crypto/cipher"
	"encoding/binary"
	"slices"

	"github.com/rocwire/rocwire/internal/libcrypto"
)

// Sizes in bytes.
const (
	HeaderSize = 5
	MaxPlain   = 16 << 10            // data of one record
	MaxRecord  = HeaderSize + maxBox // one record as it is sent
	maxBox     = MaxPlain + 256      // of TLS 1.3: data, type, padding and tag
	ivSize     = 12
)

// Type is what a record carries.
type Type uint8

// The types that there are after a handshake.
const (
	ChangeCipherSpec Type = 20
	Alert            Type = 21
	Handshake        Type = 22
	Data             Type = 23
)

// types are all of them, each at its own index.
var types = func() (all [256]byte) {
	for i := range all {
		all[i] = byte(i)
	}
	return all
}()

// bytes is the type as it stands behind a record's data. It is not to be changed.
func (t Type) bytes() []byte { return types[t : int(t)+1] }

// Half is the protection of one direction.
type Half struct {
	Suite  Suite
	Secret []byte // of application traffic
	Seq    uint64 // number of the next record

	aead  cipher.AEAD
	iv    [ivSize]byte
	nonce [ivSize]byte
}

// NewHalf goes on behind the first seq records that the secret has protected.
func NewHalf(suite Suite, secret []byte, seq uint64) (*Half, error) {
	h := &Half{Suite: suite, Secret: slices.Clone(secret), Seq: seq}
	return h, h.rekey()
}

func (h *Half) rekey() error {
	if h.Suite == Checksum && len(h.Secret) == checksumSize {
		h.aead = checksum(binary.LittleEndian.Uint32(h.Secret))
		return nil
	}
	key, iv, err := h.Suite.Keys(h.Secret)
	if err != nil {
		return err
	}
	copy(h.iv[:], iv)
	h.aead, err = h.Suite.aead(key)
	return err
}

// Update goes on with the next secret.
func (h *Half) Update() error {
	next, err := h.Suite.Next(h.Secret)
	if err != nil {
		return err
	}
	h.Secret, h.Seq = next, 0
	return h.rekey()
}

// at is the nonce of a record, in n.
func (h *Half) at(seq uint64, n *[ivSize]byte) []byte {
	*n = h.iv
	binary.BigEndian.PutUint64(n[4:], seq^binary.BigEndian.Uint64(n[4:]))
	return n[:]
}

// seal adds one record with a and b in it to dst.
func (h *Half) seal(dst []byte, t Type, a, b []byte) []byte {
	dst = h.sealAs(h.Seq, &h.nonce, dst, t, a, b)
	h.Seq++
	return dst
}

// sealAs is seal of the record with that number, for any goroutine with a nonce of its own.
func (h *Half) sealAs(seq uint64, nonce *[ivSize]byte, dst []byte, t Type, a, b []byte) []byte {
	n := len(a) + len(b) + 1 + h.aead.Overhead()
	dst = slices.Grow(dst, HeaderSize+n)
	at := len(dst)
	m := h.mark(seq, byte(Data), n)
	dst = append(dst, byte(Data), m[0], m[1], byte(n>>8), byte(n))
	body := len(dst)
	if j, ok := h.aead.(libcrypto.Joiner); ok && len(b) == 0 {
		if sealed, ok := j.SealJoined(dst, h.at(seq, nonce), a, t.bytes(), dst[at:body]); ok {
			return sealed
		}
	}
	dst = append(append(append(dst, a...), b...), byte(t))
	box := h.aead.Seal(dst[body:body], h.at(seq, nonce), dst[body:], dst[at:body])
	return dst[:body+len(box)]
}

// open decrypts one whole record. The plaintext, with type and padding behind the data, goes to dst[:0] or, if it does not fit there, nowhere:
// the caller sees to it that dst has room for len(record)-HeaderSize-Overhead bytes.
func (h *Half) open(dst, record []byte) (Type, []byte, error) {
	if h.Seq == 1<<64-1 {
		return 0, nil, unexpected("a record too many")
	}
	h.Seq++
	return h.openAs(h.Seq-1, &h.nonce, dst, record)
}

// openAs is open of the record with that number, for any goroutine with a nonce of its own.
func (h *Half) openAs(seq uint64, nonce *[ivSize]byte, dst, record []byte) (Type, []byte, error) {
	p, err := h.aead.Open(dst[:0], h.at(seq, nonce), record[HeaderSize:], record[:HeaderSize])
	if err == ErrCorrupted {
		return 0, nil, err
	}
	if err != nil {
		return 0, nil, &Error{Alert: BadRecordMAC, What: "a record that was changed on its way"}
	}
	n := len(p)
	for n > 0 && p[n-1] == 0 { // padding
		n--
	}
	if n == 0 {
		return 0, nil, unexpected("a record without a type")
	}
	if n > MaxPlain+1 {
		return 0, nil, &Error{Alert: RecordOverflow, What: "a record that is too long"}
	}
	return Type(p[n-1]), p[:n-1], nil
}
