package access

import (
	"context"
	"crypto/x509"
	"log/slog"
	"os"
	"os/user"
	"strconv"
	"time"

	"github.com/rocwire/rocwire/wire"
)

// Config says whom an Authority believes.
type Config struct {
	TokenFile string // "": none
	// IssuedFile keeps the tokens that operators have the worker issue, through its restarts; "": none are issued.
	IssuedFile string
	// Card finds a card that the worker serves by its UUID, and says the how many-th it is. Needed for issued tokens.
	Card func(ctx context.Context, uuid string) (int, error)
	OIDC OIDC // of tokens that somebody else signs; the zero value: none
	// Insecure lets in clients of other machines of whom nobody knows anything.
	Insecure bool
	// Open is what clients of the network of whom nothing is known may do, those on loopback included; 0: Usual.
	Open Rights
	Log  *slog.Logger // nil: none
	// Now is the clock; nil: the machine's.
	Now func() time.Time
}

// Authority says who clients are.
type Authority struct {
	cfg    Config
	rules  *rulesAt      // nil: no file
	issued *issuedTokens // nil: none are issued
	oidc   *verifier     // nil: none
}

// New reads what the configuration names. An issuer need not be there yet.
func New(cfg Config) (*Authority, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Open == 0 {
		cfg.Open = Usual
	}
	a := &Authority{cfg: cfg}
	var err error
	if cfg.TokenFile != "" {
		if a.rules, err = openRules(cfg.TokenFile, cfg.Log); err != nil {
			return nil, err
		}
	}
	if cfg.IssuedFile != "" {
		if a.issued, err = openIssued(cfg.IssuedFile, cfg.Now); err != nil {
			return nil, err
		}
	}
	if a.oidc, err = newVerifier(cfg.OIDC, cfg.Now); err != nil {
		return nil, err
	}
	return a, nil
}

// KnowsTokens reports whether there are tokens that it would believe.
func (a *Authority) KnowsTokens() bool { return a.rules != nil || a.oidc != nil || a.issued != nil }

// Caller is a client that has said what it wants.
type Caller struct {
	Peer   wire.Peer
	Secure bool   // nobody on the way can read what is sent: TLS
	Token  string // as sent
	// Certificate is the client's, which the worker's CA has signed; nil without one.
	Certificate *x509.Certificate
}

// Identify says who a client is. A token that is wrong is refused wherever it comes from; a client that sends none is who its transport says it is. The
// identity is returned with an error, too, as far as it is known, for logs.
func (a *Authority) Identify(ctx context.Context, c Caller) (Identity, error) {
	switch {
	case c.Token != "" && !c.Secure && !c.Peer.Local():
		return Identity{Method: Nobody}, refusef("the token came over a plain connection and may be known to others: replace it, and connect with TLS (TF_WORKER_TLS_CA)")
	case c.Token != "" && a.KnowsTokens():
		return a.ofToken(ctx, c.Token)
	case c.Certificate != nil:
		return a.ofCertificate(c.Certificate)
	case c.Peer.Credentials != nil:
		id := Identity{Name: UserName(c.Peer.Credentials.UID), Method: Socket, Rights: Usual}
		if Operator(c.Peer.Credentials) {
			id.Rights = All
		}
		return id, nil
	case c.Peer.Local():
		return Identity{Method: Local, Rights: a.cfg.Open}, nil
	case a.cfg.Insecure:
		return Identity{Method: Nobody, Rights: a.cfg.Open}, nil
	}
	return Identity{Method: Nobody}, refusef("this worker asks clients on other machines who they are: set TF_WORKER_TOKEN_FILE, or TF_WORKER_TLS_CERT and TF_WORKER_TLS_KEY")
}

func (a *Authority) ofToken(ctx context.Context, presented string) (Identity, error) {
	if a.rules != nil {
		if t := a.rules.current().find(presented); t != nil {
			return t.identity(a.cfg.Now())
		}
	}
	if a.issued != nil {
		if t := a.issued.find(presented); t != nil {
			return a.ofIssued(ctx, t)
		}
	}
	if a.oidc == nil || !looksSigned(presented) {
		return Identity{Method: Token}, refusef("the token is not known to this worker: TF_WORKER_TOKEN_FILE names another one's, or it was taken back")
	}
	who, err := a.oidc.verify(ctx, presented)
	id := Identity{Name: who.name, Method: a.oidc.method, Expires: who.expires}
	if err != nil {
		return id, err
	}
	var list []match
	if a.rules != nil {
		list = a.rules.current().oidc
	}
	g, ok := matching(list, who.name, who.groups)
	if !ok {
		return id, refusef("%q is not among those whom this worker lets in", who.name)
	}
	g.apply(&id)
	return id, nil
}

// Operator reports whether a user of this machine may do what concerns others: it is this process's own, or root.
func Operator(c *wire.Credentials) bool { return c.UID == 0 || int(c.UID) == os.Geteuid() }

// UserName is a user's name, or number where it has none.
func UserName(uid uint32) string {
	n := strconv.FormatUint(uint64(uid), 10)
	if u, err := user.LookupId(n); err == nil {
		return u.Username
	}
	return n
}
