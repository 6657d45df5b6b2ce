package wire

import (
	"bytes"
	"errors"
	"net"
	"testing"
	"time"
)

// wholeFrame reads one frame as it came.
func wholeFrame(t *testing.T, c net.Conn) []byte {
	t.Helper()
	h, p := readFrame(t, c)
	return append(h.Append(nil), p...)
}

// docCalls has a client and a server talk, through the test, which sees each frame.
func docCalls(t *testing.T, d *protocolDoc) {
	told := make(chan []byte, 1)
	client, c := clientRaw(t, Options{OnNotify: func(_ uint16, p []byte) { told <- p }}, FeatureTiming)
	c.timed = true // as if its Hello had asked for it
	server, ended := serveRaw(t, HandlerFunc(func(r *Request) {
		switch r.Op {
		case 0x0100: // hipGetDeviceCount
			_ = r.Reply(0, le32(2))
		case 0x0221: // hipMemsetAsync: posted
		case 0x7001: // keeps nothing
			_ = r.Reply(int32(r.BulkLen), nil)
		case 0x7002:
			r.timing, r.timed = Timing{Queue: 1000, Execution: 2 * time.Millisecond}, true
			_ = r.ReplyBulk(0, r.Fixed, []byte("bulk"))
		case 0x7003:
			_ = r.Conn().Notify(0x7003, []byte("news"))
		default:
			_ = r.Reply(801, nil)
		}
	}), ServerOptions{})
	if onStreams || onTLS || onShared {
		t.Fatal("the examples are those of a plain socket")
	}
	// call has f run on the client and gives what it sent, in so many frames.
	sent := func(frames int, f func() error) (b []byte, done chan error) {
		done = make(chan error, 1)
		go func() { done <- f() }()
		for range frames {
			b = append(b, wholeFrame(t, client)...)
		}
		write(t, server, b)
		return b, done
	}
	replied := func(done chan error) []byte {
		b := wholeFrame(t, server)
		write(t, client, b)
		within(t, "call", func() {
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
		return b
	}
	call := func(op uint16, m *Msg, frames int) (request, reply []byte) {
		request, done := sent(frames, func() error { return c.Call(op, m) })
		return request, replied(done)
	}

	m := &Msg{}
	request, reply := call(0x0100, m, 1)
	d.check("call", request)
	d.check("its reply", reply, part{4, "code 0"}, part{4, "results: 2 devices"})
	if m.Code != 0 || !bytes.Equal(m.Rep, le32(2)) {
		t.Errorf("code %d, results %x", m.Code, m.Rep)
	}

	memset := Enc{}
	memset.I32(0)
	memset.U32(3)
	memset.U64(0x7f0000000000)
	memset.I32(0xff)
	memset.U64(1024)
	memset.U64(0)
	posted, done := sent(1, func() error { return errors.Join(c.Post(0x0221, memset.B, nil), c.Flush()) })
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	d.check("posted call", posted, part{0, "fixed part"})

	m = &Msg{Req: le32(5), Bulk: make([]byte, MaxPayload)}
	request, reply = call(0x7001, m, 2)
	d.check("bulk in two frames", request, part{4, "length of the fixed part"}, part{8, "length of all bulk, 8 MiB"}, part{4, "fixed part"}, part{0, "bulk, as much as fits"})
	d.check("reply to bulk", reply, part{4, "code: an error"})
	if m.Code != MaxPayload {
		t.Errorf("the server got %d bytes", m.Code)
	}

	m = &Msg{Req: []byte("abc"), Bulk: []byte("12345"), Dst: make([]byte, 10)}
	request, reply = call(0x7002, m, 1)
	d.check("call with bulk", request, part{4, "length of the fixed part"}, part{3, "fixed part"}, part{5, "bulk"})
	d.check("reply with times and bulk", reply, part{4, "code 0"}, part{8, "queue, 1000 ns"}, part{8, "execution, 2,000,000 ns"}, part{4, "length of results"}, part{3, "results"}, part{4, "bulk"})
	if string(m.Rep) != "abc" || string(m.Dst[:m.DstN]) != "bulk" || m.Timing != (Timing{1000, 2 * time.Millisecond}) {
		t.Errorf("%q %q %v", m.Rep, m.Dst, m.Timing)
	}

	m = &Msg{}
	_, reply = call(0x7fff, m, 1)
	d.check("error", reply, part{4, "code 801, hipErrorNotSupported"})

	if _, done = sent(1, func() error { return errors.Join(c.Post(0x7003, nil, nil), c.Flush()) }); <-done != nil {
		t.Fatal("not posted")
	}
	notice := wholeFrame(t, server)
	d.check("notice", notice, part{4, "payload"})
	write(t, client, notice)
	within(t, "notice", func() {
		if p := <-told; string(p) != "news" {
			t.Errorf("%q was told", p)
		}
	})

	ping := Header{Version, OpPing, 0, 0, FlagNoReply}.Append(nil)
	d.check("PING", ping)
	write(t, client, ping)

	bye, done := sent(1, c.Close)
	d.check("SHUTDOWN", bye)
	within(t, "end", func() {
		if err := errors.Join(<-done, <-ended); err != nil {
			t.Error(err)
		}
	})
}
