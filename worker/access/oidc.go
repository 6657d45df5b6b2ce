package access

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
)

// Defaults of OIDC.
const (
	DefaultAudience    = "rocwire"
	DefaultUserClaim   = "sub"
	DefaultGroupsClaim = "groups"
)

// OIDC names who signs tokens that an Authority believes. The zero value names nobody.
type OIDC struct {
	// Issuer is the URL that tokens name as theirs, where its keys are found; Cluster for that of the Kubernetes cluster that this worker runs in.
	Issuer string
	// KeysURL is where the keys are, for an issuer that does not say so itself.
	KeysURL string
	// Audience must be among those that a token is for; "" is DefaultAudience.
	Audience string
	// UserClaim names what becomes the user's name; "" is DefaultUserClaim. GroupsClaim likewise.
	UserClaim, GroupsClaim string
	// CA is a file with the certificates that may sign the issuer's; "": those of this machine.
	CA string
}

// Methods of OIDC.
const (
	// Issued is a client with a token that the issuer has signed.
	Issued Method = "oidc"
	// ServiceAccount is a client with a token of its Kubernetes service account.
	ServiceAccount Method = "kubernetes"
)

// askTime limits how long a client waits for the issuer; maxClaims bounds the groups of one token.
const (
	askTime   = 8 * time.Second
	maxGroups = 1024
)

// algorithms that tokens may be signed with: with keys that only the issuer has.
var algorithms = []string{oidc.RS256, oidc.RS384, oidc.RS512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.EdDSA}

// verifier checks tokens of one issuer. It asks the issuer where its keys are when it is first needed, and for the keys when it meets one that it does
// not know: those that it knows are enough while the issuer is away.
type verifier struct {
	cfg    OIDC
	method Method
	now    func() time.Time
	client *http.Client

	asking chan struct{} // held while the issuer is looked for
	keys   oidc.KeySet   // nil until it was found
}

// Check says what is wrong with the settings whatever files and the issuer say.
func (o *OIDC) Check() error {
	if *o == (OIDC{}) {
		return nil
	}
	if o.Issuer == "" {
		return errors.New("--oidc-… are about --oidc-issuer, which is not given: who signs the tokens")
	}
	if o.Issuer != Cluster {
		if err := checkURL(o.Issuer, o.KeysURL == ""); err != nil {
			return fmt.Errorf("--oidc-issuer: %w", err)
		}
	}
	if o.KeysURL != "" {
		if err := checkURL(o.KeysURL, true); err != nil {
			return fmt.Errorf("--oidc-jwks-url: %w", err)
		}
	}
	return nil
}

// newVerifier returns nil for the zero OIDC.
func newVerifier(cfg OIDC, now func() time.Time) (*verifier, error) {
	if cfg == (OIDC{}) {
		return nil, nil
	}
	method, bearer := Issued, ""
	if cfg.Issuer == Cluster {
		method = ServiceAccount
		var err error
		if cfg, bearer, err = inCluster(cfg, serviceAccountDir, os.Getenv); err != nil {
			return nil, fmt.Errorf("--oidc-issuer %s: %w", Cluster, err)
		}
	}
	return verifierOf(cfg, method, bearer, now)
}

// verifierOf is for an issuer that is known; bearer is a file with a token to show to it, "" for none.
func verifierOf(cfg OIDC, method Method, bearer string, now func() time.Time) (*verifier, error) {
	setDefault(&cfg.Audience, DefaultAudience)
	setDefault(&cfg.UserClaim, DefaultUserClaim)
	setDefault(&cfg.GroupsClaim, DefaultGroupsClaim)
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	client, err := issuerClient(cfg.CA, bearer)
	if err != nil {
		return nil, fmt.Errorf("--oidc-ca: %w", err)
	}
	v := &verifier{cfg: cfg, method: method, now: now, client: client, asking: make(chan struct{}, 1)}
	if cfg.KeysURL != "" {
		v.keysAt(cfg.KeysURL)
	}
	return v, nil
}

func setDefault(s *string, d string) {
	if *s == "" {
		*s = d
	}
}

// keysAt says where the keys are.
func (v *verifier) keysAt(address string) {
	v.keys = oidc.NewRemoteKeySet(oidc.ClientContext(context.Background(), v.client), address)
}

