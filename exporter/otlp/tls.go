package otlp

import (
	"crypto/tls"
	"crypto/x509"

	"github.com/rocwire/rocwire/internal/outbound"
)

const maxCertFile = 1 << 20

// tls is how a receiver is checked and who we say we are. The certificate that we show
// is read again for each connection, so that a renewed one needs no restart.
func (s *Signal) tls() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if s.CA != "" {
		pem, err := outbound.ReadFile(s.CA, maxCertFile)
		if err != nil {
			return nil, wrong("certificates of the receiver: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, wrong("%s has no certificate in PEM form", s.CA)
		}
	}
	if (s.Cert == "") != (s.Key == "") {
		return nil, wrong("a client certificate and its key go together, and only one is given")
	}
	if s.Cert != "" {
		load := func() (*tls.Certificate, error) {
			pair, err := tls.LoadX509KeyPair(s.Cert, s.Key)
			if err != nil {
				return nil, wrong("client certificate: %w", err)
			}
			return &pair, nil
		}
		if _, err := load(); err != nil {
			return nil, err
		}
		c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return load() }
	}
	return c, nil
}
