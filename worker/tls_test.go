package worker_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipremote"
	"github.com/rocwire/rocwire/internal/dialing"
	"github.com/rocwire/rocwire/internal/keys"
	"github.com/rocwire/rocwire/smiremote"
	"github.com/rocwire/rocwire/wire"
	"github.com/rocwire/rocwire/worker"
)

// keysAt makes a CA, a worker's key for 127.0.0.1 and one for alice.
func keysAt(t *testing.T, hosts ...string) *keys.Dir {
	t.Helper()
	d := &keys.Dir{Path: t.TempDir(), Days: 1, Force: true}
	if len(hosts) == 0 {
		hosts = []string{"127.0.0.1"}
	}
	if err := d.Init(hosts, []string{"alice"}); err != nil {
		t.Fatal(err)
	}
	return d
}

// serverTLS is a worker's side of d, clientTLS alice's.
func serverTLS(d *keys.Dir) worker.TLS {
	return worker.TLS{Cert: d.Cert(keys.Server), Key: d.Key(keys.Server), ClientCA: d.Cert(keys.CA)}
}

func clientTLS(d *keys.Dir) dialing.TLS {
	return dialing.TLS{CA: d.Cert(keys.CA), Cert: d.Cert(keys.Client("alice")), Key: d.Key(keys.Client("alice"))}
}

// TestTLS: calls, large copies both ways and questions under TLS; the user is who the certificate says.
func TestTLS(t *testing.T) {
	d := keysAt(t)
	cfg := config()
	cfg.TLS = serverTLS(d)
	w := serve(t, cards(1), cfg)
	set := dialing.Settings{TLS: clientTLS(d)}
	c := connectWith(t, w, hipremote.Config{Dialing: set, NoShare: true})
	const n = 24<<20 + 12345
	p, e := c.Malloc(main0, n)
	must(t, "Malloc", e)
	in, out := make([]byte, n), make([]byte, n)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(in)
	must(t, "copy there", c.Memcpy(main0, p, at(in), n, hip.MemcpyHostToDevice))
	must(t, "copy back", c.Memcpy(main0, at(out), p, n, hip.MemcpyDeviceToHost))
	if !bytes.Equal(in, out) {
		t.Error("other bytes came back")
	}
	m := smiremote.NewClient(smiremote.Options{Address: w.Addr().String(), Dialing: set})
	defer m.Close()
	list, err := m.Sessions(t.Context())
	if err != nil || len(list.Sessions) != 1 || list.Sessions[0].Client.User != "alice" {
		t.Fatalf("%+v, %v", list, err)
	}
	// What protects the session is neither in its environment nor in its arguments: only the control socket has it.
	for _, file := range []string{"environ", "cmdline"} {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", list.Sessions[0].PID, file))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(bytes.ToUpper(b), []byte("SECRET")) || bytes.Contains(b, []byte("PRIVATE KEY")) || len(b) > 64<<10 {
			t.Errorf("%s of the session process: %q", file, b)
		}
	}
}

// TestTLSRefusals: what is wrong with certificates and clocks is said in a line on the client, whose calls answer hipErrorNotInitialized, and in the
// worker's record if it comes that far; an honest client is served all the same.
func TestTLSRefusals(t *testing.T) {
	good := keysAt(t)
	other := keysAt(t)
	past, future := keysAt(t), keysAt(t)
	for _, o := range []struct {
		d  *keys.Dir
		at time.Time
	}{{past, time.Now().AddDate(0, -1, 0)}, {future, time.Now().AddDate(0, 1, 0)}} {
		o.d.Now = func() time.Time { return o.at }
		if err := o.d.Init([]string{"127.0.0.1"}, []string{"alice"}); err != nil {
			t.Fatal(err)
		}
	}
	elsewhere := keysAt(t, "elsewhere.example", "10.0.0.1")
	for name, c := range map[string]struct {
		server *keys.Dir
		client dialing.TLS
		say    string
	}{
		"no TLS":             {good, dialing.TLS{}, "takes TLS only"},
		"no certificate":     {good, dialing.TLS{CA: good.Cert(keys.CA)}, "wants a client certificate"},
		"wrong certificate":  {good, dialing.TLS{CA: good.Cert(keys.CA), Cert: other.Cert("client-alice"), Key: other.Key("client-alice")}, "does not accept this client's certificate"},
		"server's as client": {good, dialing.TLS{CA: good.Cert(keys.CA), Cert: good.Cert(keys.Server), Key: good.Key(keys.Server)}, "does not accept this client's certificate"},
		"old client":         {good, dialing.TLS{CA: good.Cert(keys.CA), Cert: past.Cert("client-alice"), Key: past.Key("client-alice")}, "does not accept this client's certificate"},
		"wrong CA":           {good, clientTLS(other), "signed by nobody that is trusted here"},
		"this machine's CAs": {good, dialing.TLS{Use: "1"}, "signed by nobody that is trusted here"},
		"expired":            {past, clientTLS(past), "has expired"},
		"not yet valid":      {future, clientTLS(future), "not yet valid"},
		"wrong name":         {elsewhere, clientTLS(elsewhere), "is for another name"},
		"wrong server name":  {good, dialing.TLS{CA: good.Cert(keys.CA), ServerName: "elsewhere"}, "is for another name"},
		"no file":            {good, dialing.TLS{CA: "/does/not/exist"}, "/does/not/exist"},
		"no key":             {good, dialing.TLS{CA: good.Cert(keys.CA), Cert: good.Cert("client-alice")}, "go together"},
	} {
		t.Run(name, func(t *testing.T) {
			w, _, record := parking(t, func(cfg *worker.Config) { cfg.TLS = serverTLS(c.server) })
			var lines []string
			bad := hipremote.New(hipremote.Config{
				Host: "127.0.0.1", Port: fmt.Sprint(w.Addr().Port), Dialing: dialing.Settings{TLS: c.client}, ConnectTimeout: time.Minute, IOTimeout: time.Minute,
				Logf: func(f string, args ...any) { lines = append(lines, fmt.Sprintf(f, args...)) },
			})
			defer bad.Close()
			for range 2 {
				if _, e := bad.GetDeviceCount(); e != hip.ErrorNotInitialized {
					t.Errorf("hipGetDeviceCount: %v", e)
				}
			}
			if len(lines) != 1 || !strings.Contains(lines[0], c.say) || strings.Contains(lines[0], "\n") {
				t.Errorf("it says %q", lines)
			}
			if name != "no file" && name != "no key" { // with which nobody connects
				eventually(t, "it is recorded", func() bool { return strings.Contains(record(), `"event":"refused","from":"127.0.0.1:`) })
			}
			if c.server == good {
				must(t, "Malloc of another", connectAndMalloc(t, w, clientTLS(good)))
			}
		})
	}
	// With another server name the certificate is for it.
	cfg := config()
	cfg.TLS = serverTLS(elsewhere)
	as := clientTLS(elsewhere)
	as.ServerName = "elsewhere.example"
	must(t, "by another name", connectAndMalloc(t, serve(t, cards(1), cfg), as))
}

