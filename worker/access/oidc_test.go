package access

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// issuer is one that signs what it is told to.
type issuer struct {
	*httptest.Server
	mu    sync.Mutex
	keys  []jose.JSONWebKey // private
	gone  bool
	asked int
	// bearer is what it wants to see before it tells its keys.
	bearer string
}

func newIssuer(t *testing.T) *issuer {
	i := &issuer{}
	i.Server = httptest.NewTLSServer(i)
	t.Cleanup(i.Close)
	return i
}

func (i *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.asked++
	switch {
	case i.gone:
		http.Error(w, "not now", http.StatusServiceUnavailable)
	case i.bearer != "" && r.Header.Get("Authorization") != "Bearer "+i.bearer:
		http.Error(w, "who are you?", http.StatusUnauthorized)
	case r.URL.Path == "/.well-known/openid-configuration":
		_ = json.NewEncoder(w).Encode(map[string]string{"issuer": i.URL, "jwks_uri": i.URL + "/keys"})
	default:
		var set jose.JSONWebKeySet
		for _, k := range i.keys {
			set.Keys = append(set.Keys, k.Public())
		}
		_ = json.NewEncoder(w).Encode(set)
	}
}

// ca is a file with the issuer's certificate.
func (i *issuer) ca(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func (i *issuer) set(change func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	change()
}

func key(t *testing.T, id string, rsaKey bool) jose.JSONWebKey {
	t.Helper()
	var k crypto.Signer
	var err error
	if rsaKey {
		k, err = rsa.GenerateKey(rand.Reader, 2048)
	} else {
		k, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	}
	if err != nil {
		t.Fatal(err)
	}
	return jose.JSONWebKey{Key: k, KeyID: id}
}

type claims map[string]any

func sign(t *testing.T, k jose.JSONWebKey, c claims) string {
	t.Helper()
	alg := jose.ES256
	if _, ok := k.Key.(*rsa.PrivateKey); ok {
		alg = jose.RS256
	}
	s, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: k}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	o, err := s.Sign(b)
	if err != nil {
		t.Fatal(err)
	}
	out, err := o.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var testNow = time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)

// good are claims that are.
func (i *issuer) good(change claims) claims {
	c := claims{"iss": i.URL, "aud": "rocwire", "sub": "alice", "exp": testNow.Add(time.Hour).Unix(), "nbf": testNow.Add(-time.Hour).Unix()}
	for k, v := range change {
		if c[k] = v; v == nil {
			delete(c, k)
		}
	}
	return c
}

func authority(t *testing.T, cfg Config) *Authority {
	t.Helper()
	if cfg.Now == nil {
		cfg.Now = func() time.Time { return testNow }
	}
	a, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// secure is a client on another machine that shows a token by TLS.
func secure(token string) Caller { return Caller{Secure: true, Token: token} }

func TestOIDC(t *testing.T) {
	i := newIssuer(t)
	r, e, other := key(t, "r", true), key(t, "e", false), key(t, "r", true)
	i.keys = []jose.JSONWebKey{r, e}
	a := authority(t, Config{OIDC: OIDC{Issuer: i.URL, CA: i.ca(t)}})
	for what, k := range map[string]jose.JSONWebKey{"RSA": r, "ECDSA": e} {
		who, err := a.Identify(t.Context(), secure(sign(t, k, i.good(claims{"groups": []string{"g"}}))))
		if err != nil || who.Name != "alice" || who.Method != Issued || who.Rights != Usual || !who.Expires.Equal(testNow.Add(time.Hour)) {
			t.Errorf("%s: %+v, %v, %s", what, who, err, Cause(err))
		}
	}
	good := sign(t, e, i.good(nil))
	parts := strings.Split(good, ".")
	for what, c := range map[string]struct{ token, say string }{
		"wrong audience": {sign(t, e, i.good(claims{"aud": "somebody-else"})), `audience "rocwire"`}, "no audience": {sign(t, e, i.good(claims{"aud": nil})), "audience"},
		"expired": {sign(t, e, i.good(claims{"exp": testNow.Add(-time.Second).Unix()})), "expired on 2031-05-06T07:08:08Z (here it is 2031-05-06T07:08:09Z)"},
		"no end":  {sign(t, e, i.good(claims{"exp": nil})), "expired"}, "not yet": {sign(t, e, i.good(claims{"nbf": testNow.Add(time.Hour).Unix()})), "valid at 2031"},
		"another issuer": {sign(t, e, i.good(claims{"iss": "https://else.example"})), i.URL}, "wrong key": {sign(t, other, i.good(nil)), "signed by"},
		"alg none":  {"eyJhbGciOiJub25lIn0." + parts[1] + ".", "signed by"},
		"HMAC":      {sign2(t, i), "signed by"},
		"other end": {good[:len(good)-4] + "AAAA", "signed by"}, "no name": {sign(t, e, i.good(claims{"sub": nil})), `claim "sub"`},
		"a name in lines": {sign(t, e, i.good(claims{"sub": "a\nb"})), `claim "sub"`}, "a name of numbers": {sign(t, e, i.good(claims{"sub": 7})), ""},
		"no token": {"a.b.c", "signed by"}, "unknown": {"0123456789abcdef", "not known"},
	} {
		who, err := a.Identify(t.Context(), secure(c.token))
		if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), c.say) || strings.Contains(err.Error()+Cause(err), c.token) || strings.ContainsAny(err.Error(), "\n") {
			t.Errorf("%s: %+v, %v (%s)", what, who, err, Cause(err))
		}
	}
	if _, err := a.Identify(t.Context(), Caller{Token: good}); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "plain") {
		t.Errorf("over a plain connection: %v", err)
	}
	// A clock that is off: what is good elsewhere has expired here.
	late := authority(t, Config{OIDC: OIDC{Issuer: i.URL, CA: i.ca(t)}, Now: func() time.Time { return testNow.Add(2 * time.Hour) }})
	if _, err := late.Identify(t.Context(), secure(good)); err == nil || !strings.Contains(err.Error(), "here it is 2031-05-06T09:08:09Z") {
		t.Error(err)
	}
}

