package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/exporter-toolkit/web"

	"github.com/rocwire/rocwire/calls/rpctrace"
	"github.com/rocwire/rocwire/discovery"
	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/exporter/collector"
	"github.com/rocwire/rocwire/exporter/page"
	"github.com/rocwire/rocwire/exporter/probe"
	"github.com/rocwire/rocwire/exporter/push"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smiremote"
	"github.com/rocwire/rocwire/wire"
)

// shutdownTime is how long requests under way may still take at the end.
const shutdownTime = 5 * time.Second

// Source is what is exported.
type Source struct {
	Cards    smi.Source
	Sessions smi.Sessions         // nil: there are none
	Calls    collector.CallSource // nil: none are measured
	Remote   string               // host of the cards; "": this machine
	Timeout  time.Duration        // of one reading of the cards; 0: exporter's default
	Program  string               // whose service this is: gpu-exporter, hip-worker
	Instance string               // what tells it from others of its name on its host; "": where its pages are
	Version  string               // of the program
}

// Service is an exporter with everything around it.
type Service struct {
	opt      Options
	log      *slog.Logger
	listener net.Listener // nil: there are sinks only
	tls      bool
	server   *http.Server
	conns    *connections
	exporter *exporter.Exporter
	local    localSource
	sinks    *sinks
	page     *page.Page
	probe    *probe.Handler
	found    *discovery.Discovery
}

// New checks the options, listens, and opens queues. Its errors are of the options, of
// the operating system, or of a queue. Run does the work.
func New(opt Options, src Source, log *slog.Logger) (*Service, error) {
	if err := opt.Check(); err != nil {
		return nil, err
	}
	s := &Service{opt: opt, log: log, conns: newConnections(opt.MaxConns)}
	var err error
	if s.tls, err = s.opt.CheckWeb(); err != nil {
		return nil, err
	}
	if s.opt.Place.Host == "" {
		s.opt.Place.Host = hostOf(src.Remote)
	}
	if opt.Listen != "" {
		if s.listener, err = net.Listen("tcp", opt.Listen); err != nil {
			return nil, err
		}
	}
	if err := s.open(src); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// hostOf is what the host of the cards is called. Empty is not known.
func hostOf(remote string) string {
	if remote != "" && !loopbackName(remote) {
		return remote
	}
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return name
}

func (s *Service) open(src Source) (err error) {
	o := &s.opt
	o.Discovery.Log = s.log
	if s.found, err = discovery.New(o.Discovery); err != nil {
		return err
	}
	p := o.Probe
	p.Listed = s.found
	interval := p.Exporter.Interval
	p.Exporter = o.Metrics
	p.Exporter.Interval, p.Exporter.Version, p.Exporter.Log = interval, src.Version, s.log
	p.Exporter.Place = exporter.Place{Cluster: o.Place.Cluster, Pool: o.Place.Pool}
	p.Client = smiremote.Options{Dialing: o.Dialing, Name: src.Program, Version: src.Version}
	if s.probe, err = probe.New(p); err != nil {
		return err
	}
	if s.local, err = openLocal(o.EBPF, s.log); err != nil {
		return err
	}
	e := o.Metrics
	e.Source, e.Sessions, e.Calls, e.Timeout, e.Version = src.Cards, src.Sessions, src.Calls, src.Timeout, src.Version
	e.Place, e.Runtime, e.Log = o.Place, true, s.log
	e.Sinks = func() []push.Stats { return s.sinks.Stats() }
	if s.local != nil {
		e.Local = s.local
	}
	e.More = []prometheus.Collector{probe.Discovered{Discovery: s.found}, s.probe}
	if s.exporter, err = exporter.New(e); err != nil {
		return err
	}
	instance := src.Instance
	if instance == "" && s.listener != nil {
		instance = s.listener.Addr().String()
	}
	if s.sinks, err = openSinks(o, src.Program, src.Version, instance, s.exporter, s.log); err != nil {
		return err
	}
	o.Page.Read, o.Page.Sinks, o.Page.Place, o.Page.Version = s.exporter.Read, e.Sinks, o.Place, src.Version
	o.Page.MaxRequests = o.MaxRequests
	if s.page, err = page.New(o.Page); err != nil {
		return err
	}
	s.server = s.serverOf(s.handler())
	s.tellQueues()
	return nil
}

// tellQueues says at the start what a restart would lose.
func (s *Service) tellQueues() {
	switch {
	case len(s.sinks.list) == 0:
	case s.opt.Queue.Dir == "":
		s.log.Warn("figures for servers that are down wait in memory, and the end of this process loses them; --queue-dir keeps them")
	default:
		s.log.Info("figures for servers that are down wait on disk", "dir", s.opt.Queue.Dir)
	}
}

// handler is what the server answers with.
func (s *Service) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", s.page)
	own := s.exporter.Handler()
	for _, path := range []string{"/metrics", "/-/healthy", "/-/ready"} {
		mux.Handle(path, own)
	}
	mux.Handle("/probe", s.probe)
	mux.Handle("/sd", s.probe.SD())
	if s.opt.Debug {
		mux.Handle("/debug/", profiles())
	}
	h := contained(s.log, capped(s.opt.MaxRequests, turnTime, careful(mux)))
	if !s.tls { // with TLS a name that is another's has no certificate
		h = s.opt.hostNames().only(h)
	}
	if host, _, err := net.SplitHostPort(s.opt.Listen); err == nil && !s.opt.Insecure && wire.CheckListen(host, false) != nil {
		h = guarded(s.opt.WebConfig, h)
	}
	return h
}