// person is whom a token is of.
type person struct {
	name    string
	groups  []string
	expires time.Time
}

// looksSigned tells a signed token from one of a file.
func looksSigned(s string) bool { return strings.Count(s, ".") == 2 }

// verify checks a token. Its errors are ErrRefused or ErrAway, and are for the client.
func (v *verifier) verify(ctx context.Context, presented string) (person, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	keys, err := v.find(ctx)
	if err != nil {
		return person{}, v.away(err)
	}
	noting := &notingKeys{KeySet: keys}
	t, err := oidc.NewVerifier(v.cfg.Issuer, noting, &oidc.Config{ClientID: v.cfg.Audience, SupportedSigningAlgs: algorithms, Now: v.now}).Verify(ctx, presented)
	var expired *oidc.TokenExpiredError
	switch {
	case errors.As(err, &expired):
		return person{}, refusef("the token has expired on %s (here it is %s): get a new one", utc(expired.Expiry), utc(v.now()))
	case err != nil && (errors.Is(noting.err, ErrAway) || ctx.Err() != nil):
		return person{}, v.away(noting.err)
	case err != nil:
		return person{}, &causedRefusal{refusef("the token is not good here: it must be signed by %s for the audience %q, and valid at %s",
			v.cfg.Issuer, v.cfg.Audience, utc(v.now())), err}
	}
	return v.person(t)
}

func utc(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// away is for a client whose token cannot be checked.
func (v *verifier) away(cause error) error {
	return &causedRefusal{&awayError{v.cfg.Issuer}, cause}
}

// awayError is an ErrAway.
type awayError struct{ issuer string }

func (e *awayError) Error() string {
	return fmt.Sprintf("this worker cannot ask %s now whether the token is good; try again", e.issuer)
}

func (e *awayError) Is(err error) bool { return err == ErrAway }

// notingKeys keeps why a signature was not found good, which the verifier does not pass on.
type notingKeys struct {
	oidc.KeySet
	err error
}

func (n *notingKeys) VerifySignature(ctx context.Context, jwt string) (payload []byte, err error) {
	payload, n.err = n.KeySet.VerifySignature(ctx, jwt)
	return payload, n.err
}

// find gives the keys, once the issuer has said where they are.
func (v *verifier) find(ctx context.Context) (oidc.KeySet, error) {
	select {
	case v.asking <- struct{}{}:
		defer func() { <-v.asking }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if v.keys != nil {
		return v.keys, nil
	}
	p, err := oidc.NewProvider(oidc.ClientContext(ctx, v.client), v.cfg.Issuer)
	if err != nil {
		return nil, err
	}
	var found struct {
		URL string `json:"jwks_uri"`
	}
	if err := p.Claims(&found); err != nil {
		return nil, err
	}
	if err := checkURL(found.URL, true); err != nil {
		return nil, fmt.Errorf("jwks_uri: %w", err)
	}
	v.keysAt(found.URL)
	return v.keys, nil
}

// person reads the claims of a token that is good.
func (v *verifier) person(t *oidc.IDToken) (person, error) {
	var claims map[string]json.RawMessage
	if err := t.Claims(&claims); err != nil {
		return person{}, refusef("the claims of the token cannot be read")
	}
	p := person{expires: t.Expiry}
	if err := json.Unmarshal(claims[v.cfg.UserClaim], &p.name); err != nil || checkName(p.name) != nil {
		return person{}, refusef("the token's claim %q is no name", v.cfg.UserClaim)
	}
	if v.cfg.UserClaim == "email" && string(claims["email_verified"]) == "false" {
		return person{}, refusef("nobody has checked that the address in the token is its owner's")
	}
	if raw, ok := claims[v.cfg.GroupsClaim]; ok {
		var one string
		if err := json.Unmarshal(raw, &p.groups); err != nil && json.Unmarshal(raw, &one) == nil {
			p.groups = []string{one}
		}
		p.groups = p.groups[:min(len(p.groups), maxGroups)]
	}
	if v.method == ServiceAccount {
		p.groups = append(p.groups, serviceAccountGroups(p.name)...)
	}
	return p, nil
}
