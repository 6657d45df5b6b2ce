package worker_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/hipremote"
	"github.com/rocwire/rocwire/internal/dialing"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smiremote"
	"github.com/rocwire/rocwire/wire"
	"github.com/rocwire/rocwire/worker"
	"github.com/rocwire/rocwire/worker/access"
	"github.com/rocwire/rocwire/worker/audit"
	"github.com/rocwire/rocwire/worker/simbackend"
	"github.com/rocwire/rocwire/worker/workertest"
)

// Tokens of the file that tests use.
const (
	aliceToken = "alice-token-0123456789"
	watchToken = "watch-token-0123456789"
	opsToken   = "ops-token-0123456789abc"
	lateToken  = "late-token-0123456789ab"
	tokensYAML = `tokens:
- {name: alice, token: ` + aliceToken + `, memory: 256M, cards: [1]}
- {name: watcher, token: ` + watchToken + `, rights: [read]}
- {name: ops, token: ` + opsToken + `, rights: [hip, read, set, kill]}
- {name: late, token: ` + lateToken + `, expires: 2020-01-01T00:00:00Z}
`
)

// withTokens is a worker that knows these tokens and keeps a record.
func withTokens(t *testing.T, cfg worker.Config) (w *worker.Server, tokenFile string, events func() []audit.Event) {
	t.Helper()
	dir := t.TempDir()
	tokenFile = filepath.Join(dir, "tokens.yaml")
	writeFile(t, tokenFile, tokensYAML, 0o600)
	record := filepath.Join(dir, "audit")
	log, err := audit.Open(record, testLog())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(log.Close)
	cfg.Access.TokenFile, cfg.Audit = tokenFile, log
	if cfg.Listen == "" && cfg.Socket.Path == "" {
		cfg.Listen = "127.0.0.1"
	}
	return serve(t, cards(2), cfg), tokenFile, func() []audit.Event { return recorded(t, record) }
}

func writeFile(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	tmp := path + ".new"
	if err := errors.Join(os.WriteFile(tmp, []byte(content), mode), os.Chmod(tmp, mode), os.Rename(tmp, path)); err != nil {
		t.Fatal(err)
	}
}

// recorded reads a record, no line of which may contain a token.
func recorded(t *testing.T, path string) (events []audit.Event) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var e audit.Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		if strings.Contains(lines.Text(), "-token-") {
			t.Errorf("the record tells a token: %s", lines.Text())
		}
		events = append(events, e)
	}
	return events
}

// knock shakes hands as a client of HIP or of management, with a token.
func knock(t *testing.T, address, purpose, token string) (*wire.Client, error) {
	t.Helper()
	details, err := (&hiprpc.Offer{}).Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := wire.Dial(context.Background(), wire.Options{Address: address, Hello: wire.Hello{Purpose: purpose, User: "root", Token: token, Details: details}})
	if err == nil {
		t.Cleanup(func() { _ = c.Close() })
	}
	return c, err
}

