package wire

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/rocwire/rocwire/internal/tlsrecord"
)

// dialTLS secures a client's connection, which is closed on an error. Its error says what to do.
func dialTLS(ctx context.Context, conn net.Conn, cfg *tls.Config, host, port string, limit timeLimit) (net.Conn, error) {
	if cfg.ServerName == "" {
		cfg = cfg.Clone()
		cfg.ServerName, _, _ = strings.Cut(host, "%") // a zone is this machine's own
	}
	c, err := SecureClient(ctx, conn, cfg)
	if err == nil {
		return c, nil
	}
	_ = conn.Close()
	e := &Error{Kind: ErrRefused, Host: host, Port: port, Reason: tlsReason(err), Err: err}
	switch {
	case errors.Is(err, context.Canceled):
		e.Kind, e.Reason = ErrTimeout, "canceled"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		e.Kind, e.Reason = ErrTimeout, "no TLS handshake "+limit.String()
	}
	return nil, e
}

// tlsReason is what failed in a TLS handshake as a client sees it, in a line that says what to do.
func tlsReason(err error) string {
	var (
		plain     tls.RecordHeaderError
		authority x509.UnknownAuthorityError
		invalid   x509.CertificateInvalidError
		name      x509.HostnameError
		alert     tls.AlertError
		later     tlsrecord.AlertError
	)
	switch {
	case errors.As(err, &plain):
		return "there is no TLS: start the worker with --tls-cert and --tls-key, or connect without TLS"
	case errors.As(err, &authority):
		return "the worker's certificate is signed by nobody that is trusted here: give the CA that has signed it (" + authority.Error() + ")"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the worker's certificate " + strings.TrimPrefix(invalid.Error(), "x509: certificate ") + ": renew it, or set the clock that is wrong"
	case errors.As(err, &invalid):
		return "the worker's certificate: " + invalid.Error()
	case errors.As(err, &name):
		return "the worker's certificate is for another name: connect by a name that is in it, or say which one is expected (" + name.Error() + ")"
	case errors.As(err, &alert):
		return alertReason(tlsrecord.AlertCode(alert), err)
	case errors.As(err, &later):
		return alertReason(tlsrecord.AlertCode(later), err)
	}
	return "no TLS handshake: " + err.Error()
}

// alertReason is what a server says of a client.
func alertReason(a tlsrecord.AlertCode, err error) string {
	switch a {
	case tlsrecord.CertificateRequired:
		return "the worker wants a client certificate: give one and its key"
	case tlsrecord.UnknownCA, tlsrecord.BadCertificate, tlsrecord.CertificateUnknown, tlsrecord.CertificateExpired, tlsrecord.CertificateRevoked:
		return fmt.Sprintf("the worker does not accept this client's certificate (%v): give one that its --tls-client-ca has signed and that has not expired", a)
	case tlsrecord.AccessDenied:
		return "the worker does not let this client in"
	}
	return "the worker ended the TLS handshake: " + err.Error()
}

// tlsHandshake is what a TLS connection begins with; no frame does.
const tlsHandshake = byte(tlsrecord.Handshake)