func (s *Service) serverOf(h http.Handler) *http.Server {
	return &http.Server{
		Handler: s.conns.busy(h), ConnContext: s.conns.within, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: time.Minute, // a probe waits as long as Prometheus does, a profile for 30 s
		IdleTimeout:  2 * time.Minute, MaxHeaderBytes: 32 << 10,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug), // clients that break off handshakes, mostly
	}
}

// URL is where the metrics are. They must be served.
func (s *Service) URL() string {
	scheme := "http"
	if s.tls {
		scheme = "https"
	}
	return fmt.Sprintf("%s://%s/metrics", scheme, s.listener.Addr())
}

// Spans takes a worker's spans; see worker.Config. It does not wait.
func (s *Service) Spans(client smi.Client, session string, spans []rpctrace.Span) {
	s.sinks.traces.Spans(client, session, spans)
}

// Run serves until ctx is done. Then it ends requests and gives sinks a few seconds to
// send what waits. It closes everything; an error is the listener's.
func (s *Service) Run(ctx context.Context) error {
	defer s.close()
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	wg.Go(func() { s.exporter.Run(ctx) })
	wg.Go(func() { s.probe.Run(ctx) })
	wg.Go(func() { s.found.Run(ctx) })
	wg.Go(func() { s.sinks.run(ctx) })
	if s.local != nil {
		wg.Go(func() { s.local.Run(ctx) })
	}
	if s.listener == nil {
		<-ctx.Done()
		return nil
	}
	wg.Go(func() { s.page.Run(ctx) })
	return s.serve(ctx, &wg)
}

// serve answers requests until ctx is done, and then for a moment longer.
func (s *Service) serve(ctx context.Context, wg *sync.WaitGroup) error {
	wg.Go(func() {
		<-ctx.Done()
		end, cancel := context.WithTimeout(context.Background(), shutdownTime)
		defer cancel()
		if s.server.Shutdown(end) != nil {
			_ = s.server.Close() // whoever is still reading has had time enough
		}
	})
	err := web.Serve(limited{s.listener, s.conns}, s.server, &web.FlagConfig{WebConfigFile: &s.opt.WebConfig}, slog.New(withoutNews{s.log.Handler()}))
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// close closes what was opened.
func (s *Service) close() {
	if s.listener != nil {
		_ = s.listener.Close() // the server has, if there was one
	}
	if s.sinks != nil {
		s.sinks.close(s.log)
	}
	if s.local != nil {
		if err := s.local.Close(); err != nil {
			s.log.Warn("local programs are still watched", "reason", err)
		}
	}
}
