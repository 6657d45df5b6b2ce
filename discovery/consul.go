package discovery

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/rocwire/rocwire/internal/outbound"
)

// consulSource asks Consul's catalog for a service.
type consulSource struct {
	url      *url.URL // of the service in the catalog
	service  string
	interval time.Duration
	client   *http.Client
	token    outbound.Secret
}

// newConsulSource reads consul+http://HOST:PORT/SERVICE; what it has behind a question mark, such as dc, tag or filter, is Consul's.
func newConsulSource(s string, interval time.Duration, getenv func(string) string) (*consulSource, error) {
	scheme, _, _ := strings.Cut(s, ":")
	u, err := parseURL(s, strings.ToLower(scheme))
	if err != nil {
		return nil, err
	}
	service := strings.TrimPrefix(u.Path, "/")
	if service == "" || strings.Contains(service, "/") {
		return nil, fmt.Errorf("%q names no service like %s://HOST:8500/SERVICE", s, scheme)
	}
	u.Path, u.RawPath = "/v1/catalog/service/"+service, "/v1/catalog/service/"+url.PathEscape(service)
	return &consulSource{url: u, service: service, interval: interval, client: newHTTPClient(nil), token: outbound.Secret(getenv("CONSUL_HTTP_TOKEN"))}, nil
}

func (c *consulSource) name() string          { return "consul+" + c.url.Redacted() }
func (c *consulSource) period() time.Duration { return c.interval }

// consulEntry is one instance of a service, as the catalog has it.
type consulEntry struct {
	Node, Address, Datacenter string
	ServiceID, ServiceAddress string
	ServicePort               int
	ServiceTags               []string
}

func (c *consulSource) read(ctx context.Context) ([]Target, int, error) {
	header := http.Header{}
	if t := c.token.Reveal(); t != "" {
		header.Set("X-Consul-Token", t)
	}
	b, err := getJSON(ctx, c.client, c.url, header)
	if err != nil {
		return nil, 0, err
	}
	var list []consulEntry
	if err := decodeJSON(b, &list); err != nil {
		return nil, 0, fmt.Errorf("%s: %w", c.url.Redacted(), err)
	}
	all := collection{}
	for _, e := range list {
		host, port := e.ServiceAddress, DefaultPort
		if host == "" { // it is the node's, as Consul has it
			host = e.Address
		}
		if e.ServicePort != 0 {
			port = strconv.Itoa(e.ServicePort)
		}
		all.add(net.JoinHostPort(host, port), map[string]string{
			"__meta_consul_node": e.Node, "__meta_consul_dc": e.Datacenter, "__meta_consul_service": c.service, "__meta_consul_service_id": e.ServiceID,
			"__meta_consul_tags": "," + strings.Join(e.ServiceTags, ",") + ",",
		})
	}
	return all.targets, all.bad, nil
}

// decodeJSON reads a document that getJSON has got.
func decodeJSON(b []byte, v any) error {
	if len(b) > MaxBytes {
		return fmt.Errorf("%w: more than %d bytes", ErrFormat, MaxBytes)
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return nil
}
