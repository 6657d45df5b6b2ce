package keys

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rocwire/rocwire/internal/wholefile"
)

// Names of the files in a directory, without what Cert and Key add.
const (
	CA     = "ca"
	Server = "server"
	prefix = "client-" // before a client's name
)

// Dir is a directory with keys. It is the operator's: its CA's key lets in whoever holds it.
type Dir struct {
	Path  string
	Days  int              // for how long certificates of servers and clients are good
	Force bool             // write over what is there
	Now   func() time.Time // for tests; nil is time.Now
}

// caYears is for how long a CA is good. Every client knows it, so it changes seldom.
const caYears = 10

// skew is how far the clocks of others may be behind.
const skew = time.Hour

// Cert and Key are the paths of a certificate and its private key.
func (d *Dir) Cert(name string) string { return filepath.Join(d.Path, name+".crt") }

// Key is the path of a private key.
func (d *Dir) Key(name string) string { return filepath.Join(d.Path, name+".key") }

// Client is the name of a client's files.
func Client(name string) string { return prefix + name }

// Init makes a CA, a key for a server that is reached by any of hosts, names or addresses, and one for each client.
func (d *Dir) Init(hosts, clients []string) error {
	if len(hosts) == 0 {
		return errors.New("a server has at least one host name or address")
	}
	names := []string{CA, Server}
	for _, c := range clients {
		if err := checkName(c); err != nil {
			return err
		}
		names = append(names, Client(c))
	}
	if err := os.MkdirAll(d.Path, 0o700); err != nil {
		return err
	}
	if err := d.free(names...); err != nil {
		return err
	}
	key, err := newKey()
	if err != nil {
		return err
	}
	t := d.template("rocwire CA", 365*caYears)
	t.IsCA, t.BasicConstraintsValid, t.MaxPathLenZero = true, true, true
	t.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign
	der, err := x509.CreateCertificate(rand.Reader, t, t, &key.PublicKey, key)
	if err != nil {
		return err
	}
	if err := d.write(CA, der, key); err != nil {
		return err
	}
	if err := d.addServer(hosts); err != nil {
		return err
	}
	for _, c := range clients {
		if err := d.AddClient(c); err != nil {
			return err
		}
	}
	return nil
}

func (d *Dir) addServer(hosts []string) error {
	t := d.template(hosts[0], d.Days)
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	for _, h := range hosts {
		switch ip := net.ParseIP(strings.Trim(h, "[]")); {
		case ip != nil:
			t.IPAddresses = append(t.IPAddresses, ip)
		case h == "" || strings.ContainsAny(h, " \t/:,"):
			return fmt.Errorf("%q is no host name or address", h)
		default:
			t.DNSNames = append(t.DNSNames, h)
		}
	}
	return d.issue(Server, t)
}

// AddClient makes a key for one more client, with the CA that is there.
func (d *Dir) AddClient(name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	if err := d.free(Client(name)); err != nil {
		return err
	}
	t := d.template(name, d.Days)
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return d.issue(Client(name), t)
}

// checkName refuses a client's name that no file should have.
func checkName(name string) error {
	ok := name != "" && len(name) <= 64 && name[0] != '.'
	for _, c := range name {
		ok = ok && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_.@", c))
	}
	if !ok {
		return fmt.Errorf("%q is no name for a client: letters, digits, and - _ . @", name)
	}
	return nil
}

func (d *Dir) now() time.Time {
	if d.Now != nil {
		return d.Now()
	}
	return time.Now()
}

func (d *Dir) template(name string, days int) *x509.Certificate {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		panic(err) // crypto/rand does not fail
	}
	return &x509.Certificate{
		SerialNumber: serial.Add(serial, big.NewInt(1)), Subject: pkix.Name{CommonName: name}, KeyUsage: x509.KeyUsageDigitalSignature,
		NotBefore: d.now().Add(-skew), NotAfter: d.now().AddDate(0, 0, days),
	}
}

// issue makes a key, and a certificate of it that the CA signs.
func (d *Dir) issue(name string, t *x509.Certificate) error {
	ca, caKey, err := d.ca()
	if err != nil {
		return err
	}
	if t.NotAfter.After(ca.NotAfter) {
		return fmt.Errorf("the CA in %s is good until %s only: fewer days, or a new CA", d.Path, ca.NotAfter.Format(time.DateOnly))
	}
	key, err := newKey()
	if err != nil {
		return err
	}
	der, err := x509.CreateCertificate(rand.Reader, t, ca, &key.PublicKey, caKey)
	if err != nil {
		return err
	}
	return d.write(name, der, key)
}

// ca reads the CA that is there.
func (d *Dir) ca() (*x509.Certificate, *ecdsa.PrivateKey, error) {
	cert, err := readPEM(d.Cert(CA), "CERTIFICATE", x509.ParseCertificate)
	if err != nil {
		return nil, nil, err
	}
	key, err := readPEM(d.Key(CA), "PRIVATE KEY", x509.ParsePKCS8PrivateKey)
	if err != nil {
		return nil, nil, err
	}
	k, ok := key.(*ecdsa.PrivateKey)
	if !ok {
		return nil, nil, fmt.Errorf("%s: not a key that keys init has made", d.Key(CA))
	}
	return cert, k, nil
}

func readPEM[T any](path, kind string, parse func([]byte) (T, error)) (v T, err error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return v, fmt.Errorf("there is no CA (%s): keys init makes one", path)
	}
	if err != nil {
		return v, err
	}
	block, _ := pem.Decode(b)
	if block == nil || block.Type != kind {
		return v, fmt.Errorf("%s: no %s in PEM form", path, strings.ToLower(kind))
	}
	if v, err = parse(block.Bytes); err != nil {
		return v, fmt.Errorf("%s: %w", path, err)
	}
	return v, nil
}

func newKey() (*ecdsa.PrivateKey, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) }

// free fails if any of the names is taken.
func (d *Dir) free(names ...string) error {
	for _, n := range names {
		for _, path := range []string{d.Cert(n), d.Key(n)} {
			if _, err := os.Lstat(path); err == nil && !d.Force {
				return fmt.Errorf("%s is there already; --force writes over it", path)
			} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// write writes a key and its certificate, the key first: who sees the certificate finds its key.
func (d *Dir) write(name string, der []byte, key *ecdsa.PrivateKey) error {
	k, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	if err := replace(d.Key(name), "PRIVATE KEY", k, 0o600); err != nil {
		return err
	}
	return replace(d.Cert(name), "CERTIFICATE", der, 0o644)
}

// replace writes a PEM file.
func replace(path, kind string, der []byte, mode os.FileMode) error {
	return wholefile.Write(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), mode)
}
