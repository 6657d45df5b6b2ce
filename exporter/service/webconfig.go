package service

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"

	"github.com/prometheus/exporter-toolkit/web"
	"go.yaml.in/yaml/v2"

	"github.com/rocwire/rocwire/wire"
)

// demand is what a web configuration demands of who connects.
type demand struct {
	tls   bool
	users bool // with tls: a password
	certs bool // with tls: a certificate of an authority that the configuration names
}

func (d demand) any() bool { return d.users || d.certs }

// readDemand reads a web configuration. Without TLS nobody is authenticated: who listens
// on the way would have the password.
func readDemand(file string) (d demand, err error) {
	if file == "" {
		return d, nil
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return d, err
	}
	var c web.Config
	if err := yaml.UnmarshalStrict(b, &c); err != nil {
		return d, err
	}
	t := &c.TLSConfig
	if !t.IsEnabled() {
		return d, nil
	}
	d.tls, d.users = true, len(c.Users) > 0
	// Without a named authority every certificate that the system's would sign is one.
	d.certs = t.ClientAuth == "RequireAndVerifyClientCert" && (t.ClientCAs != "" || t.ClientCAsText != "")
	return d, nil
}

// CheckWeb checks the web configuration, and whether o.Listen may be listened on. It
// tells whether there is TLS.
func (o *Options) CheckWeb() (tls bool, err error) {
	if o.Listen == "" {
		return false, nil
	}
	if err := web.Validate(o.WebConfig); err != nil {
		return false, fmt.Errorf("--web-config %s: %w", o.WebConfig, err)
	}
	d, err := readDemand(o.WebConfig)
	if err != nil {
		return false, fmt.Errorf("--web-config %s: %w", o.WebConfig, err)
	}
	host, _, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return false, err
	}
	local := wire.CheckListen(host, false)
	if local != nil && o.Debug {
		return false, fmt.Errorf("--web-debug: %w", local)
	}
	if local == nil || o.Insecure || d.any() {
		return d.tls, nil
	}
	if errors.Is(local, wire.ErrNotLoopback) {
		local = fmt.Errorf("%w, and so does a --web-config that demands authentication over TLS", local)
	}
	return false, fmt.Errorf("%s %w", o.Flag, local)
}

// guarded refuses what a changed web configuration would let through that the one at
// the start did not: it is what allows to listen on an address that others reach.
func guarded(file string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d, err := readDemand(file)
		// The toolkit has checked the password if there are users. A connection may be
		// older than the demand for a certificate.
		if err != nil || r.TLS == nil || !d.users && !(d.certs && len(r.TLS.VerifiedChains) > 0) {
			http.Error(w, "the web configuration no longer demands authentication", http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(w, r)
	})
}
