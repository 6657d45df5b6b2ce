package otlp

import (
	"net/url"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/rocwire/rocwire/internal/outbound"
)

// maxHeadersFile bounds what is read as headers.
const maxHeadersFile = 64 << 10

// parsePairs reads a list as in OTEL_EXPORTER_OTLP_HEADERS and
// OTEL_RESOURCE_ATTRIBUTES: key=value,key=value with percent signs as in a URL. The
// error names keys only: values may be secrets.
func parsePairs(s string) ([]Attribute, error) {
	var list []Attribute
	for i, p := range strings.Split(s, ",") {
		if p = strings.TrimSpace(p); p == "" {
			continue
		}
		k, v, found := strings.Cut(p, "=")
		k, v = strings.TrimSpace(k), strings.TrimSpace(v)
		if !found || k == "" {
			return nil, wrong("item %d of the list has no form like key=value", i+1)
		}
		key, err1 := url.PathUnescape(k)
		value, err2 := url.PathUnescape(v)
		if err1 != nil || err2 != nil {
			return nil, wrong("%s: a percent sign that is not followed by two hexadecimal digits", k)
		}
		list = append(list, Attribute{key, value})
	}
	return list, nil
}

// parseHeaders reads a list of headers.
func parseHeaders(s string) ([]Attribute, error) {
	list, err := parsePairs(s)
	if err != nil {
		return nil, err
	}
	return list, checkHeaders(list)
}

// readHeaders reads a file with a header in each line, "Name: value". Lines that begin
// with # do not count.
func readHeaders(path string) ([]Attribute, error) {
	b, err := outbound.ReadFile(path, maxHeadersFile)
	if err != nil {
		return nil, wrong("headers: %w", err)
	}
	var list []Attribute
	for i, l := range strings.Split(string(b), "\n") {
		if l = strings.TrimSpace(l); l == "" || l[0] == '#' {
			continue
		}
		k, v, found := strings.Cut(l, ":")
		if !found {
			return nil, wrong("line %d of %s is not a header like Name: value", i+1, path)
		}
		list = append(list, Attribute{strings.TrimSpace(k), strings.TrimSpace(v)})
	}
	return list, checkHeaders(list)
}

func checkHeaders(list []Attribute) error {
	for _, h := range list {
		if !httpguts.ValidHeaderFieldName(h.Key) || !httpguts.ValidHeaderFieldValue(h.Value) {
			return wrong("%q or its value cannot be an HTTP header", h.Key)
		}
	}
	return nil
}
