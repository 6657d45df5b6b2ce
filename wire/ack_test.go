package wire

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"
)

// walked gives the last acknowledgement in a stream that comes in pieces of n bytes.
func walked(b []byte, n int) (ack uint64, found bool) {
	var w walker
	for len(b) > 0 {
		k := min(n, len(b))
		if a, ok := w.walk(b[:k]); ok {
			ack, found = a, ok
		}
		b = b[k:]
	}
	return ack, found
}

// FuzzWalker: acknowledgements are found whatever pieces a stream comes in, and where frames are found one by one.
func FuzzWalker(f *testing.F) {
	ack := appendAck(nil, Version, 1<<40)
	plain := frame(opEcho, 1, 0, []byte("abc"))
	f.Add(append(append([]byte(nil), plain...), ack...), uint8(3))
	f.Add(append(append([]byte(nil), ack...), ack...), uint8(20))
	f.Add(append(append(frame(opEcho, 1, FlagInlineData, le32(0), make([]byte, 100)), ack...), plain...), uint8(27))
	f.Add(ack[:25], uint8(1))
	f.Add(Header{Version, OpAck, 0, 9, FlagNoReply}.Append(nil), uint8(5))
	f.Fuzz(func(t *testing.T, b []byte, n uint8) {
		wantAck, want := walked(b, len(b))
		if ack, found := walked(b, int(n)+1); ack != wantAck || found != want {
			t.Fatalf("in pieces of %d: %d %v, in one %d %v", int(n)+1, ack, found, wantAck, want)
		}
		var ack uint64
		found := false
		for rest := b; len(rest) >= HeaderSize; { // as one who knows all bytes would
			h, _ := ParseHeader(rest)
			if binary.LittleEndian.Uint32(rest) != Magic || h.Length > MaxPayload || h.Flags&^flagsKnown != 0 {
				return // what follows is nobody's to understand
			}
			size := HeaderSize + int(h.Length)
			if size > len(rest) {
				break
			}
			if h.Op == OpAck && checkAck(h) == nil {
				ack, found = binary.LittleEndian.Uint64(rest[HeaderSize:]), true
			}
			rest = rest[size:]
		}
		if ack != wantAck || found != want {
			t.Fatalf("found %d %v, there is %d %v", wantAck, want, ack, found)
		}
	})
}

// FuzzResumption: no Hello takes a session over without the secret, or makes the server fall.
func FuzzResumption(f *testing.F) {
	good := Resumption{Session: 1, Attempt: 1}
	good.Prove(bytes.Repeat([]byte{7}, secretSize))
	seed, err := (&Hello{Resume: &good}).Append(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Add([]byte{0x81, 0xa6, 'r', 'e', 's', 'u', 'm', 'e', 0xc0})
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := ParseHello(b)
		if err != nil {
			return
		}
		_, fd := pair(t)
		s := newServer(under(t, fd), Peer{}, ServerOptions{Park: time.Hour})
		if err := s.Welcome(Welcome{Session: 1, Features: []string{FeatureResume}}); err != nil {
			t.Fatal(err)
		}
		_, other := pair(t)
		if s.resume(under(t, other), h, nil) == nil || s.isCut() {
			t.Error("a stranger has taken the session over")
		}
		s.fail(ErrClosed)
		s.release()
	})
}

// TestAcknowledgedTooMuch: nobody can acknowledge what was not sent, or in another form.
func TestAcknowledgedTooMuch(t *testing.T) {
	for name, c := range map[string][]byte{
		"too much": appendAck(nil, Version, 1<<60),
		"short":    frame(OpAck, 0, FlagNoReply, make([]byte, 7)),
		"long":     frame(OpAck, 0, FlagNoReply, make([]byte, 9)),
		"numbered": frame(OpAck, 1, FlagNoReply, make([]byte, 8)),
		"reply":    frame(OpAck, 0, FlagNoReply|FlagResponse, make([]byte, 8)),
		"within": append(frame(opPost, 1, FlagInlineData|FlagMore|FlagNoReply, le32(4), le64(3), le32(1), []byte("a")),
			appendAck(nil, Version, 1<<60)...),
	} {
		peer, done := serveRaw(t, &testServer{t: t}, ServerOptions{Park: time.Hour}, FeatureResume)
		if _, err := peer.Write(c); err != nil {
			t.Fatal(err)
		}
		within(t, name, func() { wantErr(t, <-done, ErrProtocol) })
	}
	// Where it was not agreed on there is no such operation.
	peer, done := serveRaw(t, &testServer{t: t}, ServerOptions{})
	if _, err := peer.Write(appendAck(nil, Version, 0)); err != nil {
		t.Fatal(err)
	}
	within(t, "not agreed on", func() { wantErr(t, <-done, ErrProtocol) })
}
