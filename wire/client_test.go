package wire

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestClientFrames(t *testing.T) {
	peer, c := clientRaw(t, Options{})
	for _, s := range []struct {
		name string
		send func() error
		want []byte
	}{
		{"post", func() error { return c.Post(opPost, []byte("ab"), nil) }, frame(opPost, 1, FlagNoReply, []byte("ab"))},
		{"post with bulk", func() error { return c.Post(opPost, []byte("ab"), []byte("cde")) },
			frame(opPost, 2, FlagNoReply|FlagInlineData, le32(2), []byte("abcde"))},
		{"post with more bulk", func() error { return c.Post(opPost, []byte("ab"), pattern(bulkCopy+1)) },
			frame(opPost, 3, FlagNoReply|FlagInlineData, le32(2), []byte("ab"), pattern(bulkCopy+1))},
		{"call", func() error { return c.Go(opEcho, &Msg{Req: []byte("x")}, func(*Msg, error) {}) }, frame(opEcho, 4, 0, []byte("x"))},
		{"call with bulk", func() error { return c.Go(opEcho, &Msg{Bulk: []byte("x")}, func(*Msg, error) {}) },
			frame(opEcho, 5, FlagInlineData, le32(0), []byte("x"))},
	} {
		if err := s.send(); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(s.want))
		if _, err := io.ReadFull(peer, got); err != nil || !bytes.Equal(got, s.want) {
			t.Fatalf("%s: %.60x, want %.60x, %v", s.name, got, s.want, err)
		}
	}
	// 8 MiB and 5 bytes make two frames.
	bulk := pattern(MaxPayload + 5)
	go func() { _ = c.Post(opPost, []byte("ab"), bulk) }()
	h, p := readFrame(t, peer)
	if h != (Header{Version, opPost, 6, MaxPayload, FlagNoReply | FlagInlineData | FlagMore}) ||
		!bytes.Equal(p[:14], append(append(le32(2), le64(uint64(len(bulk)))...), "ab"...)) || !bytes.Equal(p[14:], bulk[:MaxPayload-14]) {
		t.Errorf("first frame %+v %.20x", h, p)
	}
	h, p = readFrame(t, peer)
	if h != (Header{Version, opPost, 6, 19, FlagNoReply | FlagInlineData}) || !bytes.Equal(p, bulk[MaxPayload-14:]) {
		t.Errorf("second frame %+v %.20x", h, p)
	}
	// A PING from the server is not answered, Close says SHUTDOWN.
	if _, err := peer.Write(frame(OpPing, 0, FlagNoReply)); err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
	if h, _ := readFrame(t, peer); h != (Header{Version, OpShutdown, 7, 0, FlagNoReply}) {
		t.Errorf("%+v", h)
	}
}

