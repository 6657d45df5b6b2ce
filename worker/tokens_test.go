package worker_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smiremote"
	"github.com/rocwire/rocwire/wire"
	"github.com/rocwire/rocwire/worker"
	"github.com/rocwire/rocwire/worker/access"
)

const (
	issuerToken = "issuer-token-0123456789"
	partToken   = "part-token-0123456789abc"
)

// issuing is a worker of two cards that issues tokens, to be started again with the same files.
func issuing(t *testing.T, dir string) *worker.Server {
	t.Helper()
	tokens := filepath.Join(dir, "tokens.yaml")
	writeFile(t, tokens, tokensYAML+`- {name: issuer, token: `+issuerToken+`, rights: [read, issue]}
- {name: part, token: `+partToken+`, rights: [read, issue], cards: [1]}
`, 0o600)
	return serve(t, cards(2), worker.Config{Listen: "127.0.0.1", Access: access.Config{TokenFile: tokens, IssuedFile: filepath.Join(dir, "issued.json")}})
}

func tokenFor(t *testing.T, m *smiremote.Client, id, secret string, devices ...int) smi.Token {
	t.Helper()
	all, err := m.Devices(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d := sha256.Sum256([]byte(secret))
	n := smi.Token{ID: id, SHA256: hex.EncodeToString(d[:]), User: "alice", Job: "42", Expires: time.Now().Add(time.Hour).Truncate(time.Second), Quota: smi.Quota{Memory: smi.Some[smi.Bytes](64 << 20)}}
	for _, i := range devices {
		n.Cards = append(n.Cards, all[i].UUID)
	}
	return n
}

// TestTokensIssued: a token lets in those who have it, to its cards and under its names, until it is taken back; then their sessions are over.
func TestTokensIssued(t *testing.T) {
	dir := t.TempDir()
	w := issuing(t, dir)
	m := managerWith(t, w, issuerToken)
	const secret, other = "secret-of-job-42-0123456789", "other-of-job-42-0123456789"
	job := tokenFor(t, m, "job-42", secret, 1)
	if _, err := knock(t, w.Addr().String(), "hip", secret); err == nil {
		t.Fatal("a token that was not issued lets in")
	}
	if places, err := m.IssueToken(t.Context(), job); err != nil || !slices.Equal(places, []int{1}) {
		t.Fatal(places, err)
	}
	listed, err := m.Tokens(t.Context())
	want := job
	want.SHA256 = ""
	if err != nil || len(listed) != 1 || !listed[0].Expires.Equal(want.Expires) || listed[0].SHA256 != "" || listed[0].Job != "42" || !slices.Equal(listed[0].Cards, want.Cards) {
		t.Errorf("%+v, %v", listed, err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "issued.json")); err != nil || strings.Contains(string(b), secret) {
		t.Errorf("%s, %v", b, err)
	}
	client, err := knock(t, w.Addr().String(), "hip", secret)
	if err != nil {
		t.Fatal(err)
	}
	s := w.Sessions()
	if len(s) != 1 || s[0].Client.User != "alice" || s[0].Client.Job != "42" || !slices.Equal(s[0].Devices, []int{1}) || len(s[0].Quotas) != 1 || s[0].Quotas[0].Memory.Or(0) != 64<<20 {
		t.Errorf("%+v", s)
	}
	// Another worker on the same file, as after a restart.
	w2 := issuing(t, dir)
	if _, err := knock(t, w2.Addr().String(), "hip", secret); err != nil {
		t.Errorf("after a restart: %v", err)
	}
	// Issued anew, the old secret is worth nothing; who is in stays.
	job = tokenFor(t, m, "job-42", other, 0, 1)
	if _, err := m.IssueToken(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	if _, err := knock(t, w.Addr().String(), "hip", secret); err == nil {
		t.Error("the token before this one lets in")
	}
	if _, err := knock(t, w.Addr().String(), "hip", other); err != nil {
		t.Error(err)
	}
	n, err := m.RevokeToken(t.Context(), "job-42")
	if err != nil || n != 2 || len(w.Sessions()) != 0 {
		t.Errorf("%d sessions ended, %v, left: %+v", n, err, w.Sessions())
	}
	if err := client.Call(hip.OpDeviceSynchronize, &wire.Msg{}); err == nil {
		t.Error("the client of a session that has ended is answered")
	}
	if _, err := knock(t, w.Addr().String(), "hip", other); err == nil || !strings.Contains(err.Error(), "taken back") {
		t.Errorf("after that: %v", err)
	}
	if _, err := m.RevokeToken(t.Context(), "job-42"); !errors.Is(err, smi.ErrNotFound) {
		t.Error(err)
	}
}

// TestWhoIssues: tokens are issued for those who have the right, for cards of their own, with an end.
func TestWhoIssues(t *testing.T) {
	w := issuing(t, t.TempDir())
	m := managerWith(t, w, issuerToken)
	good := tokenFor(t, m, "a", "secret-a-0123456789abcdef", 0)
	for _, token := range []string{watchToken, opsToken, ""} {
		c := managerWith(t, w, token)
		_, err1 := c.RevokeToken(t.Context(), "a")
		_, err2 := c.Tokens(t.Context())
		_, err3 := c.IssueToken(t.Context(), good)
		for _, err := range []error{err1, err2, err3} {
			if !errors.Is(err, smi.ErrNoPermission) || !strings.Contains(err.Error(), `"issue"`) {
				t.Error(err)
			}
		}
	}
	if _, err := managerWith(t, w, partToken).IssueToken(t.Context(), good); !errors.Is(err, smi.ErrNoPermission) {
		t.Errorf("for a card that the issuer may not use: %v", err)
	}
	for what, c := range map[string]struct {
		change func(*smi.Token)
		code   smi.Code
	}{
		"no cards": {func(n *smi.Token) { n.Cards = nil }, smi.ErrInvalid}, "no end": {func(n *smi.Token) { n.Expires = time.Time{} }, smi.ErrInvalid},
		"a year":    {func(n *smi.Token) { n.Expires = time.Now().AddDate(1, 0, 0) }, smi.ErrInvalid},
		"no digest": {func(n *smi.Token) { n.SHA256 = "12" }, smi.ErrInvalid}, "no user": {func(n *smi.Token) { n.User = "" }, smi.ErrInvalid},
		"another card": {func(n *smi.Token) { n.Cards = []string{"GPU-none"} }, smi.ErrNotFound}, "two lines": {func(n *smi.Token) { n.Job = "1\n2" }, smi.ErrInvalid},
		"no such share": {func(n *smi.Token) { n.Quota.Compute = smi.Some[smi.Ratio](2) }, smi.ErrInvalid},
	} {
		n := good
		c.change(&n)
		if _, err := m.IssueToken(t.Context(), n); !errors.Is(err, c.code) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := m.IssueToken(t.Context(), good); err != nil {
		t.Fatal(err)
	}
	same := good
	same.ID = "b"
	if _, err := m.IssueToken(t.Context(), same); !errors.Is(err, smi.ErrInvalid) {
		t.Errorf("one secret for two tokens: %v", err)
	}
	none := managerWith(t, serve(t, cards(1), worker.Config{Listen: "127.0.0.1"}), "")
	if _, err := none.Tokens(t.Context()); !errors.Is(err, smi.ErrNotSupported) || !strings.Contains(err.Error(), "--issued-tokens") {
		t.Error(err)
	}
}

// TestRevokedAtBegin: a token that is taken back while sessions begin leaves none.
func TestRevokedAtBegin(t *testing.T) {
	w := issuing(t, t.TempDir())
	m := managerWith(t, w, issuerToken)
	for round := range 5 {
		secret := fmt.Sprintf("secret-%d-0123456789abcdef", round)
		if _, err := m.IssueToken(t.Context(), tokenFor(t, m, "job", secret, 0)); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 6 {
			all.Go(func() { _, _ = knock(t, w.Addr().String(), "hip", secret) })
		}
		time.Sleep(time.Duration(round) * 3 * time.Millisecond)
		if _, err := m.RevokeToken(t.Context(), "job"); err != nil {
			t.Error(err)
		}
		all.Wait()
		eventually(t, "no session is left", func() bool { return len(w.Sessions()) == 0 })
	}
}
