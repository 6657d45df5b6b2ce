package service

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rocwire/rocwire/wire"
)

// hosts are the names that requests may ask for. A web page of a stranger can have a name of its own lead to this
// machine, and read what a browser here gets for it; but the browser says that name.
type hosts struct {
	own   atomic.Pointer[map[string]bool]
	every bool
}

// hostNames makes them of what an operator allows. Where other machines may ask, names that this machine has for
// them are found out in the background.
func (o *Options) hostNames() *hosts {
	h := &hosts{}
	own := map[string]bool{}
	add := func(name string) {
		if name = plain(name); name != "" {
			own[name] = true
		}
	}
	for name := range strings.SplitSeq(o.AllowedHosts, ",") {
		add(name)
		h.every = h.every || strings.TrimSpace(name) == "*"
	}
	add(o.Place.Host)
	if name, err := os.Hostname(); err == nil {
		add(name)
	}
	host, _, err := net.SplitHostPort(o.Listen)
	if err == nil {
		add(host)
	}
	h.own.Store(&own)
	if err == nil && wire.CheckListen(host, false) != nil {
		go h.lookUp()
	}
	return h
}

// lookUp adds the names of this machine's addresses.
func (h *hosts) lookUp() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	list, err := net.InterfaceAddrs()
	if err != nil {
		return
	}
	own := map[string]bool{}
	for name := range *h.own.Load() {
		own[name] = true
	}
	for _, a := range list[:min(len(list), 16)] {
		p, err := netip.ParsePrefix(a.String())
		if err != nil || p.Addr().IsLoopback() || p.Addr().IsLinkLocalUnicast() {
			continue
		}
		names, err := net.DefaultResolver.LookupAddr(ctx, p.Addr().String())
		if err != nil {
			continue // it has none
		}
		for _, name := range names {
			own[plain(name)] = true
		}
	}
	h.own.Store(&own)
}

// plain is a host as it is compared: without port, brackets and a dot at the end.
func plain(host string) string {
	host = strings.TrimSpace(host)
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

// allow reports whether a Host header names this machine: an address, a name of its own, or one that nobody can have in the
// world's DNS.
func (h *hosts) allow(host string) bool {
	host = plain(host)
	if h.every || (*h.own.Load())[host] || !strings.Contains(host, ".") { // also none: HTTP/1.0
		return true
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	for _, domain := range []string{".localhost", ".svc", ".svc.cluster.local"} {
		if strings.HasSuffix(host, domain) {
			return true
		}
	}
	return false
}

// only refuses requests for other names.
func (h *hosts) only(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !h.allow(r.Host) {
			http.Error(w, fmt.Sprintf("%.100q is no name of this machine that it knows of; ask for its address, or allow the name with --web-allowed-hosts", plain(r.Host)),
				http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}