// What a server must not send: every pending call fails, with an error that names the peer.
func TestClientViolations(t *testing.T) {
	rep := FlagResponse
	for _, c := range []struct {
		name string
		send []byte
		says string
	}{
		{"magic", bytes.Repeat([]byte{'G'}, HeaderSize), "wrong magic"},
		{"version", Header{0x0201, opEcho, 1, 0, rep}.Append(nil), "wrong version"},
		{"length", Header{Version, opEcho, 1, MaxPayload + 1, rep}.Append(nil), "over the limit"},
		{"unknown id", frame(opEcho, 2, rep, le32(0)), "reply to no request"},
		{"other op", frame(opFill, 1, rep, le32(0)), "another operation"},
		{"no reply", frame(opEcho, 1, rep|FlagNoReply, le32(0)), "do not go together"},
		{"more without data", frame(opEcho, 1, rep|FlagMore, le32(0)), "do not go together"},
		{"no code", frame(opEcho, 1, rep, []byte{0, 0, 0}), "too short"},
		{"error without code", frame(opEcho, 1, rep|FlagError, le32(0)), "disagree"},
		{"code without error", frame(opEcho, 1, rep, le32(1)), "disagree"},
		{"results length", frame(opEcho, 1, rep|FlagInlineData, le32(0), le32(2), []byte{1}), "in a shorter frame"},
		{"no room", frame(opEcho, 1, rep|FlagInlineData, le32(0), le32(0), make([]byte, 9)), "for 8 bytes of memory"},
		{"no room for total", frame(opEcho, 1, rep|FlagInlineData|FlagMore, le32(0), le32(0), le64(9), make([]byte, 8)), "for 8 bytes of memory"},
		{"total short", frame(opEcho, 1, rep|FlagInlineData|FlagMore, le32(0), le32(0), le64(8), make([]byte, 8)), "in several frames"},
		{"continuation too long", append(frame(opEcho, 1, rep|FlagInlineData|FlagMore, le32(0), le32(0), le64(5), make([]byte, 4)),
			frame(opEcho, 1, rep|FlagInlineData, make([]byte, 2))...), "more bulk than"},
		{"continuation too short", append(frame(opEcho, 1, rep|FlagInlineData|FlagMore, le32(0), le32(0), le64(6), make([]byte, 4)),
			frame(opEcho, 1, rep|FlagInlineData, make([]byte, 1))...), "less bulk than"},
		{"empty continuation", append(frame(opEcho, 1, rep|FlagInlineData|FlagMore, le32(0), le32(0), le64(6), make([]byte, 4)),
			frame(opEcho, 1, rep|FlagInlineData|FlagMore)...), "empty continuation"},
		{"continuation's flags", append(frame(opEcho, 1, rep|FlagInlineData|FlagMore, le32(0), le32(0), le64(6), make([]byte, 4)),
			frame(opEcho, 1, rep|FlagInlineData|FlagError, make([]byte, 2))...), "flags differ"},
		{"request", frame(opEcho, 0, 0), "neither reply nor notice"},
		{"notice with id", frame(opTell, 1, FlagNoReply), "neither reply nor notice"},
		{"long notice", Header{Version, opTell, 0, MaxNotice + 1, FlagNoReply}.Append(nil), "neither reply nor notice"},
		{"notice of the package", frame(0x42, 0, FlagNoReply), "has none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			peer, cl := clientRaw(t, Options{})
			go func() {
				if _, err := io.ReadFull(peer, make([]byte, HeaderSize)); err == nil {
					_, _ = peer.Write(c.send)
				}
			}()
			memory := make([]byte, 64)
			err := cl.Call(opEcho, &Msg{Dst: memory[:8]})
			wantErr(t, err, ErrProtocol)
			if err != nil && (!strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "gpu7:18515")) {
				t.Errorf("%v does not say %q and gpu7:18515", err, c.says)
			}
			if !bytes.Equal(memory[8:], make([]byte, 56)) {
				t.Error("memory behind Dst was written")
			}
			wantErr(t, cl.Call(opEcho, &Msg{}), ErrProtocol)
			wantErr(t, cl.Post(opPost, nil, nil), ErrProtocol)
			wantErr(t, cl.Post(opPost, nil, make([]byte, bulkCopy+1)), ErrProtocol)
			wantErr(t, cl.Flush(), ErrProtocol)
		})
	}
}

// Replies in several frames may mix.
func TestClientMixedReplies(t *testing.T) {
	peer, c := clientRaw(t, Options{})
	results := make(chan error, 2)
	a, b := &Msg{Dst: make([]byte, 4)}, &Msg{Dst: make([]byte, 5)}
	for _, m := range []*Msg{a, b} {
		if err := c.Go(opEcho, m, func(_ *Msg, err error) { results <- err }); err != nil {
			t.Fatal(err)
		}
	}
	const f = FlagResponse | FlagInlineData
	if _, err := peer.Write(bytes.Join([][]byte{
		frame(opEcho, 2, f|FlagMore|FlagError, le32(3), le32(1), le64(3), []byte("rB")),
		frame(opEcho, 1, f|FlagMore, le32(0), le32(0), le64(4), []byte("a")),
		frame(opEcho, 2, f|FlagError, []byte("CD")),
		frame(opEcho, 1, f|FlagMore, []byte("bc")),
		frame(opEcho, 1, f, []byte("d")),
	}, nil)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := <-results; err != nil {
			t.Fatal(err)
		}
	}
	if string(a.Dst) != "abcd" || a.DstN != 4 || a.Code != 0 || string(b.Dst[:3]) != "BCD" || b.DstN != 3 || b.Code != 3 || string(b.Rep) != "r" {
		t.Errorf("%+v %+v", a, b)
	}
}

