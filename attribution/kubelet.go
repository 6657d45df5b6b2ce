package attribution

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rocwire/rocwire/smi"
)

const (
	// DefaultKubelet is where a kubelet tells which container was given which device.
	DefaultKubelet = "unix:///var/lib/kubelet/pod-resources/kubelet.sock"
	// NoKubelet is the Options.Kubelet that asks none.
	NoKubelet = "none"

	podRefresh   = 10 * time.Second // how often the kubelet is asked, if anybody wants to know
	podKeep      = time.Minute      // how long its answer counts when it gives no other
	podTimeout   = 5 * time.Second
	podPatience  = 100 * time.Millisecond // how long a caller waits, once, for the first answer
	maxPodAnswer = 16 << 20               // bytes
)

// Names of what AMD's device plugin and DRA driver give out.
const (
	resourcePrefix = "amd.com/"
	draDriver      = "gpu.amd.com"
)

// owner is a container that was given a card.
type owner struct {
	podName
	container string
}

// nodePods is what is known of the pods on this node. It is not changed once it is
// made.
type nodePods struct {
	at     time.Time
	owners map[int][]owner    // by card
	names  map[string]podName // by uid
}

// pods asks the kubelet in the background.
type pods struct {
	socket   string // the kubelet's; empty: none is asked
	optional bool   // it need not exist
	logs     string
	sys      string
	cards    cards
	log      *slog.Logger
	now      func() time.Time

	ctx    context.Context // done when pods is closed
	cancel context.CancelFunc

	mu      sync.Mutex
	known   *nodePods
	next    time.Time     // before that nothing is asked
	flight  chan struct{} // closed at the end of the question under way
	waiting bool          // somebody has waited for it in vain
	failing bool          // and it was said
}

// ParseKubelet checks the address of a kubelet's socket: unix:///PATH, /PATH, or
// NoKubelet.
func ParseKubelet(s string) (string, error) {
	path, scheme := strings.CutPrefix(s, "unix:")
	if scheme {
		path, _ = strings.CutPrefix(path, "//")
	}
	switch {
	case s == NoKubelet || s == "":
		return s, nil
	case !strings.HasPrefix(path, "/"):
		return "", fmt.Errorf("%q is not the address of a socket like %s", s, DefaultKubelet)
	}
	return "unix://" + path, nil
}

func newPods(src smi.Source, o *Options) (*pods, error) {
	p := &pods{logs: o.PodLogs, sys: o.Sys, cards: cards{src: src}, log: o.Log, now: time.Now}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	target, err := ParseKubelet(o.Kubelet)
	if err != nil {
		return nil, err
	}
	if target == NoKubelet {
		return p, nil
	}
	if target == "" {
		target, p.optional = DefaultKubelet, true
	}
	p.socket = strings.TrimPrefix(target, "unix://")
	return p, nil
}

func (p *pods) close() { p.cancel() }

// recent is what is known now, nil for nothing, and the end of the question under way, nil for none. It sees to it that
// more is known soon. mu is held.
func (p *pods) recent() (*nodePods, chan struct{}) {
	now := p.now()
	if p.flight == nil && !now.Before(p.next) && p.ctx.Err() == nil {
		p.flight = make(chan struct{})
		go p.refresh(p.flight)
	}
	if p.known != nil && now.Sub(p.known.at) > podKeep {
		return nil, p.flight
	}
	return p.known, p.flight
}

// peek is what is known now, nil for nothing.
func (p *pods) peek() *nodePods {
	p.mu.Lock()
	defer p.mu.Unlock()
	k, _ := p.recent()
	return k
}

// get is peek for who may wait a moment for the first answer.
func (p *pods) get(ctx context.Context) *nodePods {
	p.mu.Lock()
	k, flight := p.recent()
	wait := k == nil && flight != nil && !p.waiting
	p.mu.Unlock()
	if !wait {
		return k
	}
	t := time.NewTimer(podPatience)
	defer t.Stop()
	select {
	case <-flight:
	case <-t.C:
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.flight == flight {
		p.waiting = true
	}
	return p.known
}

// refresh asks once.
func (p *pods) refresh(flight chan struct{}) {
	ctx, cancel := context.WithTimeout(p.ctx, podTimeout)
	defer cancel()
	names := podLogs(p.logs)
	owners, err := p.ask(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	defer close(flight)
	now := p.now()
	p.flight, p.next = nil, now.Add(podRefresh)
	switch {
	case p.ctx.Err() != nil:
		return
	case err != nil && !p.failing:
		p.log.Warn("the kubelet does not say which pods use the GPUs", "error", err)
	case err == nil && p.failing:
		p.log.Info("the kubelet says again which pods use the GPUs")
	}
	p.failing = err != nil
	if err == nil {
		p.waiting = false
	} else if p.known != nil && now.Sub(p.known.at) <= podKeep {
		p.known = &nodePods{at: p.known.at, owners: p.known.owners, names: names}
		return
	}
	p.known = &nodePods{at: now, owners: owners, names: names}
}

// ask is which containers were given which cards.
func (p *pods) ask(ctx context.Context) (map[int][]owner, error) {
	if p.socket == "" {
		return nil, nil
	}
	if p.optional {
		if _, err := os.Stat(p.socket); err != nil {
			return nil, nil // no node of Kubernetes
		}
	}
	grants, err := listGrants(ctx, p.socket)
	if err != nil {
		return nil, err
	}
	var ids []deviceID
	var of []owner
	for _, g := range grants {
		if id, ok := parseDeviceID(g.device, p.sys); ok {
			ids, of = append(ids, id), append(of, g.owner)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	found, err := p.cards.find(ctx, ids)
	if err != nil {
		return nil, err
	}
	owners := map[int][]owner{}
	for i, cards := range found {
		for _, c := range cards {
			if !slices.Contains(owners[c], of[i]) { // who has several shares of a card is still one
				owners[c] = append(owners[c], of[i])
			}
		}
	}
	return owners, nil
}
