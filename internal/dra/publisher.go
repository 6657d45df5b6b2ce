package dra

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	resourceapi "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/dynamic-resource-allocation/resourceslice"

	"github.com/rocwire/rocwire/internal/fleet"
)

// Publisher keeps the ResourceSlices of a cluster as its workers' cards are. One of a cluster is enough: every node reaches the cards.
type Publisher struct {
	Client kubernetes.Interface
	// Workers are those that there are, and whether these are all: whoever says which there are may be away.
	Workers  func(context.Context) (list []fleet.Worker, all bool, err error)
	Interval time.Duration // between two looks; 0: 15 s
	Timeout  time.Duration // of each worker; 0: 10 s
	Log      *slog.Logger

	known map[string]*Known // by pool
	said  string            // of what cannot be published
}

// errNotFound is of a worker that somebody else may still know.
var errNotFound = errors.New("not found yet")

// Run publishes until ctx is done. What was published stays: who starts next goes on with it.
func (p *Publisher) Run(ctx context.Context) error {
	if p.Interval <= 0 {
		p.Interval = 15 * time.Second
	}
	if p.Timeout <= 0 {
		p.Timeout = 10 * time.Second
	}
	if err := p.recall(ctx); err != nil {
		return fmt.Errorf("what has been published: %w", err)
	}
	last := p.look(ctx)
	if ctx.Err() != nil {
		return nil
	}
	q := newQueue()
	c, err := resourceslice.StartController(ctx, resourceslice.Options{
		DriverName: Driver, KubeClient: p.Client, Resources: &last, Queue: q,
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
		next := p.look(ctx)
		if changed := changes(&last, &next); ctx.Err() == nil && len(changed) > 0 {
			q.expect(changed)
			c.Update(&next)
			last = next
		}
	}
}

// recall learns what an earlier process has published: who is away just now is not forgotten for that.
func (p *Publisher) recall(ctx context.Context) error {
	list, err := p.Client.ResourceV1().ResourceSlices().List(ctx, metav1.ListOptions{FieldSelector: resourceapi.ResourceSliceSelectorDriver + "=" + Driver})
	if err != nil {
		return err
	}
	newest := map[string]int64{}
	for i := range list.Items {
		s := &list.Items[i].Spec
		newest[s.Pool.Name] = max(newest[s.Pool.Name], s.Pool.Generation)
	}
	p.known = map[string]*Known{}
	for i := range list.Items {
		s := &list.Items[i].Spec
		if s.Driver != Driver || s.Pool.Generation != newest[s.Pool.Name] {
			continue
		}
		k := p.known[s.Pool.Name]
		if k == nil {
			k = &Known{Pool: s.Pool.Name, Err: errNotFound}
			p.known[k.Pool] = k
		}
		k.Devices = append(k.Devices, s.Devices...)
	}
	return nil
}

// look asks all workers, and says what is to be published. A worker that is no longer named is forgotten, once whoever names workers has said so.
func (p *Publisher) look(ctx context.Context) resourceslice.DriverResources {
	workers, all, err := p.Workers(ctx)
	if err != nil {
		p.Log.Warn("cannot find out which workers there are", "reason", err)
	}
	list := make([]Known, len(workers))
	named := map[string]bool{}
	for i := range workers {
		w := &workers[i]
		list[i] = Known{Pool: PoolName(w), Worker: w}
		named[list[i].Pool] = true
	}
	if err != nil || !all {
		for _, name := range slices.Sorted(maps.Keys(p.known)) {
			if !named[name] {
				list = append(list, *p.known[name])
			}
		}
	}
	wrong := make([]error, len(list))
	fleet.SideBySide(len(list), func(i int) {
		k := &list[i]
		if k.Worker == nil {
			return
		}
		var report *fleet.Report
		if report, k.Err = p.ask(ctx, k.Worker); k.Err == nil {
			k.Devices, wrong[i] = devicesOf(k.Worker, report)
		}
	})
	next := map[string]*Known{}
	for i := range list {
		k := &list[i]
		old := p.known[k.Pool]
		answered := old != nil && old.Err == nil
		if k.Err != nil {
			if k.Worker != nil && (old == nil || answered || errors.Is(old.Err, errNotFound)) {
				p.Log.Warn("worker does not answer", "worker", k.label(), "reason", k.Err)
			}
			if old != nil {
				k.Devices = old.Devices
			}
		} else if old != nil && !answered {
			p.Log.Info("worker answers again", "worker", k.label())
		}
		if next[k.Pool] == nil {
			next[k.Pool] = k
		}
	}
	p.known = next
	r, err := Resources(list)
	said := ""
	if err = errors.Join(append(wrong, err)...); err != nil {
		said = err.Error()
	}
	if said != p.said && said != "" {
		p.Log.Warn("not all cards are published", "reason", said)
	}
	p.said = said
	return r
}

func (p *Publisher) ask(ctx context.Context, w *fleet.Worker) (*fleet.Report, error) {
	ctx, cancel := context.WithTimeout(ctx, p.Timeout)
	defer cancel()
	c := connect(w, p.Timeout)
	defer c.Close()
	return fleet.Ask(ctx, c)
}
