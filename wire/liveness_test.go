package wire

import (
	"io"
	"testing"
	"time"
)

// heartbeats sends as many as can be sent.
func heartbeats(w io.Writer, every time.Duration, id func() uint32) {
	for {
		if _, err := w.Write(frame(OpPing, id(), FlagNoReply)); err != nil {
			return
		}
		time.Sleep(every)
	}
}

// TestLengthChangedOnTheWay: heartbeats that are taken for the rest of a frame, because its length was changed to a greater one, do not keep the
// connection up.
func TestLengthChangedOnTheWay(t *testing.T) {
	const limit = 200 * time.Millisecond
	for _, wait := range []bool{true, false} {
		peer, c := clientRaw(t, Options{IOTimeout: limit})
		go func() {
			if _, err := io.ReadFull(peer, make([]byte, HeaderSize)); err != nil {
				return
			}
			b := frame(opEcho, 1, FlagResponse, le32(0), []byte("ok"))
			b[14] ^= 0x40 // 4 MiB more
			_, _ = peer.Write(b)
			heartbeats(peer, limit/4, func() uint32 { return 0 })
		}()
		if wait {
			wantErr(t, c.Call(opEcho, &Msg{}), ErrLost)
			continue
		}
		errs := make(chan error, 1)
		if err := c.Go(opEcho, &Msg{}, func(_ *Msg, err error) { errs <- err }); err != nil {
			t.Fatal(err)
		}
		wantErr(t, <-errs, ErrLost)
	}
	peer, done := serveBeating(t, limit)
	b := frame(opEcho, 1, 0, []byte("ok"))
	b[14] ^= 0x40
	if _, err := peer.Write(b); err != nil {
		t.Fatal(err)
	}
	id := uint32(1)
	go heartbeats(peer, limit/4, func() uint32 { id++; return id })
	wantErr(t, <-done, ErrLost)
}

// serveBeating is a server that has heartbeats of a quarter of the silence that it bears.
func serveBeating(t *testing.T, silence time.Duration) (io.ReadWriter, <-chan error) {
	t.Helper()
	peer, fd := pair(t)
	tr := under(t, fd)
	s := newServer(tr, Peer{Addr: tr.peer()}, ServerOptions{Silence: silence})
	if err := s.Welcome(Welcome{HeartbeatMS: uint32(silence / 4 / time.Millisecond)}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := readInit(peer); err != nil {
		t.Fatal(err)
	}
	go func() { // it sends heartbeats, too
		_, _ = io.Copy(io.Discard, peer)
	}()
	done := make(chan error, 1)
	go func() { done <- s.Serve(&testServer{t: t}) }()
	return peer, done
}

// TestSlowFrame: a frame that comes slowly, but for more than heartbeats would, is waited for.
func TestSlowFrame(t *testing.T) {
	const limit = 800 * time.Millisecond // in which who sends it gets a processor
	peer, c := clientRaw(t, Options{IOTimeout: limit})
	go func() {
		if _, err := io.ReadFull(peer, make([]byte, HeaderSize)); err != nil {
			return
		}
		b := frame(opEcho, 1, FlagResponse, le32(0), make([]byte, 1200))
		for len(b) > 0 {
			n := min(len(b), 100)
			if _, err := peer.Write(b[:n]); err != nil {
				return
			}
			b = b[n:]
			time.Sleep(limit / 8)
		}
	}()
	m := &Msg{}
	if err := c.Call(opEcho, m); err != nil || len(m.Rep) != 1200 {
		t.Errorf("%d bytes, %v", len(m.Rep), err)
	}
}
