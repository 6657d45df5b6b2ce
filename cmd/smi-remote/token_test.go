package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rocwire/rocwire/internal/slurm"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
	"github.com/rocwire/rocwire/smiremote"
	"github.com/rocwire/rocwire/smiremote/remotetest"
)

// issuer keeps the tokens that it is to issue.
type issuer struct {
	mu   sync.Mutex
	list []smi.Token
}

func (i *issuer) IssueToken(_ context.Context, t smi.Token, _ *smiremote.Visitor) ([]int, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if t.User == "nobody" {
		return nil, smi.Errorf(smi.ErrNoPermission, "not for %s", t.User)
	}
	i.list = append(i.list, t)
	return make([]int, len(t.Cards)), nil
}

func (i *issuer) RevokeToken(_ context.Context, id, _ string) (int, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	before := len(i.list)
	i.list = slices.DeleteFunc(i.list, func(t smi.Token) bool { return t.ID == id })
	if len(i.list) == before {
		return 0, smi.Errorf(smi.ErrNotFound, "no token %q has been issued", id)
	}
	return 2, nil
}

func (i *issuer) Tokens() ([]smi.Token, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.list), nil
}

// issuers are workers that issue tokens, with so many cards each.
func issuers(t *testing.T, cards ...int) (addrs []string, all []*issuer) {
	for n, c := range cards {
		i := &issuer{}
		all = append(all, i)
		addrs = append(addrs, remotetest.Start(t, "", smiremote.HandlerOptions{Source: smitest.NewMachine(c, n), Tokens: i}).Addr)
	}
	return addrs, all
}

// TestTokens: one secret for the cards of several workers, which are told its digest; and back again.
func TestTokens(t *testing.T) {
	addrs, all := issuers(t, 2, 2)
	code, secret, errs := call(t, addrs, "token", "issue", "job-42", "--user", "alice", "--job", "42", "--gpu", "1", "--memory", "16G", "--expires", "2h")
	d := sha256.Sum256([]byte(strings.TrimSpace(secret)))
	if code != 0 || !strings.HasPrefix(secret, "rocwire_") {
		t.Fatalf("exit %d, %q, %q", code, secret, errs)
	}
	for _, i := range all {
		list, _ := i.Tokens()
		if len(list) != 1 {
			t.Fatalf("%+v", list)
		}
		got := list[0]
		if got.SHA256 != hex.EncodeToString(d[:]) || got.User != "alice" || got.Job != "42" || len(got.Cards) != 1 || got.Quota.Memory.Or(0) != 16<<30 || time.Until(got.Expires) > 2*time.Hour || time.Until(got.Expires) < time.Hour {
			t.Errorf("%+v", got)
		}
	}
	if code, out, errs := call(t, addrs, "token", "list"); code != 0 || strings.Count(out, "job-42") != 2 || strings.Contains(out, strings.TrimSpace(secret)) {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
	for _, form := range []string{"--json", "--csv"} {
		_, out, _ := call(t, addrs, "token", "list", form)
		checkForm(t, form, out)
	}
	if code, out, errs := call(t, addrs, "token", "revoke", "job-42"); code != 0 || out != "Token job-42 has been taken back; 4 sessions ended.\n" {
		t.Errorf("exit %d, %q, %q", code, out, errs)
	}
	if code, _, errs := call(t, addrs, "token", "revoke", "job-42"); code != 4 || !strings.Contains(errs, "no token") {
		t.Errorf("exit %d, %q", code, errs)
	}
	file := filepath.Join(t.TempDir(), "token")
	if code, out, errs := call(t, addrs[:1], "token", "issue", "x", "--user", "u", "--gpu", "all", "--out", file); code != 0 || out != "" {
		t.Errorf("exit %d, %q, %q", code, out, errs)
	}
	if list, _ := all[0].Tokens(); len(list) != 1 || len(list[0].Cards) != 2 {
		t.Errorf("%+v", list)
	}
	if i, err := os.Stat(file); err != nil || i.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", i, err)
	}
	// What is not done everywhere is done nowhere.
	if code, out, _ := call(t, addrs, "token", "issue", "y", "--user", "nobody", "--gpu", "all"); code == 0 || out != "" {
		t.Errorf("exit %d, %q", code, out)
	}
	if list, _ := all[1].Tokens(); len(list) != 0 {
		t.Errorf("%+v", list)
	}
	for _, args := range []string{"issue", "issue a", "issue a --user u", "issue a --user u --gpu 0 --expires -1h", "issue a --user u --gpu 0 --memory lots", "revoke", "list x", "lst"} {
		if code, _, errs := call(t, addrs[:1], append([]string{"token"}, strings.Fields(args)...)...); code != 2 || errs == "" {
			t.Errorf("%s: exit %d, %q", args, code, errs)
		}
	}
}

// TestFleetGRES: gres.conf and the layout say the same, of all workers' cards.
func TestFleetGRES(t *testing.T) {
	addrs, _ := issuers(t, 3, 1)
	file := filepath.Join(t.TempDir(), "slurm.yaml")
	code, out, errs := call(t, addrs, "fleet", "gres", "--nodes", "n[1-2]", "--layout", file)
	if code != 0 || strings.Count(out, "\nNodeName=n") < 2 || !strings.Contains(out, "File=/var/lib/rocwire/slurm/n2/card") {
		t.Fatalf("exit %d, %s%s", code, out, errs)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	l, err := slurm.ParseLayout(b)
	if err != nil || len(l.Nodes["n1"]) != 2 || len(l.Nodes["n2"]) != 2 || l.Nodes["n2"][1].Worker != addrs[1] {
		t.Errorf("%+v, %v", l, err)
	}
	var again strings.Builder
	if err := l.GRES(&again, []string{"n1", "n2"}, slurm.DefaultCards); err != nil || again.String() != out {
		t.Errorf("%v\n%s\n%s", err, again.String(), out)
	}
	for _, args := range []string{"", "--nodes n1", "--nodes n[1 --layout x", "--nodes n1 --layout x --dir y"} {
		if code, _, errs := call(t, addrs, append([]string{"fleet", "gres"}, strings.Fields(args)...)...); code != 2 || errs == "" {
			t.Errorf("%q: exit %d, %q", args, code, errs)
		}
	}
	if code, _, errs := call(t, append(addrs, "127.0.0.1:1"), "fleet", "gres", "--nodes", "n1", "--layout", file); code == 0 {
		t.Errorf("a worker is missing, and nothing is said: %s", errs)
	}
}
