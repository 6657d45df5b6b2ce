package worker

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/internal/libcrypto"
	"github.com/rocwire/rocwire/wire"
)

// TLS is how a worker proves to clients on the network who it is, and how they do; files in PEM form. They are read again when they have changed.
type TLS struct {
	Cert, Key string // the certificate, with those between it and its CA behind it, and its private key; both empty: no TLS
	ClientCA  string // who signs clients' certificates; empty: clients need none
}

// keyring is what the files hold.
type keyring struct {
	TLS
	tokens bool // a client may have a token in the place of a certificate
	log    *slog.Logger
	mu     sync.Mutex
	config *tls.Config
	stamps [3]stamp
}

// stamp tells whether a file has changed.
type stamp struct {
	time time.Time
	size int64
}

// keyring is nil without TLS.
func (t TLS) keyring(tokens bool, log *slog.Logger) (*keyring, error) {
	if t == (TLS{}) {
		return nil, nil
	}
	k := &keyring{TLS: t, tokens: tokens, log: log}
	k.stamps = k.look()
	var err error
	if k.config, err = k.load(); err == nil {
		use, what := libcrypto.Use()
		if !use {
			what = "crypto/aes (" + what + ")"
		}
		log.Info("TLS", "encrypted by", what)
	}
	return k, err
}

// look looks at the files. What is not there has no stamp.
func (k *keyring) look() (all [3]stamp) {
	for i, name := range []string{k.Cert, k.Key, k.ClientCA} {
		if f, err := os.Stat(name); err == nil {
			all[i] = stamp{f.ModTime(), f.Size()}
		}
	}
	return all
}

func (k *keyring) load() (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(k.Cert, k.Key)
	if err != nil {
		return nil, fmt.Errorf("TLS certificate %s with key %s: %w", k.Cert, k.Key, err)
	}
	c := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS13}
	if k.ClientCA != "" {
		pem, err := os.ReadFile(k.ClientCA)
		if err != nil {
			return nil, fmt.Errorf("TLS client CA: %w", err)
		}
		c.ClientCAs, c.ClientAuth = x509.NewCertPool(), tls.RequireAndVerifyClientCert
		if k.tokens {
			c.ClientAuth = tls.VerifyClientCertIfGiven
		}
		if !c.ClientCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("TLS client CA: %s has no certificate in PEM form", k.ClientCA)
		}
	}
	return c, nil
}

// current is what to shake hands with: what the files say now or, if that makes no sense, what they said before.
func (k *keyring) current() *tls.Config {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.look()
	if now == k.stamps {
		return k.config
	}
	c, err := k.load()
	if err != nil {
		k.log.Error("changed TLS files are not used; what they held before still is", "error", err)
	} else {
		k.log.Info("TLS files read again", "certificate", k.Cert)
		k.config = c
	}
	k.stamps = now
	return k.config
}

// secure shakes hands with a new client, if it has come over the network and there is TLS. It answers one that it refuses, and closes the connection.
func (s *Server) secure(conn net.Conn) (net.Conn, error) {
	tcp, ok := conn.(*net.TCPConn)
	if s.tls == nil || !ok {
		return conn, nil
	}
	ctx, cancel := context.WithTimeout(s.ctx, s.cfg.HelloTimeout)
	defer cancel()
	limit, _ := ctx.Deadline()
	if err := conn.SetDeadline(limit); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	stop := context.AfterFunc(s.ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	first, err := peek(tcp)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	if first == byte(wire.Magic&0xff) {
		return nil, s.plain(conn)
	}
	c, err := wire.SecureServer(ctx, conn, s.tls.current())
	if err != nil {
		// Take what the client has still sent, so that it gets the alert and not a reset.
		if tcp.CloseWrite() == nil && conn.SetReadDeadline(time.Now().Add(50*time.Millisecond)) == nil {
			_, _ = tcp.Read(make([]byte, 64<<10))
		}
		return nil, errors.Join(err, conn.Close())
	}
	return c, conn.SetDeadline(time.Time{})
}

// peek is the first byte that comes, which stays where it is.
func peek(conn *net.TCPConn) (byte, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var b [1]byte
	var n int
	var got error
	err = raw.Read(func(fd uintptr) bool {
		for {
			if n, _, got = unix.Recvfrom(int(fd), b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT); got != unix.EINTR {
				return got != unix.EAGAIN
			}
		}
	})
	switch {
	case err != nil:
		return 0, err
	case got != nil:
		return 0, got
	case n == 0:
		return 0, fmt.Errorf("the client said nothing: %w", io.EOF)
	}
	return b[0], nil
}

// certificate is the one that a client has shown and that has been verified, nil without one.
func certificate(conn net.Conn) *x509.Certificate {
	c, ok := conn.(*wire.SecureConn)
	if !ok || len(c.ConnectionState().VerifiedChains) == 0 {
		return nil
	}
	return c.ConnectionState().PeerCertificates[0]
}

// secured reports whether nobody on the way can read what a connection carries.
func secured(conn net.Conn) bool {
	_, ok := conn.(*wire.SecureConn)
	return ok
}
