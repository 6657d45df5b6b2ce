package otlp

import (
	"net"
	"net/url"
	"strings"
)

// What OTLP/HTTP adds to the address of a receiver of all signals.
const (
	metricsPath = "/v1/metrics"
	tracesPath  = "/v1/traces"
)

// target is where requests of a signal go.
type target struct {
	url    string // for HTTP
	host   string // host:port, for GRPC
	secure bool
}

// target reads the endpoint.
func (s *Signal) target(path string) (target, error) {
	switch s.Protocol {
	case "", HTTP, GRPC:
	case "http/json":
		return target{}, wrong("the protocol http/json is not known; there are %s and %s", GRPC, HTTP)
	default:
		return target{}, wrong("the protocol %q is not known; there are %s and %s", s.Protocol, GRPC, HTTP)
	}
	scheme, _, found := strings.Cut(s.Endpoint, "://")
	if !found && s.Protocol == GRPC {
		return bare(s)
	}
	u, err := url.Parse(s.Endpoint)
	if err != nil || u.Host == "" || !found {
		// The parser's error would tell a password in it.
		return target{}, wrong("the endpoint is not a URL like http://HOST:4318")
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return target{}, wrong("the endpoint's scheme %q is neither http nor https", scheme)
	}
	t := target{secure: u.Scheme == "https"}
	if s.Protocol == GRPC {
		if strings.Trim(u.Path, "/") != "" {
			return target{}, wrong("the endpoint %s has a path, which %s does not have; is it meant for %s?", u.Redacted(), GRPC, HTTP)
		}
		t.host = withPort(u.Host, u.Port(), "4317")
		return t, nil
	}
	if !s.Exact {
		u.Path = strings.TrimRight(u.Path, "/") + path
	} else if u.Path == "" {
		u.Path = "/" // the specification wants the root then
	}
	u.Fragment = ""
	t.url = u.String()
	return t, nil
}

// bare is an endpoint without a scheme.
func bare(s *Signal) (target, error) {
	host, port, err := net.SplitHostPort(s.Endpoint)
	if err != nil || host == "" || port == "" {
		return target{}, wrong("the endpoint %q is neither HOST:PORT nor a URL", s.Endpoint)
	}
	return target{host: s.Endpoint, secure: !s.Plain}, nil
}

func withPort(host, port, def string) string {
	if port != "" {
		return host
	}
	return net.JoinHostPort(strings.Trim(host, "[]"), def)
}