// TestTokens: who has a token is its name, whatever it says of itself, and may do what the file says; who has a wrong one comes in nowhere.
func TestTokens(t *testing.T) {
	w, file, events := withTokens(t, worker.Config{})
	at := w.Addr().String()
	if _, err := knock(t, at, "hip", aliceToken); err != nil {
		t.Fatal(err)
	}
	s := w.Sessions()
	if len(s) != 1 || s[0].Client.User != "alice" || !slices.Equal(s[0].Devices, []int{1}) || len(s[0].Quotas) != 1 || s[0].Quotas[0].Memory.Or(0) != 256<<20 {
		t.Errorf("%+v", s)
	}
	for what, c := range map[string]struct{ purpose, token, say string }{
		"wrong": {"hip", "wrong-token-0123456789", "not known"}, "wrong, management": {"smi", "wrong-token-0123456789", "not known"},
		"expired": {"hip", lateToken, "expired on 2020-01-01"}, "looks signed": {"hip", "eyJ.wrong-token-0.x", "not known"},
		"may only look": {"hip", watchToken, "may not use the cards"}, "long": {"hip", strings.Repeat("wrong-token-", 600), "not known"},
	} {
		_, err := knock(t, at, c.purpose, c.token)
		var e *wire.Error
		code := int32(hip.ErrorNotInitialized)
		if c.purpose == "smi" {
			code = int32(smi.ErrNoPermission)
		}
		if !errors.As(err, &e) || !errors.Is(err, wire.ErrRefused) || e.Code != code || !strings.Contains(e.Reason, c.say) || strings.Contains(e.Reason, "\n") || strings.Contains(e.Reason, c.token) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := knock(t, at, "smi", watchToken); err != nil {
		t.Error(err)
	}
	if _, err := knock(t, at, "hip", ""); err != nil { // of loopback nothing is asked
		t.Error(err)
	}
	if n := len(w.Sessions()); n != 2 {
		t.Errorf("%d sessions", n)
	}
	// The file changes: what it says holds for the next client, and for nobody who is in.
	writeFile(t, file, strings.Replace(tokensYAML, aliceToken, "other-token-0123456789", 1), 0o600)
	if _, err := knock(t, at, "hip", aliceToken); !errors.Is(err, wire.ErrRefused) {
		t.Errorf("a token that was taken back: %v", err)
	}
	if n := len(w.Sessions()); n != 2 {
		t.Errorf("%d sessions", n)
	}
	for what, broken := range map[string]string{"no YAML": "tokens: [", "a field that there is not": "tokens:\n- {nam: x}\n"} {
		writeFile(t, file, broken, 0o600)
		if _, err := knock(t, at, "smi", "other-token-0123456789"); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	writeFile(t, file, tokensYAML, 0o644)
	if _, err := knock(t, at, "smi", aliceToken); !errors.Is(err, wire.ErrRefused) {
		t.Errorf("a file that everybody can read is taken: %v", err)
	}
	want := map[audit.Kind]int{audit.Begin: 2, audit.Manage: 3, audit.Refuse: 8}
	eventually(t, "all is recorded", func() bool {
		got := map[audit.Kind]int{}
		for _, e := range events() {
			got[e.Kind]++
			if e.From == "" || e.Time.IsZero() || (e.Kind == audit.Refuse) == (e.Result == audit.OK) {
				t.Errorf("%+v", e)
			}
			if e.Kind == audit.Begin && e.Method == "token" && (e.Who != "alice" || e.Session == "") {
				t.Errorf("%+v", e)
			}
		}
		return got[audit.Begin] == want[audit.Begin] && got[audit.Manage] == want[audit.Manage] && got[audit.Refuse] == want[audit.Refuse]
	})
}

// TestTokenRights: what a management client may do hangs on its token, on loopback, too, and is recorded.
func TestTokenRights(t *testing.T) {
	w, _, events := withTokens(t, worker.Config{AllowSet: true})
	if _, err := knock(t, w.Addr().String(), "hip", ""); err != nil {
		t.Fatal(err)
	}
	id := w.Sessions()[0].ID
	setting := smi.Setting{PerfLevel: "high"}
	for _, token := range []string{watchToken, ""} {
		m := managerWith(t, w, token)
		for what, err := range map[string]error{"set": m.Set(t.Context(), 0, setting), "kill": m.KillSession(t.Context(), id), "quota": m.SetQuota(t.Context(), 0, id, memory(1<<28))} {
			if !errors.Is(err, smi.ErrNoPermission) || !strings.Contains(err.Error(), "right") {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	m := managerWith(t, w, opsToken)
	if err := errors.Join(m.Set(t.Context(), 0, setting), m.SetQuota(t.Context(), 0, id, memory(1<<28)), m.KillSession(t.Context(), id)); err != nil {
		t.Error(err)
	}
	eventually(t, "it is recorded", func() bool {
		got := map[audit.Kind][2]int{}
		for _, e := range events() {
			n := got[e.Kind]
			if e.Result == audit.OK {
				n[0]++
				if (e.Kind == audit.Kill || e.Kind == audit.Set) && e.Who != "ops" || e.Kind == audit.Quota && e.Session != id {
					t.Errorf("%+v", e)
				}
			} else {
				n[1]++
			}
			got[e.Kind] = n
		}
		return got[audit.Kill] == [2]int{1, 2} && got[audit.Set] == [2]int{1, 2} && got[audit.Quota] == [2]int{1, 2} && got[audit.End] == [2]int{1, 0}
	})
}

// managerWith is a management client with a token, "" for none.
func managerWith(t *testing.T, w *worker.Server, token string) *smiremote.Client {
	t.Helper()
	c := smiremote.NewClient(smiremote.Options{Address: w.Addr().String(), Dialing: dialing.Settings{TokenFile: tokenAt(t, token)}})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// tokenAt is a file with a token, "" for none.
func tokenAt(t *testing.T, token string) string {
	t.Helper()
	if token == "" {
		return ""
	}
	path := filepath.Join(t.TempDir(), "token")
	writeFile(t, path, token+"\n", 0o600)
	return path
}

// TestTokenFromAfar: a client on another machine shows who it is by TLS: with a token, or with a certificate where the worker has a CA. Nothing else
// lets it in, and a plain connection carries no token.
func TestTokenFromAfar(t *testing.T) {
	other := anotherAddress(t)
	d := keysAt(t, other)
	server, client := serverTLS(d), clientTLS(d)
	certificate := client
	client.Cert, client.Key = "", ""
	for name, c := range map[string]struct {
		ca   string
		with dialing.Settings
		user string
		say  string
	}{
		"token":                  {"", dialing.Settings{TLS: client, TokenFile: tokenAt(t, aliceToken)}, "alice", ""},
		"nothing":                {"", dialing.Settings{TLS: client}, "", "TF_WORKER_TOKEN_FILE"},
		"wrong token":            {"", dialing.Settings{TLS: client, TokenFile: tokenAt(t, "wrong-token-0123456789")}, "", "not known"},
		"expired token":          {"", dialing.Settings{TLS: client, TokenFile: tokenAt(t, lateToken)}, "", "expired"},
		"no file":                {"", dialing.Settings{TLS: client, TokenFile: "/no/such/token"}, "", "/no/such/token"},
		"token, or certificate":  {server.ClientCA, dialing.Settings{TLS: client, TokenFile: tokenAt(t, opsToken)}, "ops", ""},
		"certificate, or token":  {server.ClientCA, dialing.Settings{TLS: certificate}, "alice", ""},
		"certificate and token":  {server.ClientCA, dialing.Settings{TLS: certificate, TokenFile: tokenAt(t, opsToken)}, "ops", ""},
		"good one, but wrong":    {server.ClientCA, dialing.Settings{TLS: certificate, TokenFile: tokenAt(t, "wrong-token-0123456789")}, "", "not known"},
		"neither, with both":     {server.ClientCA, dialing.Settings{TLS: client}, "", "TF_WORKER_TLS_CERT"},
		"plain, with a token":    {"", dialing.Settings{TokenFile: tokenAt(t, aliceToken)}, "", "plain connection"},
		"plain, without a token": {"", dialing.Settings{}, "", "takes TLS only"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := worker.Config{Listen: other, TLS: server}
			cfg.TLS.ClientCA = c.ca
			w, _, _ := withTokens(t, cfg)
			var lines []string
			rt := hipremote.New(hipremote.Config{
				Host: other, Port: fmt.Sprint(w.Addr().Port), Dialing: c.with, ConnectTimeout: time.Minute, IOTimeout: time.Minute,
				Logf: func(f string, args ...any) { lines = append(lines, fmt.Sprintf(f, args...)) },
			})
			defer rt.Close()
			_, e := rt.GetDeviceCount()
			if c.user == "" {
				if e != hip.ErrorNotInitialized || len(lines) != 1 || !strings.Contains(lines[0], c.say) || strings.Contains(lines[0], "\n") || strings.Contains(lines[0], "-token-") {
					t.Errorf("%v, %q", e, lines)
				}
				return
			}
			must(t, "hipGetDeviceCount", e)
			if s := w.Sessions(); len(s) != 1 || s[0].Client.User != c.user {
				t.Errorf("%+v", s)
			}
		})
	}
}

// TestInsecure: with it nobody is asked who it is; a token is not taken over a plain connection all the same.
func TestInsecure(t *testing.T) {
	w, _, _ := withTokens(t, worker.Config{Listen: anotherAddress(t), Insecure: true})
	at := w.Addr().String()
	if _, err := knock(t, at, "hip", aliceToken); !errors.Is(err, wire.ErrRefused) || !strings.Contains(err.Error(), "plain connection") {
		t.Errorf("a token over a plain connection: %v", err)
	}
	if _, err := knock(t, at, "hip", ""); err != nil {
		t.Errorf("--insecure: %v", err)
	}
}

// TestMayListen: where other machines can connect, what they send is protected and they are asked who they are, or the worker does not begin.
func TestMayListen(t *testing.T) {
	other := anotherAddress(t)
	server := serverTLS(keysAt(t, other))
	noCA := server
	noCA.ClientCA = ""
	tokens := filepath.Join(t.TempDir(), "tokens")
	writeFile(t, tokens, tokensYAML, 0o600)
	for _, c := range []struct {
		listen   string
		tls      worker.TLS
		tokens   string
		insecure bool
		say      string // "": it listens
	}{
		{other, server, "", false, ""}, {other, noCA, tokens, false, ""}, {"0.0.0.0", server, tokens, false, ""}, {other, worker.TLS{}, "", true, ""}, {"127.0.0.1", worker.TLS{}, "", false, ""},
		{other, worker.TLS{}, "", false, "TLS"}, {other, worker.TLS{}, tokens, false, "TLS"}, {other, noCA, "", false, "--token-file"}, {"0.0.0.0", worker.TLS{}, "", false, "--insecure"},
		{"::", noCA, "", false, "--tls-client-ca"},
	} {
		b, err := simbackend.New(cards(1), testLog())
		if err != nil {
			t.Fatal(err)
		}
		w, err := worker.New(worker.Config{Listen: c.listen, TLS: c.tls, Access: access.Config{TokenFile: c.tokens}, Insecure: c.insecure, Backend: b, Command: []string{os.Args[0], workertest.SessionCommand}, Warm: -1})
		if err == nil {
			w.Close()
		}
		_ = b.Source.Close()
		if c.say == "" && err != nil || c.say != "" && (!errors.Is(err, wire.ErrNotLoopback) || !strings.Contains(err.Error(), c.say) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// anotherAddress is an address of this machine that is not loopback. A machine that has none gets one: the test says so when it cannot.
func anotherAddress(t *testing.T) string {
	t.Helper()
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLoopback() && !n.IP.IsLinkLocalUnicast() {
			return n.IP.String()
		}
	}
	t.Fatal("this machine has no address but loopback: this test needs a network interface")
	return ""
}

// TestNoSuchTokens: a worker does not begin with a token file that makes no sense, or that others can read.
func TestNoSuchTokens(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens.yaml")
	for what, c := range map[string]struct {
		content string
		mode    os.FileMode
		say     string
	}{
		"readable": {tokensYAML, 0o644, "chmod 600"}, "writable": {tokensYAML, 0o620, "chmod 600"}, "not YAML": {"tokens: {", 0o600, "YAML"},
		"a field that there is not": {"token: x", 0o600, "token"},
	} {
		writeFile(t, file, c.content, c.mode)
		_, err := worker.New(worker.Config{Access: access.Config{TokenFile: file}})
		if err == nil || !strings.Contains(err.Error(), c.say) || strings.Contains(err.Error(), "-token-") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := worker.New(worker.Config{Access: access.Config{TokenFile: file + "x"}}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// TestExpiry: a session goes on when its client's token expires; a new one does not begin.
func TestExpiry(t *testing.T) {
	now := time.Date(2019, 12, 31, 23, 59, 0, 0, time.UTC)
	clock := make(chan time.Time, 1)
	clock <- now
	tell := func() time.Time { n := <-clock; clock <- n; return n }
	w, _, _ := withTokens(t, worker.Config{Access: access.Config{Now: tell}})
	c, err := knock(t, w.Addr().String(), "hip", lateToken)
	if err != nil {
		t.Fatal(err)
	}
	<-clock
	clock <- now.Add(time.Minute)
	if _, err := knock(t, w.Addr().String(), "hip", lateToken); !errors.Is(err, wire.ErrRefused) {
		t.Errorf("an expired token: %v", err)
	}
	if err := c.Err(); err != nil || len(w.Sessions()) != 1 {
		t.Errorf("the session that was there: %v", err)
	}
}
