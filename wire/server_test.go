package wire

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

func TestServerFrames(t *testing.T) {
	peer, done := serveRaw(t, &testServer{t: t}, ServerOptions{})
	for _, c := range []struct{ name, send, want string }{
		{"plain", "52504948 0002 0001 01000000 02000000 00000000 6162",
			"52504948 0002 0001 01000000 0a000000 05000000 00000000 02000000 6162"},
		{"ping", "52504948 0002 0300 02000000 00000000 00000000",
			"52504948 0002 0300 02000000 04000000 01000000 00000000"},
		{"bulk", "52504948 0002 0001 03000000 08000000 04000000 02000000 6162 6364",
			"52504948 0002 0001 03000000 0c000000 05000000 00000000 02000000 6162 6364"},
		{"error", "52504948 0002 ffff 04000000 00000000 00000000",
			"52504948 0002 ffff 04000000 04000000 03000000 ffffffff"},
		{"frames of one message", "52504948 0002 0001 05000000 0e000000 14000000 01000000 0300000000000000 61 31" +
			"52504948 0002 0001 05000000 01000000 14000000 32" + "52504948 0002 0001 05000000 01000000 04000000 33",
			"52504948 0002 0001 05000000 0c000000 05000000 00000000 01000000 61 313233"},
	} {
		want := unhex(t, c.want)
		if c.name == "plain" { // no bulk, no INLINE_DATA
			want = unhex(t, "52504948 0002 0001 01000000 06000000 01000000 00000000 6162")
		}
		if _, err := peer.Write(unhex(t, c.send)); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(want))
		if _, err := io.ReadFull(peer, got); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%s: %x, want %x, %v", c.name, got, want, err)
		}
	}
	if _, err := peer.Write(frame(OpShutdown, 6, FlagNoReply)); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestReplyBeforeLongRequest: a reply that waits for the next one does not wait for a request that takes long. The keeper sees to that; and Serve itself, whose
