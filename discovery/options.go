package discovery

import (
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Options say where workers are named. The zero value names none.
type Options struct {
	Sources  []string      // as the package comment has them
	Interval time.Duration // how often all but files are asked; default 1 m
	Log      *slog.Logger  // default: discard
	// Getenv reads the environment: where this program's cluster is, and Consul's token. Default: os.Getenv.
	Getenv func(string) string
}

func (o *Options) defaults() {
	if o.Interval <= 0 {
		o.Interval = time.Minute
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
}

// Check says what is wrong with the name of a source.
func Check(source string) error {
	o := Options{}
	o.defaults()
	_, err := o.open(source)
	return err
}

// CheckFile says what is wrong with a pattern of files.
func CheckFile(pattern string) error {
	if _, err := filepath.Match(pattern, ""); err != nil || pattern == "" {
		return fmt.Errorf("%q is no file or pattern", pattern)
	}
	return nil
}

// open looks which source it is. Nothing is asked yet.
func (o *Options) open(s string) (source, error) {
	scheme, rest, found := strings.Cut(s, ":")
	switch scheme = strings.ToLower(scheme); {
	case !found:
	case scheme == "http" || scheme == "https":
		u, err := parseURL(s, scheme)
		if err != nil {
			return nil, err
		}
		return &httpSource{url: u, interval: o.Interval, client: newHTTPClient(nil)}, nil
	case scheme == "dns":
		return newDNSSource(s, o.Interval)
	case scheme == "kubernetes" || strings.HasPrefix(scheme, "kubernetes+"):
		return newKubernetesSource(s, o.Interval, o.Getenv)
	case strings.HasPrefix(scheme, "consul+"):
		return newConsulSource(s, o.Interval, o.Getenv)
	case strings.HasPrefix(rest, "//"):
		return nil, fmt.Errorf("%q names no workers: a file, http://, https://, dns:, kubernetes: or consul+http://", s)
	}
	if err := CheckFile(s); err != nil {
		return nil, err
	}
	return &fileSource{pattern: s}, nil
}

// parseURL reads a URL whose scheme, when what stands in front of it is cut off, is to be http or https.
func parseURL(raw, prefixed string) (*url.URL, error) {
	bare := strings.TrimPrefix(prefixed, "consul+")
	bare = strings.TrimPrefix(bare, "kubernetes+")
	u, err := url.Parse(bare + raw[len(prefixed):])
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Opaque != "" || u.Fragment != "" {
		return nil, fmt.Errorf("%q is no URL like %s://HOST/…", raw, prefixed)
	}
	return u, nil
}
