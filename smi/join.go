package smi

import (
	"context"
	"slices"
	"sync"
)

// Join is one source of the cards of several, in their order. How many cards each has is asked once, of all, by the first question: the numbers of the
// others depend on it. Afterwards one that does not answer hides no card of another. Closing it closes them.
func Join(sources ...Source) Source {
	if len(sources) == 1 {
		return sources[0]
	}
	return &joined{sources: sources}
}

type joined struct {
	Unimplemented
	sources []Source

	mu      sync.Mutex
	devices [][]Device // of each source as it numbers them; nil until all have told
}

// list asks every source for its cards.
func (j *joined) list(ctx context.Context) ([][]Device, error) {
	j.mu.Lock()
	known := j.devices
	j.mu.Unlock()
	lists := make([][]Device, len(j.sources))
	errs := make([]error, len(j.sources))
	var wg sync.WaitGroup
	for i, s := range j.sources {
		wg.Go(func() { lists[i], errs[i] = s.Devices(ctx) })
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i, err := range errs {
		if err != nil && known == nil {
			return nil, err
		}
		if known != nil && (err != nil || len(lists[i]) != len(known[i])) {
			lists[i] = known[i] // as it was: a card keeps its number
		}
	}
	j.mu.Lock()
	j.devices = lists
	j.mu.Unlock()
	return lists, nil
}

// card is the source of a card and its number there.
func (j *joined) card(ctx context.Context, index int) (Source, int, error) {
	j.mu.Lock()
	lists := j.devices
	j.mu.Unlock()
	if lists == nil {
		var err error
		if lists, err = j.list(ctx); err != nil {
			return nil, 0, err
		}
	}
	if n := index; n >= 0 {
		for i, l := range lists {
			if n < len(l) {
				return j.sources[i], n, nil
			}
			n -= len(l)
		}
	}
	return nil, 0, Errorf(ErrNotFound, "there is no card %d", index)
}

// Devices implements Source.
func (j *joined) Devices(ctx context.Context) ([]Device, error) {
	lists, err := j.list(ctx)
	if err != nil {
		return nil, err
	}
	var all []Device
	for _, l := range lists {
		for _, d := range l {
			d.Index = len(all)
			all = append(all, d)
		}
	}
	return all, nil
}

// of asks the source of a card.
func of[T any](ctx context.Context, j *joined, index int, ask func(Source, int) (T, error)) (T, error) {
	s, n, err := j.card(ctx, index)
	if err != nil {
		var none T
		return none, err
	}
	return ask(s, n)
}

// Info implements Source.
func (j *joined) Info(ctx context.Context, index int) (*Info, error) {
	info, err := of(ctx, j, index, func(s Source, n int) (*Info, error) { return s.Info(ctx, n) })
	if err == nil {
		info.Index = index
	}
	return info, err
}

// Metrics implements Source.
func (j *joined) Metrics(ctx context.Context, index int) (*Metrics, error) {
	return of(ctx, j, index, func(s Source, n int) (*Metrics, error) { return s.Metrics(ctx, n) })
}

// Processes implements Source.
func (j *joined) Processes(ctx context.Context, index int) ([]Process, error) {
	list, err := of(ctx, j, index, func(s Source, n int) ([]Process, error) { return s.Processes(ctx, n) })
	for i := range list {
		list[i].Device = index
	}
	return list, err
}

// Firmware implements Source.
func (j *joined) Firmware(ctx context.Context, index int) ([]Firmware, error) {
	return of(ctx, j, index, func(s Source, n int) ([]Firmware, error) { return s.Firmware(ctx, n) })
}

// ECC implements Source.
func (j *joined) ECC(ctx context.Context, index int) (*ECC, error) {
	return of(ctx, j, index, func(s Source, n int) (*ECC, error) { return s.ECC(ctx, n) })
}

// BadPages implements Source.
func (j *joined) BadPages(ctx context.Context, index int) ([]BadPage, error) {
	return of(ctx, j, index, func(s Source, n int) ([]BadPage, error) { return s.BadPages(ctx, n) })
}

// XGMI implements Source.
func (j *joined) XGMI(ctx context.Context, index int) (*XGMI, error) {
	return of(ctx, j, index, func(s Source, n int) (*XGMI, error) { return s.XGMI(ctx, n) })
}

// Partitions implements Source.
func (j *joined) Partitions(ctx context.Context, index int) (*Partitions, error) {
	return of(ctx, j, index, func(s Source, n int) (*Partitions, error) { return s.Partitions(ctx, n) })
}

// Set implements Source.
func (j *joined) Set(ctx context.Context, index int, c Setting) error {
	s, n, err := j.card(ctx, index)
	if err != nil {
		return err
	}
	return s.Set(ctx, n, c)
}

// Topology implements Source. Cards of different machines do not reach each other.
func (j *joined) Topology(ctx context.Context) (*Topology, error) {
	lists, err := j.list(ctx)
	if err != nil {
		return nil, err
	}
	all := &Topology{}
	first, total := 0, 0
	for _, l := range lists {
		total += len(l)
	}
	for i, s := range j.sources {
		t, err := s.Topology(ctx)
		if err != nil {
			return nil, err
		}
		for _, p := range t.Paths {
			p.From, p.To = p.From+first, p.To+first
			all.Paths = append(all.Paths, p)
		}
		for from := first; from < first+len(lists[i]); from++ {
			for to := range total {
				if to < first || to >= first+len(lists[i]) {
					all.Paths = append(all.Paths, Path{From: from, To: to, Access: Some(false)})
				}
			}
		}
		first += len(lists[i])
	}
	slices.SortStableFunc(all.Paths, func(a, b Path) int {
		if a.From != b.From {
			return a.From - b.From
		}
		return a.To - b.To
	})
	return all, nil
}

// Events implements Source. It ends when any of the sources does.
func (j *joined) Events(ctx context.Context, each func(Event)) error {
	lists, err := j.list(ctx)
	if err != nil {
		return err
	}
	inner, stop := context.WithCancel(ctx)
	defer stop()
	var wg sync.WaitGroup
	var ended sync.Once
	var reason error
	events := make(chan Event)
	first := 0
	for i, s := range j.sources {
		from := first
		first += len(lists[i])
		wg.Go(func() {
			err := s.Events(inner, func(e Event) {
				if e.Device != NoCard {
					e.Device += from
				}
				select {
				case events <- e:
				case <-inner.Done():
				}
			})
			ended.Do(func() { reason = err })
			stop()
		})
	}
	go func() {
		wg.Wait()
		close(events)
	}()
	for e := range events {
		if ctx.Err() == nil {
			each(e)
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return reason
}

// Snapshot implements Snapshotter.
func (j *joined) Snapshot(ctx context.Context) (*Snapshot, error) {
	lists, err := j.list(ctx)
	if err != nil {
		return nil, err
	}
	parts := make([]*Snapshot, len(j.sources))
	errs := make([]error, len(j.sources))
	var wg sync.WaitGroup
	for i, s := range j.sources {
		wg.Go(func() { parts[i], errs[i] = TakeSnapshot(ctx, s) })
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	all := &Snapshot{}
	for i, p := range parts {
		first := len(all.Devices)
		for n, d := range lists[i] {
			d.Index = first + n
			x := DeviceSnapshot{Device: d}
			if errs[i] == nil && n < len(p.Devices) {
				x = p.Devices[n]
			} else {
				f := FailureOf(errs[i])
				if f == nil {
					f = FailureOf(Errorf(ErrUnavailable, "the card is not there any more"))
				}
				x.InfoErr, x.MetricsErr, x.ECCErr, x.ProcessesErr = f, f, f, f
			}
			x.Device.Index = d.Index
			if x.Info != nil {
				x.Info.Index = d.Index
			}
			for k := range x.Processes {
				x.Processes[k].Device = d.Index
			}
			all.Devices = append(all.Devices, x)
		}
		if errs[i] == nil && p.Time.After(all.Time) {
			all.Time = p.Time
		}
	}
	return all, nil
}

// Close implements Source.
func (j *joined) Close() error {
	var first error
	for _, s := range j.sources {
		if err := s.Close(); first == nil {
			first = err
		}
	}
	return first
}