// All that wait get the error when the server goes away in the middle of a reply.
func TestClientLost(t *testing.T) {
	lost := make(chan error, 1)
	peer, c := clientRaw(t, Options{OnLost: func(err error) { lost <- err }})
	errs := make(chan error, 10)
	for i := range 10 {
		if i%2 == 0 {
			go func() { errs <- c.Call(opFill, &Msg{Dst: make([]byte, 100)}) }()
		} else if err := c.Go(opFill, &Msg{Dst: make([]byte, 100)}, func(_ *Msg, err error) { errs <- err }); err != nil {
			t.Fatal(err)
		}
	}
	for range 10 {
		readFrame(t, peer)
	}
	if _, err := peer.Write(frame(opFill, 3, FlagResponse|FlagInlineData, le32(0), le32(0), make([]byte, 100))[:50]); err != nil {
		t.Fatal(err)
	}
	_ = peer.Close()
	for range 10 {
		err := <-errs
		wantErr(t, err, ErrLost)
		if !strings.Contains(err.Error(), "gpu7:18515") {
			t.Error(err)
		}
	}
	wantErr(t, <-lost, ErrLost)
	wantErr(t, c.Err(), ErrLost)
}

func TestClientGoodbye(t *testing.T) {
	peer, c := clientRaw(t, Options{})
	go func() {
		if _, err := io.ReadFull(peer, make([]byte, HeaderSize)); err == nil {
			_, _ = peer.Write(frame(OpShutdown, 0, FlagNoReply, []byte("over quota")))
		}
	}()
	if err := c.Call(opEcho, &Msg{}); !errors.Is(err, ErrLost) || !strings.Contains(err.Error(), "over quota") {
		t.Error(err)
	}
}

// A server that stops sending in the middle of a frame, or says nothing at all, is lost after the I/O timeout, whoever reads.
func TestClientSilentServer(t *testing.T) {
	part := frame(opFill, 1, FlagResponse|FlagInlineData, le32(0), le32(0), make([]byte, 100))[:50]
	for _, send := range [][]byte{nil, part[:7], part} {
		for _, wait := range []bool{true, false} {
			peer, c := clientRaw(t, Options{IOTimeout: 50 * time.Millisecond})
			if send != nil {
				go func() {
					if _, err := io.ReadFull(peer, make([]byte, HeaderSize)); err == nil {
						_, _ = peer.Write(send)
					}
				}()
			}
			m := &Msg{Dst: make([]byte, 100)}
			if wait {
				wantErr(t, c.Call(opFill, m), ErrLost)
				continue
			}
			errs := make(chan error, 1)
			if err := c.Go(opFill, m, func(_ *Msg, err error) { errs <- err }); err != nil {
				t.Fatal(err)
			}
			wantErr(t, <-errs, ErrLost)
		}
	}
}

// A server that takes nothing is lost as well, whoever sends.
func TestClientStuckServer(t *testing.T) {
	_, c := clientRaw(t, Options{IOTimeout: 50 * time.Millisecond})
	wantErr(t, c.Post(opPost, nil, make([]byte, 64<<20)), ErrLost)
	_, c = clientRaw(t, Options{IOTimeout: 50 * time.Millisecond})
	within(t, "posting", func() {
		for {
			if err := c.Post(opPost, make([]byte, 1000), nil); err != nil {
				wantErr(t, err, ErrLost)
				return
			}
		}
	})
}

