package page

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/exporter/push"
	"github.com/rocwire/rocwire/smi"
)

// evil are names that somebody might choose who means harm.
var evil = []string{
	`<img src=x onerror="window.hacked=1">`, `"><svg onload=window.hacked=2>`, `</script><script>window.hacked=3</script>`, `javascript:window.hacked=4`,
	`{{.Version}}${window.hacked=5}`, "\u202emoc.elpmaxe\u2066\u200f", "nul\x00bell\x07esc\x1b[31mdel\x7f\u0085", "bad\xff\xfe utf-8 \xed\xa0\x80", strings.Repeat("loooong ", 1300),
	strings.Repeat("W", 10000), strings.Repeat("é́", 5000), `' onmouseover='window.hacked=6`, `__proto__`, `constructor`, `<!--`, `]]>`, "a\nb\r\nSet-Cookie: x=1", "\u2028window.hacked=7\u2029",
	"\U000e0041\U000e0042", "العربية مرحبا", "", " ",
}

// pest gives names out, each time another.
type pest int

func (p *pest) name() string {
	*p++
	return evil[int(*p)%len(evil)]
}

func (p *pest) client() smi.Client {
	return smi.Client{Address: p.name(), Host: p.name(), PID: 7, Executable: p.name(), User: p.name(), Container: p.name(), Pod: p.name(), Namespace: p.name()}
}

// poison puts such names wherever a name goes.
func (p *pest) poison(r *exporter.Reading) {
	*p = 0
	if !r.Time.IsZero() {
		r.SessionsErr = nil
	}
	for i := range r.Cards {
		c := &r.Cards[i]
		c.Device.Name, c.Device.UUID, c.Device.Target = p.name(), p.name(), p.name()
		info, m := *c.Info, *c.Metrics
		info.Driver.Name, info.Driver.Version, info.VBIOS.Version, info.VRAM.Type = p.name(), p.name(), p.name(), p.name()
		m.PerfLevel = p.name()
		m.Temperatures = append(m.Temperatures, smi.Temperature{Sensor: p.name(), Current: smi.Some(smi.Celsius(3))})
		m.Clocks = append(m.Clocks, smi.Clock{Domain: p.name(), Current: smi.Some(smi.Hertz(3))})
		m.Throttle.Violations = []smi.Violation{{Kind: p.name(), Active: smi.Some(true)}, {Kind: p.name(), Active: smi.Some(true)}}
		c.Info, c.Metrics, c.ECCErr = &info, &m, &smi.Failure{Code: smi.ErrIO, Detail: p.name()}
		c.Processes = nil
		for j := range evil {
			client := p.client()
			c.Processes = append(c.Processes, smi.Process{
				Device: i, PID: uint32(j + 1), Name: p.name(), User: p.name(), VRAM: smi.Some(smi.Bytes(j)), Session: p.name(),
				Container: &smi.Container{ID: p.name(), Name: p.name(), Pod: p.name(), Namespace: p.name()}, Client: &client,
			})
		}
	}
	r.Sessions, r.Slow = nil, nil
	for i := range evil {
		id := p.name()
		r.Sessions = append(r.Sessions, smi.Session{ID: id, Client: p.client(), BytesIn: smi.Some(smi.Bytes(r.Time.Unix()))})
		r.Slow = append(r.Slow, rpcstats.SlowCall{Session: id + []string{"", "ended"}[i%2], Client: rpcstats.Caller{Host: p.name(), Executable: p.name()}, Op: p.name(), Code: p.name(), Kernel: p.name(), Total: time.Second, Execution: time.Second, Queue: -1, Network: -1, Start: r.Time})
	}
	for i, e := range evil {
		r.Calls = append(r.Calls, rpcstats.CallTotal{Call: rpcstats.Call{Op: e, Side: "client", Code: evil[(i+3)%len(evil)]},
			Hist: rpcstats.Hist{Nanos: uint64(r.Time.Unix()) * 1000, Buckets: []rpcstats.Bucket{{Index: -50, Count: uint64(r.Time.Unix())}}}})
	}
	for i := range r.Local.Processes {
		x := &r.Local.Processes[i]
		x.Name, x.Executable, x.Library, x.User, x.Container = p.name(), p.name(), p.name(), p.name(), smi.Container{Name: p.name(), Pod: p.name(), Namespace: p.name()}
		x.Calls[0].Op, x.Calls[1].Op = p.name(), p.name()
	}
	r.LocalErr = nil
	r.Err = errors.New(p.name() + evil[0])
}

func hostile(t *testing.T) *Page {
	w, p := newWorld(3, 2), new(pest)
	w.edit = p.poison
	for _, e := range evil {
		w.sinks = append(w.sinks, push.Stats{Name: e, LastError: evil[0] + e, Oldest: w.now()})
	}
	return w.page(t, Options{Title: evil[0], Place: exporter.Place{Host: evil[1], Cluster: evil[5], Pool: evil[9]}}, time.Minute)
}

// No answer holds what could be markup, turn text around, or has no end.
func TestHostileAnswers(t *testing.T) {
	p := hostile(t)
	for _, path := range []string{"/", "/api/v1/status", "/api/v1/history", "/api/v1/calls", "/api/v1/functions?top=32", "/api/v1/latency?op=" + "%3Cimg%20src=x%20onerror=window.hacked%3E"} {
		r := get(p, path)
		body := r.Body.String()
		if r.Code != http.StatusOK || !utf8.ValidString(body) || r.Body.Len() > 2<<20 {
			t.Fatalf("%s: %d, %d bytes", path, r.Code, r.Body.Len())
		}
		for _, bad := range []string{"<img", "<svg", "<script>", "onload=window.hacked=2>", "\u202e", "\u2066", "\x00", "\x1b", "\u2028", strings.Repeat("W", 300)} {
			if strings.Contains(body, bad) {
				t.Errorf("%s holds %q", path, bad)
			}
		}
		if !strings.Contains(body, "hacked") {
			t.Errorf("%s does not show the names at all", path)
		}
	}
}
