package probe

import (
	"encoding/json"
	"maps"
	"net"
	"net/http"
	"strings"

	"github.com/rocwire/rocwire/discovery"
)

// SD serves the discovered workers as targets for Prometheus (http_sd): each is a
// target at this exporter, with the parameter that has it probed, so that a scrape
// configuration needs no relabeling. The exporter's address is the one it was asked at.
func (h *Handler) SD() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "GET it", http.StatusMethodNotAllowed)
			return
		}
		self, ok := hostPort(r.Host, r.TLS != nil)
		if !ok {
			http.Error(w, "the Host header is no address", http.StatusBadRequest)
			return
		}
		groups := []discovery.Group{}
		if h.opt.Listed != nil {
			for _, t := range h.opt.Listed.Targets() {
				labels := map[string]string{"instance": t.Address}
				maps.Copy(labels, t.Labels)
				labels["__param_target"], labels["__metrics_path__"] = t.Address, "/probe"
				if r.TLS != nil {
					labels["__scheme__"] = "https"
				}
				groups = append(groups, discovery.Group{Targets: []string{self}, Labels: labels})
			}
		}
		h := w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("X-Content-Type-Options", "nosniff")
		_ = json.NewEncoder(w).Encode(groups) // a scraper that is gone needs no answer
	})
}

// hostPort is the address in a Host header, with its port.
func hostPort(host string, tls bool) (string, bool) {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"), "80"
		if tls {
			port = "443"
		}
	}
	addr, err := discovery.Normalize(net.JoinHostPort(name, port))
	return addr, err == nil && !strings.HasPrefix(addr, "unix:")
}
