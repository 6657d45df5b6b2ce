package fleet

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smiremote"
)

// Report is what a worker has, and who uses it.
type Report struct {
	Server *smiremote.ServerInfo
	Cards  []Card
	// Sessions are its clients; nil if it does not tell who asks, and SessionsErr says why.
	Sessions    []smi.Session
	SessionsErr error
}

// Card is one card of a report.
type Card struct {
	smi.DeviceSnapshot
	Troubles []Trouble
}

// Ask asks a worker for all of it. An error is one of the worker's: what is wrong with a card is in the report.
func Ask(ctx context.Context, c *smiremote.Client) (*Report, error) {
	r := new(Report)
	var snap *smi.Snapshot
	var serverErr, snapErr error
	var wg sync.WaitGroup
	wg.Go(func() { r.Server, serverErr = c.Server(ctx) })
	wg.Go(func() { snap, snapErr = c.Snapshot(ctx) })
	wg.Go(func() {
		s, err := c.Sessions(ctx)
		if r.SessionsErr = err; err == nil {
			r.Sessions = s.Sessions
		}
	})
	wg.Wait()
	if err := cmp.Or(snapErr, serverErr); err != nil {
		return nil, err
	}
	r.Cards = make([]Card, len(snap.Devices))
	for i := range snap.Devices {
		r.Cards[i].DeviceSnapshot = snap.Devices[i]
		wg.Go(func() {
			k := &r.Cards[i]
			pages, err := badPages(ctx, c, k)
			k.Troubles = troubles(&k.DeviceSnapshot, pages, err)
		})
	}
	wg.Wait()
	return r, ctx.Err()
}

// badPages asks how many pages a card does not use any more, if it knows how many are too many.
func badPages(ctx context.Context, c *smiremote.Client, k *Card) (int, error) {
	if k.ECC == nil || !k.ECC.BadPageLimit.Ok() {
		return 0, nil
	}
	pages, err := c.BadPages(ctx, k.Device.Index)
	if errors.Is(err, smi.ErrNotSupported) || errors.Is(err, smi.ErrNoPermission) {
		return 0, nil
	}
	return len(pages), err
}

// Memory is what the cards that tell have together, and what of it is free; not available if none tells.
func (r *Report) Memory() (total, free smi.Opt[smi.Bytes]) {
	for i := range r.Cards {
		t, f := r.Cards[i].Memory()
		if v, ok := t.Get(); ok {
			total = smi.Some(total.Or(0) + v)
		}
		if v, ok := f.Get(); ok {
			free = smi.Some(free.Or(0) + v)
		}
	}
	return total, free
}

// Memory is what the card has, and what of it is free.
func (k *Card) Memory() (total, free smi.Opt[smi.Bytes]) {
	if k.Info != nil {
		total = k.Info.VRAM.Size
	}
	if k.Metrics == nil {
		return total, free
	}
	if t := k.Metrics.VRAM.Total; t.Ok() {
		total = t
	}
	used, known := k.Metrics.VRAM.Used.Get()
	if t, ok := total.Get(); ok && known {
		free = smi.Some(t - min(used, t))
	}
	return total, free
}

// Users are whom the cards were given to, who has processes on them, and who is connected: each once, in order.
func (r *Report) Users() []string {
	var all []string
	for i := range r.Cards {
		all = append(all, r.Cards[i].Users()...)
	}
	for i := range r.Sessions {
		all = append(all, clientName(&r.Sessions[i].Client))
	}
	return unique(all)
}

// Users are whom the card was given to, and who has processes on it.
func (k *Card) Users() []string {
	var all []string
	for _, o := range k.Owners {
		if o.Source == smi.OwnerKubelet {
			all = append(all, o.Namespace+"/"+o.Pod)
		} else {
			all = append(all, o.JobUser+" job "+o.JobID)
		}
	}
	for i := range k.Processes {
		p := &k.Processes[i]
		switch {
		case p.Client != nil:
			all = append(all, clientName(p.Client))
		case p.User != "":
			all = append(all, p.User)
		case p.Name != "":
			all = append(all, p.Name)
		}
	}
	return unique(all)
}

// clientName is who a client is in short: its pod or job where somebody vouches for that or it says so, else its user.
func clientName(c *smi.Client) string {
	switch {
	case c.Pod != "" && c.Namespace != "":
		return c.Namespace + "/" + c.Pod
	case c.Job != "" && c.User != "":
		return c.User + " job " + c.Job
	case c.User != "" && c.Host != "":
		return c.User + "@" + c.Host
	case c.User != "":
		return c.User
	}
	return c.Address
}

func unique(list []string) []string {
	slices.Sort(list)
	return slices.DeleteFunc(slices.Compact(list), func(s string) bool { return s == "" })
}

// Healthy reports whether nothing is wrong with any card.
func (r *Report) Healthy() bool {
	return !slices.ContainsFunc(r.Cards, func(k Card) bool { return len(k.Troubles) > 0 })
}
