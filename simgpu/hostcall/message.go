package hostcall

import "encoding/binary"

// Bounds of what is kept of messages that are not complete.
const (
	maxMessages     = 1 << 20
	maxMessageBytes = 64 << 20 // of all
	maxMessage      = 1 << 20  // of one
)

// The first word of a message's packet: bit 0 the message begins, bit 1 it
// ends, bits 5 to 7 how many words follow, from bit 8 on its number.
const (
	messageBegins = 1
	messageEnds   = 2
)

// Messages puts texts together. Its zero value has none.
type Messages struct {
	open  map[uint64][]byte
	last  uint64 // number given out
	bytes int    // of all open ones
}

// add takes a packet, and gives a message that it completes to output. It
// returns what the kernel gets: the word for the message's next packet, or what
// printf returns.
func (m *Messages) add(words *[8]uint64, output func(stderr bool, text []byte)) uint64 {
	desc := words[0]
	if desc&messageBegins != 0 {
		if len(m.open) >= maxMessages {
			return desc &^ messageBegins // number 0 does not exist: what follows is dropped
		}
		if m.open == nil {
			m.open = map[uint64][]byte{}
		}
		m.last = (m.last + 1) & (1<<56 - 1)
		desc = desc&0xfe | m.last<<8
		m.open[m.last] = nil
	}
	number := desc >> 8
	msg, ok := m.open[number]
	if !ok {
		return desc
	}
	n := int(desc >> 5 & 7)
	if m.bytes+8*n > maxMessageBytes || len(msg)+8*n > maxMessage {
		n = 0 // it ends early
	}
	for _, w := range words[1 : 1+n] {
		msg = binary.LittleEndian.AppendUint64(msg, w)
	}
	m.bytes += 8 * n
	m.open[number] = msg
	if desc&messageEnds == 0 {
		return desc
	}
	m.bytes -= len(msg)
	delete(m.open, number)
	return printed(msg, output)
}

// printed writes a complete message: a control word, the format, the
// arguments. It returns what printf returns.
func printed(msg []byte, output func(stderr bool, text []byte)) uint64 {
	const failed = ^uint64(0)
	if len(msg) < 8 {
		return failed
	}
	control := binary.LittleEndian.Uint64(msg)
	if control&^1 != 0 {
		return failed
	}
	text := Format(msg[8:])
	output(control&1 != 0, text)
	return uint64(len(text))
}
