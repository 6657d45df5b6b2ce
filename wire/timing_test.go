package wire

import (
	"bytes"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rocwire/rocwire/internal/mono"
)

func TestTimingBytes(t *testing.T) {
	for _, c := range []struct {
		name string
		t    Timing
		hex  string
	}{
		{"none", Timing{}, "0000000000000000 0000000000000000"},
		{"both", Timing{0x0102030405060708, 0x1112}, "0807060504030201 1211000000000000"},
		{"longest", Timing{maxTiming, maxTiming}, "0000000000000010 0000000000000010"},
	} {
		want := unhex(t, c.hex)
		if got := c.t.append(nil); !bytes.Equal(got, want) {
			t.Errorf("%s: %x, want %x", c.name, got, want)
		}
		if got, ok := parseTiming(want); !ok || got != c.t {
			t.Errorf("%s: parsed %+v, %v", c.name, got, ok)
		}
	}
	if b := (Timing{-5, maxTiming + 1}).append(nil); !bytes.Equal(b, Timing{0, maxTiming}.append(nil)) {
		t.Errorf("out of range: %x", b)
	}
	for _, s := range []string{"0100000000000010 0000000000000000", "0000000000000000 ffffffffffffffff"} {
		if got, ok := parseTiming(unhex(t, s)); ok {
			t.Errorf("%s: taken as %+v", s, got)
		}
	}
}

// timedServer measures everything it answers, as testServer does.
type timedServer struct{ testServer }

func (s *timedServer) Handle(r *Request) {
	if !r.NoReply() && r.Op == opEcho {
		time.Sleep(100 * time.Microsecond) // mono.Now may stand still for a moment when it is set by the system's clock
		r.Measure()
	}
	if r.Op == opSlow { // from another goroutine
		k := r.Retain()
		go func() {
			time.Sleep(5 * time.Millisecond)
			k.Measure()
			_ = k.Reply(0, k.Fixed)
		}()
		return
	}
	s.testServer.Handle(r)
}

// The frames of timed replies, byte by byte: all three forms.
func TestTimedReplyFrames(t *testing.T) {
	peer, _ := serveRaw(t, &timedServer{testServer{t: t}}, ServerOptions{}, FeatureTiming)
	small, large := []byte("bulk"), pattern(MaxPayload+10)
	for _, c := range []struct {
		bulk  []byte
		flags Flags
	}{{nil, 0}, {small, FlagInlineData}, {large, FlagInlineData | FlagMore}} {
		id := uint32(1)
		switch {
		case c.bulk == nil:
			write(t, peer, frame(opEcho, id, 0, []byte("ab")))
		case len(c.bulk) < bulkCopy:
			id = 2
			write(t, peer, frame(opEcho, id, FlagInlineData, le32(2), []byte("ab"), c.bulk))
		default:
			id = 3
			n := MaxPayload - 14
			go func() {
				_, _ = peer.Write(frame(opEcho, id, FlagInlineData|FlagMore, le32(2), le64(uint64(len(c.bulk))), []byte("ab"), c.bulk[:n]))
				_, _ = peer.Write(frame(opEcho, id, FlagInlineData, c.bulk[n:]))
			}()
		}
		h, p := readFrame(t, peer)
		if h.ID != id || h.Flags != FlagResponse|FlagTimed|c.flags {
			t.Fatalf("%+v", h)
		}
		d := NewDec(p)
		if code, q, x := d.I32(), d.U64(), d.U64(); code != 0 || q > maxTiming || x == 0 || x > maxTiming {
			t.Errorf("code %d, queue %d, execution %d", code, q, x)
		}
		switch {
		case c.bulk == nil:
			if string(d.Rest()) != "ab" {
				t.Errorf("%q", d.Rest())
			}
		case c.flags&FlagMore == 0:
			if r := d.Bytes(); string(r) != "ab" || !bytes.Equal(d.Rest(), c.bulk) {
				t.Errorf("%q", r)
			}
		default:
			n, total := d.U32(), d.U64()
			r := d.Raw(int(n))
			first := d.Rest()
			h, rest := readFrame(t, peer)
			if string(r) != "ab" || total != uint64(len(large)) || h.Flags != FlagResponse|FlagInlineData || !bytes.Equal(append(slices.Clone(first), rest...), large) {
				t.Errorf("%q, %d bytes, %+v", r, total, h)
			}
		}
	}
}

func write(t *testing.T, c net.Conn, b []byte) {
	t.Helper()
	if _, err := c.Write(b); err != nil {
		t.Fatal(err)
	}
}

