package worker_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipremote"
	"github.com/rocwire/rocwire/internal/dialing"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/worker"
)

// talk collects what a client logs.
type talk struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *talk) logf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(&l.text, format+"\n", args...)
}

func (l *talk) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// TestSharedMemory: a client on this machine shares memory with its session, through loopback and a Unix socket, unless one side does not want to; copies of
// every size arrive whole either way, and what the socket carries tells which way it was.
func TestSharedMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.sock")
	shares := serve(t, cards(1), worker.Config{Listen: "127.0.0.1", Socket: worker.Socket{Path: path}})
	not := serve(t, cards(1), worker.Config{NoShare: true})
	d := keysAt(t)
	secret := serve(t, cards(1), worker.Config{TLS: serverTLS(d)})
	port := func(w *worker.Server) string { return fmt.Sprint(w.Addr().Port) }
	for _, c := range []struct {
		name    string
		at      *worker.Server
		cfg     hipremote.Config
		through string // as the worker shows it
		says    string // in the client's log; "" if memory is shared
	}{
		{"loopback", shares, hipremote.Config{Host: "127.0.0.1", Port: port(shares)}, smi.TransportShared, ""},
		{"Unix socket", shares, hipremote.Config{Host: "unix:" + path}, smi.TransportShared, ""},
		{"TLS", secret, hipremote.Config{Host: "127.0.0.1", Port: port(secret), Dialing: dialing.Settings{TLS: clientTLS(d)}}, smi.TransportShared, ""},
		{"TLS alone", secret, hipremote.Config{Host: "127.0.0.1", Port: port(secret), Dialing: dialing.Settings{TLS: clientTLS(d)}, NoShare: true}, smi.TransportTLS, "it is not wanted"},
		{"not wanted", shares, hipremote.Config{Host: "127.0.0.1", Port: port(shares), NoShare: true}, smi.TransportTCP, "it is not wanted"},
		{"not wanted on a Unix socket", shares, hipremote.Config{Host: "unix:" + path, NoShare: true}, smi.TransportUnix, "it is not wanted"},
		{"not offered", not, hipremote.Config{Host: "127.0.0.1", Port: port(not)}, smi.TransportTCP, "the server does not offer it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var said talk
			c.cfg.ConnectTimeout, c.cfg.IOTimeout, c.cfg.Debug, c.cfg.Logf = time.Minute, time.Minute, true, said.logf
			cl := hipremote.New(c.cfg)
			defer cl.Close()
			const most = 5 << 20
			p, e := cl.Malloc(main0, most)
			must(t, "Malloc", e)
			data, back := make([]byte, most), make([]byte, most)
			for i := range data {
				data[i] = byte(i * 7 >> (i >> 16 & 7))
			}
			for _, n := range []int{1, 4096, 65537, 1 << 20, most} {
				clear(back)
				must(t, "Memcpy", cl.Memcpy(main0, p, at(data), uint64(n), hip.MemcpyHostToDevice))
				must(t, "Memcpy", cl.Memcpy(main0, at(back), p, uint64(n), hip.MemcpyDeviceToHost))
				if !bytes.Equal(back[:n], data[:n]) {
					t.Errorf("%d bytes came back otherwise", n)
				}
			}
			for _, s := range c.at.Sessions() {
				if s.ID == fmt.Sprint(cl.Session()) && s.Transport != c.through {
					t.Errorf("the worker says that its session goes through %q, want %q", s.Transport, c.through)
				}
			}
			if text := said.String(); c.says == "" && strings.Contains(text, "no shared memory") || c.says != "" && !strings.Contains(text, "no shared memory: "+c.says) {
				t.Errorf("it says %q", text)
			}
		})
	}
}
