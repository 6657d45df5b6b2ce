package discovery

import (
	"flag"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"time"
)

// Options say where workers are named. The zero value names none.
type Options struct {
	Files    []string      // .json, .yml or .yaml; the last part may be a pattern like *.json
	URLs     []string      // that answer in JSON
	Interval time.Duration // how often URLs are asked; default 1 m
	Log      *slog.Logger  // default: discard
}

// AddFlags adds the flags of o, which may be given several times.
func (o *Options) AddFlags(fs *flag.FlagSet) {
	fs.Func("discover-file", "file that names workers", func(s string) error {
		if _, err := filepath.Match(s, ""); err != nil || s == "" {
			return fmt.Errorf("%q is no file or pattern", s)
		}
		o.Files = append(o.Files, s)
		return nil
	})
	fs.Func("discover-url", "URL that names workers", func(s string) error {
		if _, err := newHTTPSource(s, time.Minute); err != nil {
			return err
		}
		o.URLs = append(o.URLs, s)
		return nil
	})
	fs.DurationVar(&o.Interval, "discover-interval", time.Minute, "how often URLs are asked")
}

// Usage is the help for the flags of AddFlags.
func Usage() string {
	return strings.TrimPrefix(`
  --discover-file FILE  file that names workers, as Prometheus' file_sd has them
                      (.json, .yml); may be a pattern, and given several times
  --discover-url URL  the same over HTTP, as http_sd
  --discover-interval TIME  how often URLs are asked                 [1m]
`, "\n")
}
