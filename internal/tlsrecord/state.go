package tlsrecord

import (
	"encoding/binary"
	"errors"
)

// State is a connection's protection on its way to another process: secret as the keys that it has.
type State struct {
	Suite         Suite
	Client        bool // this side is the client
	Owed          bool // this side is to update its key
	Kernel        bool // the kernel is to make the records
	In, Out       []byte
	InSeq, OutSeq uint64
	Plain         []byte // decrypted and not read
	Message       []byte // the part of a handshake message that has come
	Raw           []byte // the part of a record that has come
}

// StateOf is where r and w are. It fails while something is to be sent.
func StateOf(r *Reader, w *Writer) (*State, error) {
	if len(w.Pending()) > 0 || w.ahead > 0 || r.err != nil {
		return nil, errors.New("tlsrecord: a connection in the middle of something")
	}
	return &State{
		Suite: r.half.Suite, Client: r.client, Owed: w.owed, In: r.half.Secret, Out: w.half.Secret, InSeq: r.half.Seq, OutSeq: w.half.Seq,
		Plain: r.plain, Message: r.message, Raw: r.b[r.r:r.w],
	}, nil
}

// Reader goes on reading, in a buffer of so many bytes.
func (s *State) Reader(size int) (*Reader, error) {
	h, err := NewHalf(s.Suite, s.In, s.InSeq)
	if err != nil {
		return nil, err
	}
	r := NewReader(h, s.Client, size)
	r.plain, r.message = append([]byte(nil), s.Plain...), append([]byte(nil), s.Message...)
	r.w = copy(r.b, s.Raw)
	return r, nil
}

// Writer goes on writing, at most about size bytes at once.
func (s *State) Writer(size int) (*Writer, error) {
	h, err := NewHalf(s.Suite, s.Out, s.OutSeq)
	if err != nil {
		return nil, err
	}
	w := NewWriter(h, size)
	w.owed = s.Owed
	return w, nil
}

const (
	stateClient = 1 << iota
	stateOwed
	stateKernel
)

// Append adds the state's encoding to b.
func (s *State) Append(b []byte) []byte {
	flags := byte(0)
	if s.Client {
		flags |= stateClient
	}
	if s.Owed {
		flags |= stateOwed
	}
	if s.Kernel {
		flags |= stateKernel
	}
	b = append(binary.LittleEndian.AppendUint16(b, uint16(s.Suite)), flags)
	b = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, s.InSeq), s.OutSeq)
	for _, p := range [][]byte{s.In, s.Out, s.Plain, s.Message, s.Raw} {
		b = append(binary.LittleEndian.AppendUint32(b, uint32(len(p))), p...)
	}
	return b
}

var errState = errors.New("tlsrecord: not the state of a connection")

// ParseState reads what Append has written. What it gives refers to b.
func ParseState(b []byte) (*State, error) {
	const fixed = 2 + 1 + 8 + 8
	if len(b) < fixed || b[2]&^(stateClient|stateOwed|stateKernel) != 0 {
		return nil, errState
	}
	s := &State{
		Suite: Suite(binary.LittleEndian.Uint16(b)), Client: b[2]&stateClient != 0, Owed: b[2]&stateOwed != 0, Kernel: b[2]&stateKernel != 0,
		InSeq: binary.LittleEndian.Uint64(b[3:]), OutSeq: binary.LittleEndian.Uint64(b[11:]),
	}
	b = b[fixed:]
	for _, p := range []*[]byte{&s.In, &s.Out, &s.Plain, &s.Message, &s.Raw} {
		if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
			return nil, errState
		}
		n := int(binary.LittleEndian.Uint32(b))
		*p, b = b[4:4+n:4+n], b[4+n:]
	}
	n := s.Suite.SecretSize()
	if len(b) > 0 || n == 0 || len(s.In) != n || len(s.Out) != n || len(s.Plain) > MaxPlain || len(s.Message) > maxMessage+4 || len(s.Raw) > MaxRecord {
		return nil, errState
	}
	return s, nil
}
