package access

import "crypto/x509"

func (a *Authority) ofCertificate(c *x509.Certificate) (Identity, error) {
	id := Identity{Name: certificateName(c), Method: Certificate, Expires: c.NotAfter}
	if checkName(id.Name) != nil {
		return id, refusef("the client certificate has no name that can be shown")
	}
	var list []match
	if a.rules != nil {
		list = a.rules.current().certificates
	}
	g, ok := matching(list, id.Name, nil)
	if !ok {
		return id, refusef("the certificate of %q is not among those that this worker lets in", id.Name)
	}
	g.apply(&id)
	return id, nil
}

// certificateName is the name of a certificate: its subject's, or the first of the others that it has.
func certificateName(c *x509.Certificate) string {
	switch {
	case c.Subject.CommonName != "":
		return c.Subject.CommonName
	case len(c.DNSNames) > 0:
		return c.DNSNames[0]
	case len(c.EmailAddresses) > 0:
		return c.EmailAddresses[0]
	case len(c.URIs) > 0:
		return c.URIs[0].String()
	case len(c.IPAddresses) > 0:
		return c.IPAddresses[0].String()
	}
	return ""
}