func connectAndMalloc(t *testing.T, w *worker.Server, set dialing.TLS) hip.Error {
	t.Helper()
	_, e := connectWith(t, w, hipremote.Config{Dialing: dialing.Settings{TLS: set}}).Malloc(main0, 1<<20)
	return e
}

// TestTLSWithoutAny: a client that wants TLS gets a clear error from a worker that has none.
func TestTLSWithoutAny(t *testing.T) {
	w := serve(t, cards(1), config())
	_, err := wire.Dial(t.Context(), wire.Options{Address: w.Addr().String(), TLS: &tls.Config{}})
	if !errors.Is(err, wire.ErrRefused) || !strings.Contains(err.Error(), "there is no TLS") {
		t.Error(err)
	}
}

// TestTLSReload: changed files are used from the next handshake on; a pair that does not go together is not, nor does it end anything.
func TestTLSReload(t *testing.T) {
	d := keysAt(t)
	cfg := config()
	cfg.TLS = serverTLS(d)
	cfg.TLS.ClientCA = ""
	w := serve(t, cards(1), cfg)
	serial := func() string {
		pem, err := os.ReadFile(d.Cert(keys.CA))
		if err != nil {
			t.Fatal(err)
		}
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(pem)
		c, err := tls.Dial("tcp", w.Addr().String(), &tls.Config{RootCAs: pool})
		if err != nil {
			return err.Error()
		}
		defer c.Close()
		return c.ConnectionState().PeerCertificates[0].SerialNumber.String()
	}
	first := serial()
	broken := filepath.Join(d.Path, "server.key")
	key, err := os.ReadFile(broken)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range [][]byte{nil, []byte("no key"), key[:len(key)-20]} {
		if err := os.WriteFile(broken, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := serial(); got != first {
			t.Errorf("with %d bytes of key: %s", len(b), got)
		}
	}
	if err := d.Init([]string{"127.0.0.1"}, nil); err != nil { // another CA, too
		t.Fatal(err)
	}
	if got := serial(); got == first || strings.Contains(got, " ") {
		t.Errorf("after the change: %s", got)
	}
	if _, err := worker.New(worker.Config{Listen: "127.0.0.1", TLS: worker.TLS{Cert: "/none", Key: "/none"}}); err == nil {
		t.Error("it starts without its certificate")
	}
}

// TestTLSCutShort: strangers that stop, or speak nonsense, anywhere in the handshake are let go, and cost no one else anything.
func TestTLSCutShort(t *testing.T) {
	d := keysAt(t)
	cfg := config()
	cfg.TLS, cfg.HelloTimeout = serverTLS(d), 2*time.Second // in which who says something gets a processor
	w := serve(t, cards(1), cfg)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 40 {
		conn, err := net.Dial("tcp", w.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		b := make([]byte, r.IntN(600))
		for k := range b {
			b[k] = byte(r.Uint32())
		}
		copy(b, []byte{0x16, 3, 1, 0, byte(i)}[:min(len(b), i%6)])
		_, _ = conn.Write(b)
	}
	must(t, "Malloc", connectAndMalloc(t, w, clientTLS(d)))
	slow, err := net.Dial("tcp", w.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	_ = slow.SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := slow.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a silent client is not let go: %v", err)
	}
}

// TestIntegrity: calls and large copies with checksums, through a session process, and questions.
func TestIntegrity(t *testing.T) {
	w := serve(t, cards(1), config())
	set := dialing.FromEnv(func(name string) string { return map[string]string{dialing.IntegrityVariable: "1"}[name] })
	c := connectWith(t, w, hipremote.Config{Dialing: set, NoShare: true})
	const n = 20<<20 + 7
	p, e := c.Malloc(main0, n)
	must(t, "Malloc", e)
	in, out := make([]byte, n), make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{2}).Read(in)
	must(t, "copy there", c.Memcpy(main0, p, at(in), n, hip.MemcpyHostToDevice))
	must(t, "copy back", c.Memcpy(main0, at(out), p, n, hip.MemcpyDeviceToHost))
	if !bytes.Equal(in, out) {
		t.Error("other bytes came back")
	}
	m := smiremote.NewClient(smiremote.Options{Address: w.Addr().String(), Dialing: set})
	defer m.Close()
	if list, err := m.Sessions(t.Context()); err != nil || len(list.Sessions) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
}
