package wire

import "encoding/binary"

// Sizes, in bytes.
const (
	HeaderSize = 20
	MaxPayload = 8 << 20        // of one frame
	MaxHello   = 64 << 10       // payload of INIT, either way
	MaxNotice  = 64 << 10       // payload of a notice
	MaxReason  = 1 << 10        // payload of SHUTDOWN
	MaxBulk    = 8<<20 - 64<<10 // bulk that fits one frame together with up to 64 KiB - 16 of fixed part
	maxMessage = 1 << 40        // bulk of a message of several frames
)

// Magic starts every frame.
const Magic = 0x48495052

// Version is what this package speaks: major in the high byte, minor in the low one.
const Version = 0x0200

// Operations of this package. User operations start at OpUser.
const (
	OpInit     = 1
	OpShutdown = 2
	OpPing     = 3
	OpAck      = 5
	OpUser     = 0x0100
)

// Flags of a frame.
type Flags uint32

// The flags that exist.
const (
	FlagResponse Flags = 1 << iota
	FlagError
	FlagInlineData
	FlagNoReply
	FlagMore
	FlagTimed
	FlagPacked
	flagsKnown = FlagPacked<<1 - 1
)

// Header is the start of a frame.
type Header struct {
	Version uint16
	Op      uint16
	ID      uint32
	Length  uint32 // of the payload, in bytes
	Flags   Flags
}

// Append adds the header's 20 bytes to b.
func (h Header) Append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, Magic)
	b = binary.LittleEndian.AppendUint16(b, h.Version)
	b = binary.LittleEndian.AppendUint16(b, h.Op)
	b = binary.LittleEndian.AppendUint32(b, h.ID)
	b = binary.LittleEndian.AppendUint32(b, h.Length)
	return binary.LittleEndian.AppendUint32(b, uint32(h.Flags))
}

// ParseHeader decodes the 20 bytes at the start of b and checks what can be checked without context: magic, payload length and flags. It
// panics if b is shorter. The header is returned even with an error, for messages.
func ParseHeader(b []byte) (Header, error) {
	b = b[:HeaderSize]
	h := Header{
		Version: binary.LittleEndian.Uint16(b[4:]),
		Op:      binary.LittleEndian.Uint16(b[6:]),
		ID:      binary.LittleEndian.Uint32(b[8:]),
		Length:  binary.LittleEndian.Uint32(b[12:]),
		Flags:   Flags(binary.LittleEndian.Uint32(b[16:])),
	}
	if m := binary.LittleEndian.Uint32(b); m != Magic {
		return h, violation(Header{}, "wrong magic %#08x", m)
	}
	if h.Length > MaxPayload {
		return h, violation(h, "payload over the limit of %d bytes", MaxPayload)
	}
	if h.Flags&^flagsKnown != 0 {
		return h, violation(h, "unknown flags")
	}
	return h, nil
}
