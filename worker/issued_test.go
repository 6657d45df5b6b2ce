package worker_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/coreos/go-oidc/v3/oidc/oidctest"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipremote"
	"github.com/rocwire/rocwire/internal/dialing"
	"github.com/rocwire/rocwire/wire"
	"github.com/rocwire/rocwire/worker"
	"github.com/rocwire/rocwire/worker/access"
)

// TestIssuedTokens: a client with a token that the worker's issuer has signed is the user that the token names; a token for another audience lets in
// nobody, and neither does the issuer's absence.
func TestIssuedTokens(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	issuer := &oidctest.Server{PublicKeys: []oidctest.PublicKey{{PublicKey: key.Public(), KeyID: "k", Algorithm: oidc.ES256}}}
	srv := httptest.NewServer(issuer)
	defer srv.Close()
	issuer.SetIssuer(srv.URL)
	signed := func(audience string) string {
		return oidctest.SignIDToken(key, "k", oidc.ES256, fmt.Sprintf(`{"iss":%q,"aud":%q,"sub":"carol","exp":%d}`, srv.URL, audience, time.Now().Add(time.Hour).Unix()))
	}
	w := serve(t, cards(1), worker.Config{Access: access.Config{OIDC: access.OIDC{Issuer: srv.URL}}})
	rt := connectWith(t, w, hipremote.Config{Dialing: dialing.Settings{TokenFile: tokenAt(t, signed("rocwire"))}})
	if _, e := rt.GetDeviceCount(); e != hip.Success {
		t.Fatal(e)
	}
	if s := w.Sessions(); len(s) != 1 || s[0].Client.User != "carol" {
		t.Errorf("%+v", s)
	}
	if _, err := knock(t, w.Addr().String(), "hip", signed("somebody else")); !errors.Is(err, wire.ErrRefused) {
		t.Errorf("for another audience: %v", err)
	}
	srv.Close()
	if _, err := knock(t, w.Addr().String(), "smi", signed("rocwire")); err != nil {
		t.Errorf("the issuer is away, its key is known: %v", err)
	}
	away := serve(t, cards(1), worker.Config{Access: access.Config{OIDC: access.OIDC{Issuer: srv.URL}}})
	if _, err := knock(t, away.Addr().String(), "smi", signed("rocwire")); !errors.Is(err, wire.ErrRefused) {
		t.Errorf("the issuer was never there: %v", err)
	}
	if _, err := knock(t, away.Addr().String(), "smi", ""); err != nil {
		t.Errorf("somebody without a token meanwhile: %v", err)
	}
}

// TestTokenCards: a session has the cards of its token and no others, whatever the client's environment asks for, with the quota of its token.
func TestTokenCards(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens")
	writeFile(t, file, "tokens:\n- {name: two, token: "+aliceToken+", cards: [3, 1], memory: 256M}\n- {name: none, token: "+opsToken+", cards: [9]}\n", 0o600)
	w := serve(t, cards(4), worker.Config{Access: access.Config{TokenFile: file}, Quota: memory(512 << 20)})
	uuid := func(rt *hipremote.Client, device int32) hip.UUID {
		p, e := rt.GetDevicePropertiesR0600(device)
		must(t, "properties", e)
		return p.Uuid
	}
	all := connect(t, w)
	if n, e := all.GetDeviceCount(); e != hip.Success || n != 4 {
		t.Fatalf("%d devices, %v", n, e)
	}
	token := dialing.Settings{TokenFile: tokenAt(t, aliceToken)}
	for _, c := range []struct {
		rocr, hip string
		want      []int32 // of all
	}{{"", "", []int32{1, 3}}, {"1", "", []int32{3}}, {"", "1,0", []int32{3, 1}}, {"0,1,2,3", "", []int32{1, 3}}, {"3", "", nil}, {"", "3", nil}} {
		rt := connectWith(t, w, hipremote.Config{Dialing: token, ROCrDevices: c.rocr, Devices: c.hip})
		n, e := rt.GetDeviceCount()
		if int(n) != len(c.want) || (e == hip.Success) != (c.want != nil) {
			t.Errorf("%+v: %d devices, %v", c, n, e)
			continue
		}
		for i, want := range c.want {
			if uuid(rt, int32(i)) != uuid(all, want) {
				t.Errorf("%+v: device %d is another card", c, i)
			}
			if _, total, e := rt.MemGetInfo(hip.Thread{Device: int32(i)}); e != hip.Success || total != 256<<20 {
				t.Errorf("%+v: device %d has %d bytes, %v", c, i, total, e)
			}
		}
		if c.want != nil {
			if s := w.Sessions(); !slices.Equal(s[len(s)-1].Devices, []int{1, 3}) {
				t.Errorf("%+v: shown with %v", c, s[len(s)-1].Devices)
			}
		}
		_ = rt.Close()
	}
	if _, total, e := all.MemGetInfo(main0); e != hip.Success || total != 512<<20 {
		t.Errorf("somebody else has %d bytes, %v", total, e)
	}
	// What is set for all sessions does not give a token's sessions more than the token has.
	if err := w.SetQuota(t.Context(), 1, "", memory(1<<30)); err != nil {
		t.Fatal(err)
	}
	rt := connectWith(t, w, hipremote.Config{Dialing: token})
	if _, total, e := rt.MemGetInfo(main0); e != hip.Success || total != 256<<20 {
		t.Errorf("after a quota for all: %d bytes, %v", total, e)
	}
	if n, e := connectWith(t, w, hipremote.Config{Dialing: dialing.Settings{TokenFile: tokenAt(t, opsToken)}}).GetDeviceCount(); e != hip.ErrorNoDevice || n != 0 {
		t.Errorf("a token for cards that are not there: %d devices, %v", n, e)
	}
}