// A call may take many times the I/O timeout as long as the server is heard of. An idle connection may be silent.
func TestClientLongCall(t *testing.T) {
	const timeout = 800 * time.Millisecond // in which the server gets a processor
	release := make(chan struct{})
	var pings atomic.Pointer[ServerConn]
	c := start(t, HandlerFunc(func(r *Request) {
		pings.Store(r.Conn())
		k := r.Retain()
		go func() { <-release; _ = k.Reply(0, nil) }()
	}), Options{IOTimeout: timeout})
	go func() {
		for pings.Load() == nil || pings.Load().Stats().FramesOut < 7 { // at least a timeout and a quarter, since a PING goes every quarter
			time.Sleep(time.Millisecond)
		}
		close(release)
	}()
	if err := c.Call(opEcho, &Msg{}); err != nil {
		t.Fatal(err)
	}
	peer, idle := clientRaw(t, Options{IOTimeout: timeout})
	time.Sleep(timeout * 5 / 4)
	go func() {
		for { // the client's own PINGs come first
			if h, _ := readFrame(t, peer); h.Op == opEcho {
				_, _ = peer.Write(frame(opEcho, h.ID, FlagResponse, le32(0)))
				return
			}
		}
	}()
	if err := idle.Call(opEcho, &Msg{}); err != nil {
		t.Error(err)
	}
}

// Close resolves what is pending, and nobody writes into Dst after its call has returned.
func TestClientCloseWithinReply(t *testing.T) {
	peer, c := clientRaw(t, Options{})
	errs := make(chan error, 1)
	m := &Msg{Dst: make([]byte, 1<<20)}
	go func() { errs <- c.Call(opFill, m) }()
	readFrame(t, peer)
	reply := frame(opFill, 1, FlagResponse|FlagInlineData, le32(0), le32(0), bytes.Repeat([]byte{0xee}, 1<<20))
	if _, err := peer.Write(reply[:1000]); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = peer.Write(reply[1000:]) }()
	_ = c.Close()
	if err := <-errs; err != nil { // the whole reply may have been faster
		wantErr(t, err, ErrClosed)
	}
	clear(m.Dst)
	time.Sleep(5 * time.Millisecond)
	if !bytes.Equal(m.Dst, make([]byte, 1<<20)) {
		t.Error("written after the call had returned")
	}
	wantErr(t, c.Call(opEcho, &Msg{}), ErrClosed)
	wantErr(t, c.Post(opPost, nil, nil), ErrClosed)
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func TestClientTooLong(t *testing.T) {
	c := start(t, &testServer{t: t}, Options{})
	if err := c.Post(opPost, make([]byte, MaxPayload), nil); err == nil || errors.Is(err, ErrLost) {
		t.Error(err)
	}
	if err := c.Call(opEcho, &Msg{Req: make([]byte, MaxPayload-16)}); err != nil {
		t.Error(err)
	}
}

// Numbers go on after 2^32 messages, and one that is still pending is not given twice.
func TestClientNumbersWrap(t *testing.T) {
	peer, c := clientRaw(t, Options{})
	c.out.mu.Lock()
	c.seq = 0xfffffffe
	c.out.mu.Unlock()
	done := make(chan error, 8)
	post := func() {
		if err := c.Go(opEcho, &Msg{}, func(_ *Msg, err error) { done <- err }); err != nil {
			t.Fatal(err)
		}
	}
	post() // ffffffff
	c.out.mu.Lock()
	c.seq, c.wrapped = 0xfffffffe, true // as if all others had been used
	c.out.mu.Unlock()
	post() // 0
	var ids []uint32
	var ops []uint16
	for range 3 {
		h, _ := readFrame(t, peer)
		ids, ops = append(ids, h.ID), append(ops, h.Op)
	}
	if ids[0] != 0xffffffff || ids[1] != 0xffffffff || ids[2] != 0 || ops[1] != OpPing {
		t.Errorf("%x %x", ids, ops)
	}
}

