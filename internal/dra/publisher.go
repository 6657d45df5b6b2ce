package dra

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/dynamic-resource-allocation/resourceslice"

	"github.com/rocwire/rocwire/internal/fleet"
	"github.com/rocwire/rocwire/internal/version"
	"github.com/rocwire/rocwire/smiremote"
)

// Publisher keeps the ResourceSlices of a cluster as its workers' cards are. One of a cluster is enough: every node reaches the cards.
type Publisher struct {
	Client   kubernetes.Interface
	Workers  func(context.Context) ([]fleet.Worker, error)
	Interval time.Duration // between two looks; 0: 15 s
	Timeout  time.Duration // of each worker; 0: 10 s
	Log      *slog.Logger

	known map[string]*Known // by pool
	said  string            // of what cannot be published
}

// atOnce is how many workers are asked side by side.
const atOnce = 256

// Run publishes until ctx is done. What was published stays: who starts next goes on with it.
func (p *Publisher) Run(ctx context.Context) error {
	if p.Interval <= 0 {
		p.Interval = 15 * time.Second
	}
	if p.Timeout <= 0 {
		p.Timeout = 10 * time.Second
	}
	first := p.look(ctx)
	if ctx.Err() != nil {
		return nil
	}
	c, err := resourceslice.StartController(ctx, resourceslice.Options{
		DriverName: Driver, KubeClient: p.Client, Resources: &first,
		ErrorHandler: func(_ context.Context, err error, msg string) { p.Log.Error(msg, "reason", err) },
	})
	if err != nil {
		return err
	}
	defer c.Stop()
	t := time.NewTicker(p.Interval)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
		if next := p.look(ctx); ctx.Err() == nil {
			c.Update(&next)
		}
	}
}

// look asks all workers, and says what is to be published. A worker that is no longer named is forgotten; where it cannot be found out which there are,
// they are those of the last time.
func (p *Publisher) look(ctx context.Context) resourceslice.DriverResources {
	workers, err := p.Workers(ctx)
	if err != nil {
		p.Log.Warn("cannot find out which workers there are", "reason", err)
		workers = nil
		for _, k := range p.known {
			workers = append(workers, k.Worker)
		}
	}
	all := make([]Known, len(workers))
	slots := make(chan struct{}, atOnce)
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			all[i] = Known{Worker: workers[i]}
			all[i].Report, all[i].Err = p.ask(ctx, &workers[i])
		})
	}
	wg.Wait()
	next := map[string]*Known{}
	for i := range all {
		k := &all[i]
		name := PoolName(&k.Worker)
		old := p.known[name]
		if k.Err != nil {
			if old == nil || old.Err == nil {
				p.Log.Warn("worker does not answer", "worker", k.Worker.Label(), "reason", k.Err)
			}
			if old != nil {
				k.Report = old.Report
			}
		} else if old != nil && old.Err != nil {
			p.Log.Info("worker answers again", "worker", k.Worker.Label())
		}
		if next[name] == nil {
			next[name] = k
		}
	}
	p.known = next
	r, err := Resources(all)
	said := ""
	if err != nil {
		said = err.Error()
	}
	if said != p.said && said != "" {
		p.Log.Warn(said)
	}
	p.said = said
	return r
}

func (p *Publisher) ask(ctx context.Context, w *fleet.Worker) (*fleet.Report, error) {
	ctx, cancel := context.WithTimeout(ctx, p.Timeout)
	defer cancel()
	c := smiremote.NewClient(smiremote.Options{
		Address: w.Address.String(), ConnectTimeout: p.Timeout, IOTimeout: p.Timeout, Dialing: w.Settings, Name: "rocwire-dra", Version: version.String(),
	})
	defer c.Close()
	return fleet.Ask(ctx, c)
}
