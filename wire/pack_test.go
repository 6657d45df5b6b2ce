package wire

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/internal/cutproxy"
)

// packedZeros is n zeros, compressed.
func packedZeros(n int) []byte {
	p := packer{rate: 1}
	return p.pack(make([]byte, n), 0)
}

// slowRate is so low that compression pays however busy the machine is.
const slowRate = 1e3

// slowly is a path that is slow and always in the way.
func slowly() (float64, bool) { return slowRate, true }

// packedPair is a client and a server, with h, that take their path for a slow one.
func packedPair(t *testing.T, h Handler) (c *Client, s *ServerConn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	ct, st := under(t, fds[0]), under(t, fds[1])
	forServer(st, ServerOptions{})
	s = newServer(st, Peer{Addr: st.peer()}, ServerOptions{})
	s.out.pack = &packer{path: slowly, rate: slowRate}
	s.out.k.beat = 0
	done := make(chan error, 1)
	go func() { done <- s.Serve(h) }()
	c = newClient(ct, Options{IOTimeout: patience, Hello: Hello{Features: []string{FeaturePacked}}},
		&Welcome{Protocol: Version, HeartbeatMS: 60000, Features: []string{FeaturePacked}}, "gpu7", "18515")
	c.out.mu.Lock()
	c.out.pack = &packer{path: slowly, rate: slowRate}
	c.out.mu.Unlock()
	t.Cleanup(func() {
		_ = c.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return c, s
}

// retry has a side try again at once.
func retry(o *out) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.acquire() {
		o.pack.pause = 0
		o.writing = false
		o.room.Broadcast()
	}
}

// TestPacked: bulk data of every kind and length comes through a slow path as it was, and what can shrink does.
func TestPacked(t *testing.T) {
	read := make(chan []byte, 1)
	step := 0
	c, s := packedPair(t, HandlerFunc(func(r *Request) {
		got := make([]byte, r.BulkLen)
		defer func() { read <- got }()
		piece := len(got)
		switch step++; step % 4 {
		case 1:
			piece = 100001
		case 2:
			piece = 7777
		case 3: // reads half
			if r.ReadBulk(got[:len(got)/2]) == nil {
				_ = r.Reply(0, nil)
			}
			return
		}
		for at := 0; at < len(got); at += piece {
			if err := r.ReadBulk(got[at:min(at+piece, len(got))]); err != nil {
				t.Error(err)
				return
			}
		}
		_ = r.ReplyBulk(0, []byte("results"), got)
	}))
	rnd := rand.New(rand.NewPCG(1, 2))
	kinds := map[string]func(n int) []byte{
		"zeros":   func(n int) []byte { return make([]byte, n) },
		"pattern": pattern,
		"random": func(n int) []byte {
			b := make([]byte, n)
			for i := range b {
				b[i] = byte(rnd.Uint32())
			}
			return b
		},
		"mixed": func(n int) []byte {
			b := make([]byte, n)
			for i := n / 2; i < n; i++ {
				b[i] = byte(rnd.Uint32())
			}
			return b
		},
	}
	for kind, of := range kinds {
		for _, n := range []int{0, 1, packLeast - 1, packLeast, packSample, packSample + 1, maxPacked, maxPacked + packSample, maxPacked + packSample + 1, 3*maxPacked + 7, MaxPayload + 5} {
			bulk := of(n)
			for i := range 4 {
				retry(&c.out)
				retry(&s.out)
				before := c.Stats()
				m := &Msg{Bulk: bulk, Dst: make([]byte, n)}
				if err := c.Call(opEcho, m); err != nil {
					t.Fatalf("%s, %d bytes: %v", kind, n, err)
				}
				half, got := i == 2, <-read
				if !half && (m.DstN != n || !bytes.Equal(m.Dst, bulk) || string(m.Rep) != "results") || !bytes.Equal(got[:n/2], bulk[:n/2]) {
					t.Fatalf("%s, %d bytes: something else came", kind, n)
				}
				after := c.Stats()
				out, in := int(after.BytesOut-before.BytesOut), int(after.BytesIn-before.BytesIn)
				if n >= packLeast && (kind == "zeros" || kind == "pattern") && (out > n/4 || !half && in > n/4) {
					t.Errorf("%s, %d bytes: %d there and %d back", kind, n, out, in)
				}
			}
		}
	}
}

// TestPackedIsBackAtOnce: what is sent as it is of bulk data that began to be compressed is given back like any other: it may have to be sent again, and then
// as it was.
func TestPackedIsBackAtOnce(t *testing.T) {
	s := newLastingServer(t, patience, func() Handler { return newExactServer(t) })
	p := cutproxy.New(t, s.l.Addr().String())
	cut := make(chan error, 10)
	x := newScript(t, Options{Address: p.Addr(), Hello: Hello{Features: []string{FeaturePacked}}, OnCut: func(err error) { cut <- err }})
	if err := x.run(); err != nil {
		t.Fatal(err)
	}
	p.Set(false, true)
	p.CutAll()
	<-cut
	x.c.out.mu.Lock()
	x.c.out.pack = &packer{path: slowly, rate: slowRate}
	x.c.out.mu.Unlock()
	for range 3 { // a first part that shrinks, and others that do not
		b := append(make([]byte, packSample+1000), x.random(copyFirst)...)
		x.sum = crc32.Update(x.sum, castagnoli, b)
		retry(&x.c.out)
		if err := x.c.Post(opKeep, nil, b); err != nil {
			t.Fatal(err)
		}
		noneLent(t, &x.c.lasting.win)
		clear(b)
	}
	p.Set(false, false)
	within(t, "the sum", func() {
		if err := x.kept(); err != nil {
			t.Error(err)
		}
	})
}

// TestPackedOnlyWhereItPays: not on a path that is fast, or was never in the way, and not again at once after data that does not shrink.
func TestPackedOnlyWhereItPays(t *testing.T) {
	rate, queued := 0.0, false
	p := packer{path: func() (float64, bool) { return rate, queued }}
	bulk := make([]byte, packLeast)
	look := func(r float64, q bool) { rate, queued, p.looked = r, q, 0; p.look() }
	if p.wants(bulk) {
		t.Error("compresses without knowing the path")
	}
	if look(1e6, false); p.wants(bulk) {
		t.Error("compresses although nothing waits for the path")
	}
	if look(1e6, true); !p.wants(bulk) || p.wants(bulk[1:]) {
		t.Error("does not compress on a slow path, or what is short")
	}
	if look(10e9, true); p.wants(bulk) {
		t.Error("compresses on a fast path")
	}
	look(1e6, true)
	noise := make([]byte, packLeast)
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	if p.pack(noise, 0) != nil || p.wants(bulk) {
		t.Error("compresses what does not shrink, or tries again at once")
	}
	for n := 0; n <= packPause && !p.wants(bulk); n += len(bulk) {
	}
	if !p.wants(bulk) {
		t.Error("never tries again")
	}
}

// TestPackedViolations: announcements and data that are not what they say end the connection, and nothing beyond Dst is written.
func TestPackedViolations(t *testing.T) {
	zip := packedZeros
	const in = FlagInlineData | FlagPacked
	for _, c := range []struct {
		name, says string
		send       []byte
	}{
		{"no length", "too short", frame(opEcho, 1, in, le32(0), []byte{1, 2})},
		{"not inline", "too short", frame(opEcho, 1, FlagPacked, le32(0), le32(100), zip(100))},
		{"nothing", "compressed bytes for", frame(opEcho, 1, in, le32(0), le32(100))},
		{"of nothing", "compressed bytes for", frame(opEcho, 1, in, le32(0), le32(0), zip(100))},
		{"too much", "compressed bytes for", frame(opEcho, 1, in, le32(0), le32(maxPacked+1), zip(100))},
		{"garbage", "compressed data", frame(opEcho, 1, in, le32(0), le32(100), bytes.Repeat([]byte{7}, 50))},
		{"fewer", "compressed data is 64 bytes and not 100", frame(opEcho, 1, in, le32(0), le32(100), zip(64))},
		{"more", "compressed data", frame(opEcho, 1, in, le32(0), le32(64), zip(100))},
		{"total", "in several frames", frame(opEcho, 1, in|FlagMore, le32(0), le64(100), le32(100), zip(100))},
		{"later too much", "more bulk than", append(frame(opEcho, 1, in|FlagMore, le32(0), le64(150), le32(100), zip(100)), frame(opEcho, 1, in, le32(100), zip(100))...)},
		{"later short", "too short", append(frame(opEcho, 1, in|FlagMore, le32(0), le64(150), le32(100), zip(100)), frame(opEcho, 1, in, []byte{1})...)},
	} {
		t.Run(c.name, func(t *testing.T) {
			peer, done := serveRaw(t, HandlerFunc(func(r *Request) {
				_ = r.ReadBulk(make([]byte, r.BulkLen))
				_ = r.Reply(0, nil)
			}), ServerOptions{}, FeaturePacked)
			if _, err := peer.Write(c.send); err != nil {
				t.Fatal(err)
			}
			err := <-done
			wantErr(t, err, ErrProtocol)
			if err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v does not say %q", err, c.says)
			}
		})
	}
	peer, client := clientRaw(t, Options{Hello: Hello{Features: []string{FeaturePacked}}}, FeaturePacked)
	memory := make([]byte, 164)
	m := &Msg{Dst: memory[:100:100]}
	failed := make(chan error, 1)
	go func() { failed <- client.Call(opEcho, m) }()
	readFrame(t, peer)
	bad := binary.LittleEndian.AppendUint32(nil, 101)
	if _, err := peer.Write(frame(opEcho, 1, FlagResponse|in, le32(0), le32(0), bad, zip(101))); err != nil {
		t.Fatal(err)
	}
	wantErr(t, <-failed, ErrProtocol)
}
