// Package dialing is how clients of every kind connect to a worker on a network: what the environment and flags say of it, as options of package wire.
package dialing

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rocwire/rocwire/internal/outbound"
	"github.com/rocwire/rocwire/wire"
)

// Variables of the environment.
const (
	TLSVariable        = "TF_WORKER_TLS" // 1: TLS, also without any of the others; 0: none whatever they say
	CAVariable         = "TF_WORKER_TLS_CA"
	CertVariable       = "TF_WORKER_TLS_CERT"
	KeyVariable        = "TF_WORKER_TLS_KEY"
	ServerNameVariable = "TF_WORKER_TLS_SERVER_NAME"
	TokenVariable      = "TF_WORKER_TOKEN_FILE"
	IntegrityVariable  = "TF_WORKER_INTEGRITY" // 1: checksums where there is no TLS
)

// Settings are how to connect, whichever worker it is.
type Settings struct {
	TLS TLS
	// TokenFile has the token that says who this client is, and is read whenever a connection is made; empty: none.
	TokenFile string
	// TokenGiven is for a token that a scheduler has put where only those come who are to use it: who else of them can read it is that one's business.
	TokenGiven bool
	Integrity  string // one of the values of IntegrityVariable; empty: 0
}

// TLS says how the worker is known, and what proves to it who this client is. Files are in PEM form, and are read whenever a connection is made.
type TLS struct {
	Use        string // one of the values of TLSVariable; empty: TLS if anything else is set
	CA         string // file with the certificates that may have signed the worker's; empty: those of this machine
	Cert, Key  string // files with this client's certificate and its private key; empty: none
	ServerName string // that the worker's certificate must be for; empty: the host that is connected to
}

// FromEnv reads the environment.
func FromEnv(getenv func(string) string) Settings {
	return Settings{TLS: TLS{
		Use: getenv(TLSVariable), CA: getenv(CAVariable), Cert: getenv(CertVariable), Key: getenv(KeyVariable), ServerName: getenv(ServerNameVariable),
	}, TokenFile: getenv(TokenVariable), Integrity: getenv(IntegrityVariable)}
}

// Apply completes the options of a connection. Its error is one line that says what to mend.
func (s *Settings) Apply(o *wire.Options) (err error) {
	if s.TokenFile != "" {
		o.Token = func() (string, error) { return readToken(s.TokenFile, s.TokenGiven) }
	}
	if o.TLS, err = s.TLS.config(); err != nil {
		return err
	}
	switch s.Integrity {
	case "", "0", "false":
	case "1", "true":
		if o.TLS == nil || strings.HasPrefix(o.Address, "unix:") {
			o.Hello.Features = append(slices.Clip(o.Hello.Features), wire.FeatureIntegrity)
		}
	default:
		return fmt.Errorf("%s=%q: 1 is checksums, 0 is none", IntegrityVariable, s.Integrity)
	}
	return nil
}

// config is nil without TLS.
func (t *TLS) config() (*tls.Config, error) {
	on := t.CA != "" || t.Cert != "" || t.Key != "" || t.ServerName != ""
	switch t.Use {
	case "":
	case "1", "true":
		on = true
	case "0", "false":
		on = false
	default:
		return nil, fmt.Errorf("%s=%q: 1 is TLS, 0 is none", TLSVariable, t.Use)
	}
	if !on {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS13, ServerName: t.ServerName}
	if t.CA != "" {
		pem, err := outbound.ReadFile(t.CA, maxCertificates)
		if err != nil {
			return nil, fmt.Errorf("the CA of the worker's certificate: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("the CA of the worker's certificate: %s has no certificate in PEM form", t.CA)
		}
	}
	if (t.Cert == "") != (t.Key == "") {
		return nil, errors.New("a client certificate and its key go together: " + CertVariable + " and " + KeyVariable)
	}
	if t.Cert != "" {
		pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
		if err != nil {
			return nil, fmt.Errorf("the client certificate: %w", err)
		}
		// Sent whatever CAs the worker names, so that it says what is wrong with it.
		c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
	}
	return c, nil
}

const maxCertificates = 4 << 20

// flags is what adds flags: that of package flag, or of pflag.
type flags interface {
	StringVar(p *string, name, value, usage string)
}

// AddFlags adds flags that go before the environment, whose values s has; prefix is "tls" where nothing else has TLS.
func (s *Settings) AddFlags(f flags, prefix string) {
	t := &s.TLS
	f.StringVar(&s.TokenFile, strings.TrimSuffix(prefix, "tls")+"token-file", s.TokenFile, "`FILE` with the token that says who this is\n("+TokenVariable+")")
	f.StringVar(&t.CA, prefix+"-ca", t.CA, "`FILE` with the CA of the worker's certificate:\nTLS then ("+CAVariable+")")
	f.StringVar(&t.Cert, prefix+"-cert", t.Cert, "`FILE` with this client's certificate\n("+CertVariable+")")
	f.StringVar(&t.Key, prefix+"-key", t.Key, "`FILE` with its private key\n("+KeyVariable+")")
	f.StringVar(&t.ServerName, prefix+"-server-name", t.ServerName, "`NAME` in the worker's certificate, if not its host\n("+ServerNameVariable+")")
}
