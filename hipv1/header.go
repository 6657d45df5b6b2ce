package hipv1

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Of the frame.
const (
	HeaderSize = 20
	Magic      = 0x48495052
	Version    = 0x0100
	MaxPayload = 1 << 31
)

// Flags of a message.
type Flags uint32

// The flags that exist.
const (
	FlagResponse   Flags = 1
	FlagError      Flags = 2
	FlagInlineData Flags = 4
	FlagNoReply    Flags = 8
)

// ErrProtocol is what is wrong with bytes that are no message of this protocol.
var ErrProtocol = errors.New("hip-remote v1")

func violation(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrProtocol, fmt.Sprintf(format, args...))
}

// Header begins a message.
type Header struct {
	Version uint16
	Op      Op
	ID      uint32
	Length  uint32
	Flags   Flags
}

// NoReply reports whether the client does not want to hear of it.
func (h Header) NoReply() bool { return h.Flags&FlagNoReply != 0 }

// Append adds the header's 20 bytes to b.
func (h Header) Append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, Magic)
	b = binary.LittleEndian.AppendUint16(b, h.Version)
	b = binary.LittleEndian.AppendUint16(b, uint16(h.Op))
	b = binary.LittleEndian.AppendUint32(b, h.ID)
	b = binary.LittleEndian.AppendUint32(b, h.Length)
	return binary.LittleEndian.AppendUint32(b, uint32(h.Flags))
}

// ParseHeader decodes the 20 bytes at the start of b. It panics if b is shorter. The header is returned even with an error, for messages.
func ParseHeader(b []byte) (Header, error) {
	b = b[:HeaderSize]
	h := Header{
		Version: binary.LittleEndian.Uint16(b[4:]),
		Op:      Op(binary.LittleEndian.Uint16(b[6:])),
		ID:      binary.LittleEndian.Uint32(b[8:]),
		Length:  binary.LittleEndian.Uint32(b[12:]),
		Flags:   Flags(binary.LittleEndian.Uint32(b[16:])),
	}
	if m := binary.LittleEndian.Uint32(b); m != Magic {
		return h, violation("wrong magic %#08x", m)
	}
	if h.Version>>8 != Version>>8 {
		return h, violation("version %#04x", h.Version)
	}
	if h.Length > MaxPayload {
		return h, violation("%v: a payload of %d bytes", h.Op, h.Length)
	}
	return h, nil
}
