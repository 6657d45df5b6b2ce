package discovery

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"
)

// dnsSource asks for SRV records.
type dnsSource struct {
	server   string // host:port; "" is the resolver of this machine
	query    string
	interval time.Duration
}

// newDNSSource reads dns:NAME and dns://SERVER/NAME.
func newDNSSource(s string, interval time.Duration) (*dnsSource, error) {
	d := &dnsSource{interval: interval}
	_, d.query, _ = strings.Cut(s, ":")
	if rest, ok := strings.CutPrefix(d.query, "//"); ok {
		server, name, _ := strings.Cut(rest, "/")
		d.query = name
		if server != "" {
			if _, _, err := net.SplitHostPort(server); err != nil {
				server = net.JoinHostPort(strings.Trim(server, "[]"), "53")
			}
			d.server = server
		}
	}
	if name := strings.TrimSuffix(strings.ToLower(d.query), "."); !hostName.MatchString(name) || strings.Contains(name, "..") {
		return nil, fmt.Errorf("%q is not dns:NAME or dns://SERVER/NAME", s)
	}
	return d, nil
}

func (d *dnsSource) name() string {
	if d.server != "" {
		return "dns://" + d.server + "/" + d.query
	}
	return "dns:" + d.query
}

func (d *dnsSource) period() time.Duration { return d.interval }

func (d *dnsSource) read(ctx context.Context) ([]Target, int, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	resolver, cut := d.resolver()
	_, records, err := resolver.LookupSRV(ctx, "", "", d.query)
	if cut.Load() {
		return nil, 0, fmt.Errorf("%s: %w", d.query, errCut)
	}
	if err != nil && len(records) == 0 {
		return nil, 0, err
	}
	c := collection{}
	if err != nil { // some of the names make no sense
		c.bad++
	}
	for _, r := range records {
		if r.Target == "." { // RFC 2782: the service is decidedly not there
			continue
		}
		c.add(net.JoinHostPort(strings.TrimSuffix(r.Target, "."), strconv.Itoa(int(r.Port))), map[string]string{
			"__meta_dns_name": d.query, "__meta_dns_srv_record_target": r.Target, "__meta_dns_srv_record_port": strconv.Itoa(int(r.Port)),
		})
	}
	return c.targets, c.bad, nil
}
