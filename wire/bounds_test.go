package wire

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"
)

// A request longer than the server takes is refused by its header: nothing is kept for it.
func TestServerMaxRequest(t *testing.T) {
	opt := ServerOptions{MaxRequest: 64}
	for name, send := range map[string][]byte{
		"a byte too long": frame(opEcho, 1, 0, make([]byte, 65)),
		"only a header":   Header{Version, opEcho, 1, MaxPayload, 0}.Append(nil),
		"bulk":            Header{Version, opEcho, 1, MaxPayload, FlagInlineData}.Append(nil),
		"several frames":  frame(opPost, 1, FlagInlineData|FlagMore, le32(1), le64(9), []byte("abcd")),
	} {
		peer, done := serveRaw(t, &testServer{t: t}, opt)
		if _, err := peer.Write(send); err != nil {
			t.Fatal(err)
		}
		if err := <-done; !errors.Is(err, ErrProtocol) || !strings.Contains(err.Error(), "64 bytes") {
			t.Errorf("%s: %v", name, err)
		}
		if rest, _ := io.ReadAll(peer); !bytes.Contains(rest, []byte("64 bytes")) {
			t.Errorf("%s: the client got %q", name, rest)
		}
	}
	peer, _ := serveRaw(t, &testServer{t: t}, opt)
	if _, err := peer.Write(frame(opEcho, 1, 0, make([]byte, 64))); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(peer, make([]byte, HeaderSize+4+64)); err != nil {
		t.Errorf("as long as may be: %v", err)
	}
}

// A client that asks and does not read is held up, and then its connection ends; what waits for it is bounded meanwhile, and its context says
// that it is gone.
func TestServerUnreadReplies(t *testing.T) {
	const size = 100 << 10
	reply := make([]byte, size) // which all answers share, as cached ones do
	conns, slots := make(chan *ServerConn, 1), make(chan struct{}, 32)
	h := HandlerFunc(func(r *Request) {
		if len(conns) == 0 {
			conns <- r.Conn()
		}
		slots <- struct{}{}
		kept := r.Retain()
		go func() {
			_ = kept.Reply(0, reply)
			<-slots
		}()
	})
	peer, done := serveRaw(t, h, ServerOptions{Stall: 500 * time.Millisecond})
	go func() {
		for id := uint32(1); ; id++ {
			if _, err := peer.Write(frame(opEcho, id, 0)); err != nil {
				return
			}
		}
	}()
	s := <-conns
	var before, most runtime.MemStats
	runtime.ReadMemStats(&before)
	for ended := false; !ended; {
		select {
		case err := <-done:
			if ended = true; !errors.Is(err, ErrLost) || !strings.Contains(err.Error(), "not read") {
				t.Errorf("%v", err)
			}
		case <-time.After(50 * time.Millisecond):
			s.out.mu.Lock()
			n := cap(s.out.buf) + cap(s.out.spare)
			s.out.mu.Unlock()
			if n > 4*(outFull+size) {
				t.Errorf("%d bytes wait", n)
			}
		}
	}
	runtime.ReadMemStats(&most)
	if grew := int64(most.HeapInuse) - int64(before.HeapInuse); grew > 16<<20 {
		t.Errorf("the heap grew by %d bytes", grew)
	}
	select {
	case <-s.Context().Done():
	case <-time.After(patience):
		t.Error("the context outlives the connection")
	}
}

// sparing gives what it has, and notes whether somebody has taken memory for much more than had come.
type sparing struct {
	t     *testing.T
	b     []byte
	given int
}

func (s *sparing) Read(p []byte) (int, error) {
	if len(p) > max(helloFirst, s.given) {
		s.t.Errorf("memory for %d bytes after %d", len(p), s.given)
	}
	if s.given == len(s.b) {
		return 0, io.EOF
	}
	n := copy(p, s.b[s.given:])
	s.given += n
	return n, nil
}

// A Hello takes memory as it comes, and all of it is read.
func TestHelloTakesMemoryAsItComes(t *testing.T) {
	for _, n := range []int{0, 1, helloFirst - 1, helloFirst, helloFirst + 1, 5000, MaxHello} {
		whole := frame(OpInit, 0, 0, bytes.Repeat([]byte{7}, n), []byte("and more"))
		head := Header{Version, OpInit, 0, uint32(n), 0}.Append(nil)
		copy(whole, head)
		for _, have := range []int{HeaderSize, HeaderSize + n/2, HeaderSize + n} {
			r := &sparing{t: t, b: whole[:have]}
			h, p, err := readInit(r)
			if have < HeaderSize+n {
				if err == nil {
					t.Errorf("%d of %d bytes: no error", have, n)
				}
				continue
			}
			if err != nil || len(p) != n || int(h.Length) != n || r.given != have || bytes.Count(p, []byte{7}) != n {
				t.Errorf("%d bytes: %d came, %v", n, len(p), err)
			}
		}
	}
}
