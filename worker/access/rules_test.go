package access

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rocwire/rocwire/smi"
)

func TestParseRules(t *testing.T) {
	secret := "a-secret-of-some-length"
	digest := sha256.Sum256([]byte(secret + "2"))
	r, err := ParseRules([]byte(`
tokens:
- name: alice
  token: ` + secret + `
  expires: 2030-01-02
  rights: [hip, set]
  cards: [2, 0, 2]
  memory: 2G
  compute: 25
- {name: bob, sha256: ` + hex.EncodeToString(digest[:]) + `, expires: "2030-01-02T03:04:05Z"}
oidc:
- {group: admins, rights: [read, kill]}
- {user: "system:serviceaccount:ml:*"}
certificates: []
`))
	if err != nil {
		t.Fatal(err)
	}
	a, b := r.find(secret), r.find(secret+"2")
	if a == nil || b == nil || r.find("") != nil || r.find(secret+"3") != nil {
		t.Fatalf("%+v, %+v", a, b)
	}
	who, err := a.identity(time.Date(2030, 1, 1, 23, 59, 59, 0, time.UTC))
	if err != nil || who.Name != "alice" || who.Method != Token || who.Rights != HIP|Set || !slices.Equal(who.Cards, []int{0, 2}) ||
		who.Quota.Memory != smi.Some(smi.Bytes(2<<30)) || who.Quota.Compute != smi.Some(smi.Ratio(0.25)) || who.Reaches(1) || !who.Reaches(2) {
		t.Errorf("%+v, %v", who, err)
	}
	if _, err := a.identity(a.expires); err == nil || strings.Contains(err.Error(), secret) {
		t.Errorf("at its end: %v", err)
	}
	if who, err := b.identity(time.Date(2030, 1, 2, 3, 4, 4, 0, time.UTC)); err != nil || who.Rights != Usual || !who.Reaches(7) {
		t.Errorf("%+v, %v", who, err)
	}
	for _, c := range []struct {
		name, group string
		want        Rights
	}{{"x", "admins", Read | Kill}, {"system:serviceaccount:ml:train", "", Usual}, {"system:serviceaccount:web:train", "", 0}, {"x", "", 0}} {
		if g, ok := matching(r.oidc, c.name, []string{c.group}); g.rights != c.want || ok != (c.want != 0) {
			t.Errorf("%+v: %v, %v", c, g, ok)
		}
	}
	if _, ok := matching(r.certificates, "x", nil); ok {
		t.Error("an empty list lets somebody in")
	}
	if g, ok := matching(nil, "x", nil); !ok || g.rights != Usual {
		t.Error("no list lets nobody in")
	}
}

func TestParseRulesRefuses(t *testing.T) {
	for _, s := range []string{
		"tokens: [{name: a}]", "tokens: [{name: a, token: short}]", "tokens: [{token: hush-hush-hush-hush}]", "tokens: [{name: a, sha256: abc}]", "x: 1", "[",
		"tokens: [{name: a, token: hush-hush-hush-hush, sha256: x}]", "tokens: [{name: a, token: hush-hush-hush-hush}, {name: b, token: hush-hush-hush-hush}]",
		"tokens: [{name: a, token: hush-hush-hush-hush, rights: [fly]}]", "tokens: [{name: a, token: hush-hush-hush-hush, rights: []}]",
		"tokens: [{name: a, token: hush-hush-hush-hush, cards: []}]", "tokens: [{name: a, token: hush-hush-hush-hush, cards: [-1]}]",
		"tokens: [{name: a, token: hush-hush-hush-hush, memory: lots}]", "tokens: [{name: a, token: hush-hush-hush-hush, compute: 0}]",
		"tokens: [{name: a, token: hush-hush-hush-hush, expires: soon}]", "tokens: [{name: \"a\\nb\", token: hush-hush-hush-hush}]", "tokens: hush-hush-hush-hush",
		"tokens: [hush-hush-hush-hush]", "tokens: [{name: a, hush-hush-hush-hush}]", "oidc: [{rights: [hip]}]", "certificates: [{group: x}]", "tokens: [{name: a, token: {hush-hush-hush-hush: 1}}]",
		"tokens: [{name: a, token: hush-hush-hush-hush, name: b}]", strings.Repeat(" ", maxRulesFile+1),
	} {
		if r, err := ParseRules([]byte(s)); err == nil {
			t.Errorf("%.60q: %+v", s, r)
		} else if strings.Contains(err.Error(), "hush-hush") {
			t.Errorf("%.60q: the error tells the token: %v", s, err)
		}
	}
}

func FuzzParseRules(f *testing.F) {
	f.Add([]byte("tokens:\n- {name: a, token: hush-hush-hush-hush, rights: [hip], cards: [1], memory: 1G, compute: 5%, expires: 2030-01-01}\n"), "hush-hush-hush-hush")
	f.Add([]byte("oidc: [{user: a*, group: b}]\ncertificates: [{user: c}]"), "c")
	f.Add([]byte("a: &a [*a, *a]"), "")
	f.Fuzz(func(t *testing.T, b []byte, token string) {
		r, err := ParseRules(b)
		if err != nil {
			return
		}
		for _, x := range r.tokens {
			if checkName(x.name) != nil || x.rights == 0 || x.rights&^All != 0 || x.cards != nil && len(x.cards) == 0 {
				t.Errorf("%+v", x)
			}
		}
		if x := r.find(token); x != nil && x.digest != sha256.Sum256([]byte(token)) {
			t.Errorf("%q is found as %q", token, x.name)
		}
		matching(r.oidc, token, []string{token})
	})
}

func TestMint(t *testing.T) {
	end := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	secret, entry, err := Mint("alice: #1", end)
	if err != nil || strings.Contains(entry, secret) || !strings.HasPrefix(secret, "rocwire_") {
		t.Fatal(secret, entry, err)
	}
	r, err := ParseRules([]byte("tokens:\n" + entry))
	if err != nil {
		t.Fatalf("%v\n%s", err, entry)
	}
	if x := r.find(secret); x == nil || x.name != "alice: #1" || !x.expires.Equal(end) || x.rights != Usual {
		t.Errorf("%+v", x)
	}
	if again, _, err := Mint("alice", time.Time{}); err != nil || again == secret {
		t.Error(again, err)
	}
	for _, name := range []string{"", "a\nb", " a", strings.Repeat("a", maxName+1)} {
		if _, entry, err := Mint(name, end); err == nil {
			t.Errorf("%q: %s", name, entry)
		}
	}
}

func TestRightNames(t *testing.T) {
	for _, r := range []Rights{HIP, Read | Set, All} {
		got, err := parseRights(strings.Split(r.String(), ", "))
		if err != nil || got != r {
			t.Errorf("%v: %v, %v", r, got, err)
		}
	}
	if s := fmt.Sprint(All); s != "hip, read, set, kill, issue" {
		t.Error(s)
	}
}