func TestNotices(t *testing.T) {
	got := make(chan string, 3)
	c := start(t, &testServer{t: t}, Options{OnNotify: func(op uint16, p []byte) { got <- string(p) }})
	for _, s := range []string{"a", "b", strings.Repeat("c", MaxNotice)} {
		if err := c.Call(opTell, &Msg{Req: []byte(s)}); err != nil {
			t.Fatal(err)
		}
		if n := <-got; n != s {
			t.Errorf("%.9q, want %.9q", n, s)
		}
	}
}

// A notice that is taken at once has been when the reply behind it is there, and does not come again.
func TestNoticesAtOnce(t *testing.T) {
	var seen []string
	later := make(chan string, 100)
	c := start(t, &testServer{t: t}, Options{
		AtOnce: func(op uint16, p []byte) bool {
			if op == opTell && p[0] == 'n' {
				seen = append(seen, string(p))
				return true
			}
			return false
		},
		OnNotify: func(op uint16, p []byte) { later <- string(p) },
	})
	for i := range 100 {
		want := "now " + strconv.Itoa(i)
		if err := c.Call(opTell, &Msg{Req: []byte(want)}); err != nil {
			t.Fatal(err)
		}
		if len(seen) != i+1 || seen[i] != want {
			t.Fatalf("after the reply: %q", seen)
		}
	}
	if err := c.Call(opTell, &Msg{Req: []byte("later")}); err != nil {
		t.Fatal(err)
	}
	if n := <-later; n != "later" {
		t.Errorf("%q", n)
	}
}

// A server that sends more notices than a slow function takes is cut off before they fill the memory.
func TestNoticeFlood(t *testing.T) {
	release := make(chan struct{})
	peer, c := clientRaw(t, Options{OnNotify: func(uint16, []byte) { <-release }})
	defer close(release)
	flood := frame(opTell, 0, FlagNoReply, make([]byte, MaxNotice))
	for range 2*maxNoticeBytes/MaxNotice + 2 { // as many again may be taken out before the function blocks
		if _, err := peer.Write(flood); err != nil {
			break
		}
	}
	within(t, "end of the connection", func() {
		for c.Err() == nil {
			time.Sleep(time.Millisecond)
		}
	})
	wantErr(t, c.Err(), ErrProtocol)
}

// A notice that comes while nobody calls is delivered, and its function may call.
func TestNoticeWhileIdle(t *testing.T) {
	got := make(chan error, 1)
	var c *Client
	conns := make(chan *ServerConn, 1)
	c = start(t, HandlerFunc(func(r *Request) {
		if r.Op == opTell {
			conns <- r.Conn()
		}
		_ = r.Reply(0, nil)
	}), Options{OnNotify: func(uint16, []byte) { got <- c.Call(opEcho, &Msg{}) }})
	if err := c.Call(opTell, &Msg{}); err != nil {
		t.Fatal(err)
	}
	s := <-conns
	for range 3 {
		time.Sleep(5 * time.Millisecond) // let the keeper sleep
		if err := s.Notify(opTell, nil); err != nil {
			t.Fatal(err)
		}
		if err := <-got; err != nil {
			t.Fatal(err)
		}
	}
}