// sign2 signs with the issuer's public key as if it were a password.
func sign2(t *testing.T, i *issuer) string {
	t.Helper()
	s, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.HS256, Key: []byte(strings.Repeat("k", 64))}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := json.Marshal(i.good(nil))
	o, err := s.Sign(b)
	if err != nil {
		t.Fatal(err)
	}
	out, err := o.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// identified identifies a caller, again as long as the answer is not what is waited for: go-oidc gives who asks right behind a fetch of keys what that has
// brought, and fetches none.
func identified(t *testing.T, a *Authority, token string, wanted func(error) bool) error {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if _, err := a.Identify(t.Context(), secure(token)); wanted(err) || time.Now().After(end) {
			return err
		}
	}
}

// TestOIDCAway: an issuer that is away keeps out nobody whose key is known, and one that comes later is found then; new keys are taken.
func TestOIDCAway(t *testing.T) {
	i := newIssuer(t)
	first, second := key(t, "1", false), key(t, "2", false)
	i.keys, i.gone = []jose.JSONWebKey{first}, true
	a := authority(t, Config{OIDC: OIDC{Issuer: i.URL, CA: i.ca(t)}})
	if _, err := a.Identify(t.Context(), secure(sign(t, first, i.good(nil)))); !errors.Is(err, ErrAway) || errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "try again") || !strings.Contains(Cause(err), "503") {
		t.Errorf("%v, %s", err, Cause(err))
	}
	i.set(func() { i.gone = false })
	if _, err := a.Identify(t.Context(), secure(sign(t, first, i.good(nil)))); err != nil {
		t.Error(err, Cause(err))
	}
	i.set(func() { i.gone = true })
	if _, err := a.Identify(t.Context(), secure(sign(t, first, i.good(nil)))); err != nil {
		t.Errorf("a key that is known: %v", err)
	}
	away := func(err error) bool { return errors.Is(err, ErrAway) }
	if err := identified(t, a, sign(t, second, i.good(nil)), away); !away(err) || errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "try again") {
		t.Errorf("a key that is not known: %v, %s", err, Cause(err))
	}
	i.set(func() { i.gone, i.keys = false, []jose.JSONWebKey{second} })
	if err := identified(t, a, sign(t, second, i.good(nil)), func(err error) bool { return err == nil }); err != nil {
		t.Errorf("after a rotation: %v, %s", err, Cause(err))
	}
	refused := func(err error) bool { return errors.Is(err, ErrRefused) }
	if err := identified(t, a, sign(t, first, i.good(nil)), refused); !refused(err) {
		t.Errorf("a key that was taken back: %v", err)
	}
	// Strangers do not make it ask without bound.
	i.set(func() { i.asked = 0 })
	for n := range 200 {
		k := second
		k.KeyID = fmt.Sprint("x", n)
		_, _ = a.Identify(t.Context(), secure(sign(t, k, i.good(nil))))
	}
	i.set(func() {
		if i.asked > 100 {
			t.Errorf("it was asked %d times", i.asked)
		}
	})
	if _, err := a.Identify(t.Context(), secure(sign(t, second, i.good(nil)))); err != nil {
		t.Errorf("meanwhile: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := authority(t, Config{OIDC: OIDC{Issuer: i.URL, CA: i.ca(t)}}).Identify(ctx, secure(sign(t, second, i.good(nil)))); !errors.Is(err, ErrAway) {
		t.Errorf("the worker stops: %v", err)
	}
}