// keeper then sleeps, before it begins with a request when the reply has waited for a while.
func TestReplyBeforeLongRequest(t *testing.T) {
	for name, keeper := range map[string]bool{"keeper": true, "Serve": false} {
		t.Run(name, func(t *testing.T) {
			peer, fd := pair(t)
			tr := under(t, fd)
			forServer(tr, ServerOptions{})
			s := newServer(tr, Peer{}, ServerOptions{})
			if !keeper {
				s.k.flush = time.Hour // from the first look on
			}
			if err := s.Welcome(Welcome{HeartbeatMS: 60000}); err != nil {
				t.Fatal(err)
			}
			if _, _, err := readInit(peer); err != nil {
				t.Fatal(err)
			}
			seen, done := make(chan bool), make(chan error, 1)
			go func() {
				done <- s.Serve(HandlerFunc(func(r *Request) {
					switch r.ID {
					case 4: // so that the reply before has waited for long enough
						time.Sleep(2 * flushTick)
					case 5:
						select {
						case <-seen:
						case <-time.After(patience):
							t.Error("the reply before has not left")
						}
					}
					_ = r.Reply(0, nil)
				}))
			}()
			for _, ids := range [][]uint32{{1, 2}, {3, 4, 5}} { // the first ones wake the keeper
				var all []byte
				for _, id := range ids {
					all = append(all, frame(opEcho, id, 0)...)
				}
				if _, err := peer.Write(all); err != nil {
					t.Fatal(err)
				}
				for _, id := range ids {
					if h, _ := readFrame(t, peer); h.ID != id {
						t.Errorf("reply to %d, want %d", h.ID, id)
					}
					if id == 3 {
						close(seen)
					}
				}
				time.Sleep(5 * time.Millisecond) // let it fall asleep
			}
			if _, err := peer.Write(frame(OpShutdown, 6, FlagNoReply)); err != nil {
				t.Fatal(err)
			}
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}

func TestServerViolations(t *testing.T) {
	for _, c := range []struct {
		name string
		send []byte
		says string
	}{
		{"magic", bytes.Repeat([]byte{'G'}, HeaderSize), "wrong magic"},
		{"version", Header{0x0100, opEcho, 1, 0, 0}.Append(nil), "wrong version"},
		{"length", Header{Version, opEcho, 1, MaxPayload + 1, 0}.Append(nil), "over the limit"},
		{"flags", Header{Version, opEcho, 1, 0, 0x80}.Append(nil), "unknown flags"},
		{"compressed", frame(opEcho, 1, FlagInlineData|FlagPacked, le32(0), le32(5), []byte("abc")), "flags that do not belong"},
		{"compressed later", append(frame(opPost, 1, FlagInlineData|FlagMore|FlagNoReply, le32(4), le64(9), le32(1), []byte("a")),
			frame(opPost, 1, FlagInlineData|FlagNoReply|FlagPacked, le32(8), []byte("b"))...), "flags that do not belong"},
		{"response", frame(opEcho, 1, FlagResponse), "flags that do not belong"},
		{"error", frame(opEcho, 1, FlagError), "flags that do not belong"},
		{"more without data", frame(opEcho, 1, FlagMore), "flags that do not belong"},
		{"id 0", frame(opEcho, 0, 0), "out of sequence"},
		{"id twice", append(frame(OpPing, 1, FlagNoReply), frame(OpPing, 1, FlagNoReply)...), "out of sequence"},
		{"op of the package", frame(0x0042, 1, 0), "operation that does not exist"},
		{"second INIT", frame(OpInit, 1, 0), "operation that does not exist"},
		{"ping with payload", frame(OpPing, 1, 0, []byte{1}), "operation that does not exist"},
		{"no fixed length", frame(opEcho, 1, FlagInlineData, []byte{1, 0}), "too short"},
		{"fixed length", frame(opEcho, 1, FlagInlineData, le32(5), []byte("abcd")), "in a shorter frame"},
		{"fixed length wraps", frame(opEcho, 1, FlagInlineData, le32(0xffffffff), []byte("abcd")), "in a shorter frame"},
		{"bulk total short", frame(opEcho, 1, FlagInlineData|FlagMore, le32(0), le64(2), []byte("abcd")), "in several frames"},
		{"bulk total huge", frame(opEcho, 1, FlagInlineData|FlagMore, le32(0), le64(1<<63)), "in several frames"},
		{"other id within", append(frame(opPost, 1, FlagInlineData|FlagMore, le32(4), le64(9), le32(1), []byte("a")), frame(opEcho, 2, 0)...), "another message"},
		{"continuation too long", append(frame(opPost, 1, FlagInlineData|FlagMore|FlagNoReply, le32(4), le64(2), le32(1), []byte("a")),
			frame(opPost, 1, FlagInlineData|FlagNoReply, []byte("bc"))...), "more bulk than"},
		{"continuation too short", append(frame(opPost, 1, FlagInlineData|FlagMore|FlagNoReply, le32(4), le64(3), le32(1), []byte("a")),
			frame(opPost, 1, FlagInlineData|FlagNoReply, []byte("b"))...), "less bulk than"},
		{"empty continuation", append(frame(opPost, 1, FlagInlineData|FlagMore|FlagNoReply, le32(4), le64(3), le32(1), []byte("a")),
			frame(opPost, 1, FlagInlineData|FlagNoReply|FlagMore)...), "empty continuation"},
	} {
		t.Run(c.name, func(t *testing.T) {
			peer, done := serveRaw(t, &testServer{t: t}, ServerOptions{})
			if _, err := peer.Write(c.send); err != nil {
				t.Fatal(err)
			}
			err := <-done
			wantErr(t, err, ErrProtocol)
			if err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v does not say %q", err, c.says)
			}
			// The client is told.
			rest, _ := io.ReadAll(peer)
			if !bytes.Contains(rest, []byte(c.says)) {
				t.Errorf("the client got %q", rest)
			}
		})
	}
}

func TestServerTruncated(t *testing.T) {
	whole := frame(opEcho, 1, FlagInlineData, le32(4), []byte("abcd"), make([]byte, 1000))
	for n := range len(whole) {
		if n > 40 && n%97 != 0 {
			continue
		}
		peer, done := serveRaw(t, &testServer{t: t}, ServerOptions{})
		if _, err := peer.Write(whole[:n]); err != nil {
			t.Fatal(err)
		}
		_ = peer.Close()
		wantErr(t, <-done, ErrLost)
	}
}

// An unread bulk is discarded and the next request is whole.
func TestServerDiscards(t *testing.T) {
	h := HandlerFunc(func(r *Request) {
		if err := r.ReadBulk(make([]byte, r.BulkLen+1)); err == nil {
			t.Error("more bulk than there is")
		}
		_ = r.Reply(int32(r.BulkLen), r.Fixed)
	})
	c := start(t, h, Options{})
	for _, n := range []int{1, bulkCopy + 1, MaxPayload + 1, 2*MaxPayload + 9} {
		m := &Msg{Req: le32(uint32(n)), Bulk: make([]byte, n)}
		if err := c.Call(opEcho, m); err != nil || m.Code != int32(n) || !bytes.Equal(m.Rep, m.Req) {
			t.Fatal(n, m.Code, m.Rep, err)
		}
	}
}

func TestServerMisuse(t *testing.T) {
	h := HandlerFunc(func(r *Request) {
		k := r.Retain()
		if r.Reply(0, nil) == nil {
			t.Error("the original of a retained request was answered")
		}
		if k.ReadBulk(nil) == nil {
			t.Error("bulk read from a retained request")
		}
		if k.Retain() != k {
			t.Error("retained twice")
		}
		if err := k.Reply(0, nil); err != nil {
			t.Error(err)
		}
		if k.Reply(0, nil) == nil {
			t.Error("answered twice")
		}
		if r.Conn().Notify(OpPing, nil) == nil || r.Conn().Notify(opTell, make([]byte, MaxNotice+1)) == nil {
			t.Error("notice that does not exist")
		}
	})
	c := start(t, h, Options{})
	if err := c.Call(opEcho, GetMsg()); err != nil {
		t.Fatal(err)
	}
}

func TestServerForgotReply(t *testing.T) {
	peer, done := serveRaw(t, HandlerFunc(func(*Request) {}), ServerOptions{})
	if _, err := peer.Write(frame(opEcho, 1, 0)); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err == nil || !strings.Contains(err.Error(), "was not answered") {
		t.Error(err)
	}
}

func TestServerSilentClient(t *testing.T) {
	_, done := serveRaw(t, &testServer{t: t}, ServerOptions{Silence: 40 * time.Millisecond})
	wantErr(t, <-done, ErrLost)
}

// A client that does not read its replies is lost after a while, even with replies waiting to be sent.
func TestServerClientDoesNotRead(t *testing.T) {
	peer, done := serveRaw(t, &testServer{t: t}, ServerOptions{Silence: 40 * time.Millisecond})
	if _, err := peer.Write(frame(opFill, 1, 0, le32(64<<20))); err != nil {
		t.Fatal(err)
	}
	wantErr(t, <-done, ErrLost)
}

func TestServerClose(t *testing.T) {
	peer, fd := pair(t)
	s, err := NewServerFD(fd, nil, ServerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(&testServer{t: t}) }()
	s.Close("maintenance")
	if err := <-done; err != nil {
		t.Error(err)
	}
	h, p := readFrame(t, peer)
	if h.Op != OpShutdown || h.Flags != FlagNoReply || string(p) != "maintenance" {
		t.Errorf("%+v %q", h, p)
	}
	if err := s.Notify(opTell, nil); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

// What the client was told before Close arrives, and why it ends, though the client has yet to read what is on its way.
func TestServerCloseBehindReply(t *testing.T) {
	peer, fd := pair(t)
	s, err := NewServerFD(fd, nil, ServerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(&testServer{t: t}) }()
	const size = 8 << 20 // more than the socket has room for
	if _, err := peer.Write(frame(opFill, 1, 0, le32(size))); err != nil {
		t.Fatal(err)
	}
	for {
		s.out.mu.Lock()
		writing := s.out.writing
		s.out.mu.Unlock()
		if writing {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if err := s.Notify(opTell, []byte("a fault")); err != nil {
		t.Error(err)
	}
	closed := make(chan struct{})
	go func() { s.Close("maintenance"); close(closed) }()
	told := false
	for {
		h, p := readFrame(t, peer)
		told = told || h.Op == opTell && string(p) == "a fault"
		if h.Op == OpShutdown {
			if string(p) != "maintenance" || !told {
				t.Errorf("the end: %q; told before: %v", p, told)
			}
			break
		}
	}
	<-closed
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestReadHelloExactly(t *testing.T) {
	peer, fd := pair(t)
	p := must(sampleHello.Append(nil))
	if _, err := peer.Write(append(frame(OpInit, 0, 0, p), "next"...)); err != nil {
		t.Fatal(err)
	}
	conn := fileConn(t, fd)
	hello, h, err := ReadHello(conn, patience)
	if err != nil || hello.PID != sampleHello.PID || hello.Protocol != Version || h.Op != OpInit {
		t.Fatal(hello, h, err)
	}
	rest := make([]byte, 4)
	if _, err := io.ReadFull(conn, rest); err != nil || string(rest) != "next" {
		t.Errorf("%q %v", rest, err)
	}
}

func TestReadHelloBad(t *testing.T) {
	good := must(sampleHello.Append(nil))
	for _, c := range []struct {
		name string
		send []byte
		kind error
	}{
		{"nothing", nil, ErrLost},
		{"half a header", frame(OpInit, 0, 0, good)[:11], ErrLost},
		{"half a Hello", frame(OpInit, 0, 0, good)[:60], ErrLost},
		{"HTTP", []byte("GET / HTTP/1.1\r\nHost: gpu7\r\n\r\n"), ErrProtocol},
		{"old version", Header{0x0100, OpInit, 0, 0, 0}.Append(nil), ErrProtocol},
		{"next major version", Header{0x0300, OpInit, 0, 0, 0}.Append(nil), ErrProtocol},
		{"other op", frame(opEcho, 0, 0, good), ErrProtocol},
		{"other id", frame(OpInit, 1, 0, good), ErrProtocol},
		{"flags", frame(OpInit, 0, FlagNoReply, good), ErrProtocol},
		{"long", Header{Version, OpInit, 0, MaxHello + 1, 0}.Append(nil), ErrProtocol},
		{"no map", frame(OpInit, 0, 0, []byte{1}), ErrProtocol},
	} {
		peer, fd := pair(t)
		if _, err := peer.Write(c.send); err != nil {
			t.Fatal(err)
		}
		_ = peer.CloseWrite()
		conn := fileConn(t, fd)
		_, h, err := ReadHello(conn, patience)
		if !errors.Is(err, c.kind) {
			t.Errorf("%s: %v", c.name, err)
		}
		if c.name == "old version" && (h.Version != 0x0100 || h.Op != OpInit) {
			t.Errorf("the header of an old client: %+v", h)
		}
		if err := Refuse(conn, 5, "no"); err != nil {
			t.Errorf("%s: refusing: %v", c.name, err)
		}
		if h, p, err := readInit(peer); err != nil || h.Flags != FlagResponse|FlagError || !bytes.HasPrefix(p, []byte{5, 0, 0, 0}) {
			t.Errorf("%s: refusal %+v %q %v", c.name, h, p, err)
		}
	}
}

// Neither a client that says nothing nor one that drips bytes holds ReadHello for longer than the limit.
func TestReadHelloSlow(t *testing.T) {
	b := frame(OpInit, 0, 0, must(sampleHello.Append(nil)))
	for name, every := range map[string]time.Duration{"silent": 0, "slow loris": 20 * time.Millisecond} {
		peer, fd := pair(t)
		conn := fileConn(t, fd)
		stop := make(chan struct{})
		go func() {
			for i := 0; every > 0 && i < len(b); i++ {
				if _, err := peer.Write(b[i : i+1]); err != nil {
					return
				}
				select {
				case <-stop:
					return
				case <-time.After(every):
				}
			}
		}()
		_, _, err := ReadHello(conn, 100*time.Millisecond)
		close(stop)
		if !errors.Is(err, ErrTimeout) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzServer(f *testing.F) {
	for _, seed := range [][]byte{
		frame(opEcho, 1, 0, []byte("abc")),
		frame(opEcho, 1, FlagInlineData, le32(1), []byte("abc")),
		append(frame(opEcho, 1, FlagInlineData|FlagMore, le32(0), le64(3), []byte("a")), frame(opEcho, 1, FlagInlineData, []byte("bc"))...),
		append(frame(OpPing, 1, 0), frame(OpShutdown, 2, FlagNoReply, []byte("bye"))...),
		append(frame(0x777, 1, FlagNoReply), frame(opSlow, 2, 0)...),
		frame(opEcho, 1, FlagTimed, []byte("abc")),
		frame(opEcho, 1, FlagInlineData|FlagPacked, le32(1), le32(100), []byte("a"), packedZeros(100)),
		append(frame(opEcho, 1, FlagInlineData|FlagMore|FlagPacked, le32(0), le64(300), le32(100), packedZeros(100)),
			frame(opEcho, 1, FlagInlineData|FlagPacked, le32(200), packedZeros(200))...),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		h := HandlerFunc(func(r *Request) {
			if r.BulkLen < 1<<20 {
				_ = r.ReadBulk(make([]byte, r.BulkLen/2))
			}
			r.Measure()
			_ = r.Reply(int32(r.Op), r.Fixed)
		})
		peer, done := serveRaw(t, h, ServerOptions{}, FeatureTiming, FeaturePacked)
		go func() {
			_, _ = peer.Write(b)
			_ = peer.CloseWrite()
		}()
		within(t, "server", func() {
			_, _ = io.Copy(io.Discard, peer)
			if err := <-done; err != nil && !errors.Is(err, ErrLost) && !errors.Is(err, ErrProtocol) {
				t.Error(err)
			}
		})
	})
}