// Whatever a server sends, every call is resolved exactly once and only its own memory is written.
func FuzzClientReply(f *testing.F) {
	const r = FlagResponse
	for _, seed := range [][]byte{
		append(frame(opEcho, 2, r, le32(0), []byte("results")), frame(opEcho, 1, r|FlagError, le32(7))...),
		frame(opEcho, 3, r|FlagInlineData, le32(0), le32(1), []byte("abc")),
		append(frame(opEcho, 1, r|FlagInlineData|FlagMore, le32(0), le32(0), le64(3), []byte("a")), frame(opEcho, 1, r|FlagInlineData, []byte("bc"))...),
		append(frame(opTell, 0, FlagNoReply, []byte("x")), frame(OpPing, 0, FlagNoReply)...),
		frame(OpShutdown, 0, FlagNoReply, []byte("bye")),
		frame(opEcho, 1, r|FlagTimed, le32(0), le64(1), le64(2), []byte("results")),
		append(frame(opEcho, 1, r|FlagTimed|FlagInlineData|FlagMore, le32(0), le64(maxTiming), le64(0), le32(0), le64(3), []byte("a")),
			frame(opEcho, 1, r|FlagInlineData, []byte("bc"))...),
		frame(opEcho, 1, r|FlagTimed|FlagError, le32(7), le64(0), le64(maxTiming+1)),
		frame(opEcho, 1, r|FlagInlineData|FlagPacked, le32(0), le32(0), le32(16), packedZeros(16)),
		append(frame(opEcho, 1, r|FlagInlineData|FlagMore|FlagPacked, le32(0), le32(0), le64(15), le32(10), packedZeros(10)),
			frame(opEcho, 1, r|FlagInlineData|FlagPacked, le32(5), packedZeros(5))...),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		peer, c := clientRaw(t, Options{OnNotify: func(uint16, []byte) {}, Hello: Hello{Features: []string{FeatureTiming, FeaturePacked}}}, FeatureTiming, FeaturePacked)
		const calls, room, guard = 3, 16, 16
		memory := bytes.Repeat([]byte{0xa5}, calls*(room+guard))
		var resolved atomic.Int32
		left := make(chan struct{}, 2*calls)
		for i := range calls {
			at := i * (room + guard)
			m := &Msg{Dst: memory[at : at+room]}
			if err := c.Go(opEcho, m, func(m *Msg, err error) {
				if m.DstN > room {
					t.Errorf("%d bytes of bulk", m.DstN)
				}
				resolved.Add(1)
				left <- struct{}{}
			}); err != nil {
				t.Fatal(err)
			}
		}
		go func() { _, _ = io.Copy(io.Discard, peer) }()
		go func() {
			_, _ = peer.Write(b)
			_ = peer.CloseWrite()
		}()
		within(t, "client", func() {
			for range calls {
				<-left
			}
			_ = c.Close()
		})
		if resolved.Load() != calls {
			t.Errorf("%d calls, %d resolved", calls, resolved.Load())
		}
		for i := range calls {
			if g := memory[i*(room+guard)+room:][:guard]; !bytes.Equal(g, bytes.Repeat([]byte{0xa5}, guard)) {
				t.Errorf("memory behind call %d was written: %x", i, g)
			}
		}
	})
}

// TestCallAtEnd: a call that comes between a failed write and its being told gets the error, and not what its message had from another call.
func TestCallAtEnd(t *testing.T) {
	peer, c := clientRaw(t, Options{})
	entered, told := make(chan struct{}), make(chan struct{})
	c.out.mu.Lock()
	c.out.fail = func(err error) {
		close(entered)
		<-told
		c.fail(err)
	}
	c.out.mu.Unlock()
	if err := peer.CloseRead(); err != nil { // writes fail, and nothing ends the reading
		t.Fatal(err)
	}
	bulk := pattern(bulkCopy + 1)
	results := make(chan error, 2)
	go func() { results <- c.Call(opEcho, &Msg{Bulk: bulk}) }()
	within(t, "failed write", func() { <-entered })
	go func() { results <- c.Call(opEcho, &Msg{Bulk: bulk, done: true}) }() // as if it had been used before
	time.Sleep(20 * time.Millisecond)                                       // it finds the write role taken, or the end
	close(told)
	within(t, "calls", func() {
		for range 2 {
			if err := <-results; !errors.Is(err, ErrLost) {
				t.Errorf("a call at the end: %v", err)
			}
		}
	})
}
