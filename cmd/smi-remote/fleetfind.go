package main

import (
	"context"
	"fmt"

	"github.com/rocwire/rocwire/cmd/smi-remote/internal/text"
	"github.com/rocwire/rocwire/discovery"
	"github.com/rocwire/rocwire/internal/dialing"
	"github.com/rocwire/rocwire/internal/fleet"
	"github.com/rocwire/rocwire/smi"
)

// discoverySources explains what --workers takes.
const discoverySources = `  FILE                 JSON or YAML in the format of Prometheus' file_sd
  http://HOST/PATH     the same, as its http_sd; https too
  dns:NAME             SRV records; dns://SERVER/NAME asks that server
  kubernetes:NS/NAME   the EndpointSlices of a service, in a pod; elsewhere
                       through kubectl proxy,
                       kubernetes+http://127.0.0.1:8001/NS/NAME;
                       NS?selector=KEY=VALUE takes all with a label
  consul+http://HOST:8500/NAME
                       Consul's catalog of a service; consul+https too`

// members are the workers of a fleet, and what could not be found out of who they are.
func (a *app) members(ctx context.Context, hosts bool) (all []fleet.Worker, p *problems, err error) {
	if a.timeout <= 0 {
		return nil, nil, usagef("--timeout %v is not more than 0", a.timeout)
	}
	p = &problems{}
	var named []dialing.Worker
	switch {
	case hosts:
		named, err = a.parseHosts(a.hosts, a.port)
	case len(a.sources) == 0:
		if named, err = dialing.Named(a.dialing, a.getenv); err == nil && len(named) == 0 {
			named, err = a.parseHosts(a.hosts, a.port)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	found, err := a.discover(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	return fleet.Join(fleet.Of(named), found), p, nil
}

// discover asks the sources of --workers side by side, within the time limit.
func (a *app) discover(ctx context.Context, p *problems) ([]fleet.Worker, error) {
	if len(a.sources) == 0 {
		return nil, nil
	}
	d, err := discovery.New(discovery.Options{Sources: a.sources, Getenv: a.getenv})
	if err != nil {
		return nil, usagef("--workers: %v", err)
	}
	limited, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	d.Refresh(limited)
	if ctx.Err() != nil {
		return nil, errInterrupted
	}
	for _, s := range d.States() {
		detail, code := s.Err, smi.ErrUnavailable
		if detail == "" && s.Bad > 0 {
			detail, code = fmt.Sprintf("%d targets or labels make no sense", s.Bad), smi.ErrBadData
		}
		if detail != "" {
			p.list = append(p.list, problem{Host: text.Clean(s.Source), What: "who the workers are", Code: code, Detail: text.Clean(detail), whole: true})
		}
	}
	return fleet.Resolve(d.Targets(), a.dialing, a.getenv)
}

// find looks for the workers of --workers, for commands that need all of them; without it they are those of --host.
func (a *app) find(ctx context.Context, hosts bool) error {
	if len(a.sources) == 0 {
		return nil
	}
	members, p, err := a.members(ctx, hosts)
	if err != nil {
		return err
	}
	if err := p.err(); err != nil {
		return err
	}
	a.workers = []*worker{}
	for i := range members {
		a.workers = append(a.workers, a.worker(members[i].Worker))
	}
	return nil
}
