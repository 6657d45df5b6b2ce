package outbound

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
)

// TLS says how a server is checked.
type TLS struct {
	CA         string // file with the certificates, in PEM form, that may sign the server's; "": those of this machine
	ServerName string // that its certificate must be for; "": the host that is connected to
	Insecure   bool   // do not check it: anybody on the way can read and change what is sent
}

const maxCertificates = 4 << 20

// Config is the configuration for a server at host.
func (t *TLS) Config(host string) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: host, InsecureSkipVerify: t.Insecure}
	if t.ServerName != "" {
		c.ServerName = t.ServerName
	}
	if t.CA != "" {
		pem, err := ReadFile(t.CA, maxCertificates)
		if err != nil {
			return nil, err
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s has no certificate in PEM form", t.CA)
		}
	}
	return c, nil
}
