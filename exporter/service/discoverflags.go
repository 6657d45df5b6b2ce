package service

import (
	"flag"
	"strings"
	"time"

	"github.com/rocwire/rocwire/discovery"
)

// discoveryFlags adds the flags of discovery, which may be given several times.
func discoveryFlags(fs *flag.FlagSet, o *discovery.Options) {
	fs.Func("discover-file", "file that names workers", func(s string) error {
		if err := discovery.CheckFile(s); err != nil {
			return err
		}
		o.Sources = append(o.Sources, s)
		return nil
	})
	fs.Func("discover-url", "URL that names workers", func(s string) error {
		if err := discovery.Check(s); err != nil {
			return err
		}
		o.Sources = append(o.Sources, s)
		return nil
	})
	fs.DurationVar(&o.Interval, "discover-interval", time.Minute, "how often URLs are asked")
}

// discoveryUsage is the help for the flags.
func discoveryUsage() string {
	return strings.TrimPrefix(`
  --discover-file FILE  file that names workers, as Prometheus' file_sd has them
                      (.json, .yml); may be a pattern, and given several times
  --discover-url URL  the same over HTTP, as http_sd; or dns:NAME (SRV records),
                      kubernetes:NAMESPACE/SERVICE, consul+http://HOST:8500/SERVICE
  --discover-interval TIME  how often URLs are asked                 [1m]
`, "\n")
}