// TestOIDCRules: the token file says what those may do whom the issuer vouches for.
func TestOIDCRules(t *testing.T) {
	i := newIssuer(t)
	k := key(t, "k", false)
	i.keys = []jose.JSONWebKey{k}
	file := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(file, []byte("oidc:\n- {group: ops, rights: [read, set]}\n- {user: ann@*, cards: [3], memory: 1G}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := authority(t, Config{TokenFile: file, OIDC: OIDC{Issuer: i.URL, CA: i.ca(t), KeysURL: i.URL + "/keys", UserClaim: "email", GroupsClaim: "roles", Audience: "me"}})
	for what, c := range map[string]struct {
		claims claims
		want   Rights
		cards  int
	}{
		"by group": {claims{"email": "z@x", "roles": "ops"}, Read | Set, 0}, "by groups": {claims{"email": "z@x", "roles": []string{"a", "ops"}}, Read | Set, 0},
		"by user": {claims{"email": "ann@x.example"}, Usual, 1}, "nobody": {claims{"email": "bob@x.example"}, 0, 0},
		"not checked": {claims{"email": "z@x", "roles": "ops", "email_verified": false}, 0, 0},
	} {
		c.claims["aud"] = []string{"you", "me"}
		who, err := a.Identify(t.Context(), secure(sign(t, k, i.good(c.claims))))
		if who.Rights != c.want || len(who.Cards) != c.cards || (err == nil) != (c.want != 0) || err != nil && !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %+v, %v, %s", what, who, err, Cause(err))
		}
	}
}

// TestServiceAccounts: in a cluster the keys are asked for as Kubernetes wants it, and the name is the service account's.
func TestServiceAccounts(t *testing.T) {
	i := newIssuer(t)
	k := key(t, "k", true)
	i.keys = []jose.JSONWebKey{k}
	own := sign(t, k, i.good(claims{"aud": "api"}))
	i.bearer = own
	dir := t.TempDir()
	ca, err := os.ReadFile(i.ca(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "token"), []byte(own+"\n"), 0o600), os.WriteFile(filepath.Join(dir, "ca.crt"), ca, 0o600)); err != nil {
		t.Fatal(err)
	}
	host, port, _ := strings.Cut(strings.TrimPrefix(i.URL, "https://"), ":")
	env := map[string]string{"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port}
	cfg, bearer, err := inCluster(OIDC{Issuer: Cluster}, dir, func(n string) string { return env[n] })
	if err != nil || cfg.Issuer != i.URL || cfg.KeysURL != i.URL+"/openid/v1/jwks" {
		t.Fatalf("%+v, %v", cfg, err)
	}
	v, err := verifierOf(cfg, ServiceAccount, bearer, func() time.Time { return testNow })
	if err != nil {
		t.Fatal(err)
	}
	a := authority(t, Config{})
	a.oidc = v
	who, err := a.Identify(t.Context(), secure(sign(t, k, i.good(claims{"sub": "system:serviceaccount:ml:train"}))))
	if err != nil || who.Name != "system:serviceaccount:ml:train" || who.Method != ServiceAccount {
		t.Errorf("%+v, %v, %s", who, err, Cause(err))
	}
	if g := serviceAccountGroups(who.Name); len(g) != 2 || g[1] != "system:serviceaccounts:ml" {
		t.Error(g)
	}
	if _, err := a.Identify(t.Context(), secure(own)); !errors.Is(err, ErrRefused) {
		t.Errorf("a token for the API server: %v", err)
	}
	if _, _, err := inCluster(OIDC{Issuer: Cluster}, t.TempDir(), os.Getenv); err == nil {
		t.Error("outside of a cluster")
	}
}

func TestOIDCConfig(t *testing.T) {
	for _, c := range []OIDC{
		{Issuer: "http://issuer.example"}, {Issuer: "issuer"}, {Audience: "x"}, {Issuer: "https://a", KeysURL: "http://10.0.0.1/keys"}, {Issuer: "https://u:p@a"},
		{Issuer: "https://a", CA: "/no/such/file"}, {Issuer: "https://"}, {Issuer: Cluster},
	} {
		if _, err := New(Config{OIDC: c}); err == nil {
			t.Errorf("%+v", c)
		} else if strings.Contains(err.Error(), "u:p") {
			t.Error(err)
		}
	}
	for _, c := range []OIDC{{Issuer: "http://127.0.0.1:1"}, {Issuer: "https://issuer.example/x", KeysURL: "https://keys.example"}} {
		if a, err := New(Config{OIDC: c}); err != nil || !a.KnowsTokens() {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