// Neither side sends or takes timings unless both want them.
func TestTimingIsNegotiated(t *testing.T) {
	timed := frame(opEcho, 1, FlagResponse|FlagTimed, le32(0), le64(3), le64(4), []byte("ab"))
	for _, c := range []struct {
		name    string
		wanted  []string
		granted []string
		frame   []byte
		says    string // of the error; "" for none
	}{
		{"agreed", []string{FeatureTiming}, []string{FeatureTiming}, timed, ""},
		{"agreed, a reply without", []string{FeatureTiming}, []string{FeatureTiming}, frame(opEcho, 1, FlagResponse, le32(0), []byte("ab")), ""},
		{"not granted", []string{FeatureTiming}, nil, timed, "do not go together"},
		{"not wanted", nil, []string{FeatureTiming}, timed, "do not go together"},
		{"too short", []string{FeatureTiming}, []string{FeatureTiming}, frame(opEcho, 1, FlagResponse|FlagTimed, le32(0), make([]byte, 15)), "too short"},
		{"out of range", []string{FeatureTiming}, []string{FeatureTiming},
			frame(opEcho, 1, FlagResponse|FlagTimed, le32(0), le64(0), le64(maxTiming+1)), "out of range"},
		{"on a continuation", []string{FeatureTiming}, []string{FeatureTiming},
			append(frame(opEcho, 1, FlagResponse|FlagTimed|FlagInlineData|FlagMore, le32(0), le64(0), le64(0), le32(0), le64(2), []byte("a")),
				frame(opEcho, 1, FlagResponse|FlagTimed|FlagInlineData, []byte("b"))...), "do not go together"},
	} {
		t.Run(c.name, func(t *testing.T) {
			peer, cl := clientRaw(t, Options{Hello: Hello{Features: c.wanted}}, c.granted...)
			go func() {
				readFrame(t, peer)
				_, _ = peer.Write(c.frame)
			}()
			m := &Msg{Dst: make([]byte, 2)}
			err := cl.Call(opEcho, m)
			if c.says != "" {
				wantErr(t, err, ErrProtocol)
				if err != nil && !strings.Contains(err.Error(), c.says) {
					t.Errorf("%v does not say %q", err, c.says)
				}
				return
			}
			if err != nil || string(m.Rep) != "ab" || m.Timed != (Flags(c.frame[16])&FlagTimed != 0) || m.Timed && m.Timing != (Timing{3, 4}) {
				t.Errorf("%q, %v, %+v, %v", m.Rep, m.Timed, m.Timing, err)
			}
		})
	}
}

// A server does not tell what it has not agreed to tell, and refuses the flag from a client.
func TestServerWithoutTiming(t *testing.T) {
	peer, done := serveRaw(t, &timedServer{testServer{t: t}}, ServerOptions{})
	write(t, peer, frame(opEcho, 1, 0, []byte("ab")))
	if h, p := readFrame(t, peer); h.Flags != FlagResponse || !bytes.Equal(p, append(le32(0), "ab"...)) {
		t.Errorf("%+v %x", h, p)
	}
	write(t, peer, frame(opEcho, 2, FlagTimed, []byte("ab")))
	wantErr(t, <-done, ErrProtocol)
}

// A request waits in the queue while one before it is handled, and its execution goes on until it is answered.
func TestTimingPhases(t *testing.T) {
	peer, _ := serveRaw(t, &timedServer{testServer{t: t}}, ServerOptions{}, FeatureTiming)
	const hold = 20 * time.Millisecond
	busy := HandlerFunc(func(r *Request) {
		time.Sleep(hold)
		r.Measure()
		_ = r.Reply(0, nil)
	})
	held, _ := serveRaw(t, busy, ServerOptions{}, FeatureTiming)
	write(t, held, append(frame(opEcho, 1, 0), frame(opEcho, 2, 0)...)) // one write: they are read together
	phases := func(c net.Conn) Timing {
		t.Helper()
		_, p := readFrame(t, c)
		v, ok := parseTiming(p[4:])
		if !ok {
			t.Fatalf("%x", p)
		}
		return v
	}
	if first := phases(held); first.Execution < hold {
		t.Errorf("the first: %+v", first)
	}
	if second := phases(held); second.Queue < hold || second.Execution < hold {
		t.Errorf("the second: %+v", second)
	}
	write(t, peer, frame(opSlow, 1, 0))
	if late := phases(peer); late.Execution < 5*time.Millisecond {
		t.Errorf("answered later: %+v", late)
	}
}

// Waiting for bulk data that the client has not sent yet is not the server's time.
func TestTimingLeavesOutReceiving(t *testing.T) {
	reading := make(chan struct{})
	peer, _ := serveRaw(t, HandlerFunc(func(r *Request) {
		buf := make([]byte, r.BulkLen)
		_ = r.ReadBulk(buf[:10]) // has come with the header
		if r.received != 0 {
			t.Errorf("waited %v for what was there", r.received)
		}
		close(reading)
		_ = r.ReadBulk(buf[10:])
		v, whole := r.Measure(), mono.Since(r.Started())
		if r.received == 0 || v.Execution > whole-r.received {
			t.Errorf("%v for the bulk, %+v, %v altogether", r.received, v, whole)
		}
		_ = r.Reply(0, nil)
	}), ServerOptions{}, FeatureTiming)
	bulk := pattern(100 << 10)
	f := frame(opEcho, 1, FlagInlineData, le32(0), bulk)
	write(t, peer, f[:HeaderSize+4+10])
	<-reading
	write(t, peer, f[HeaderSize+4+10:])
	readFrame(t, peer)
}
