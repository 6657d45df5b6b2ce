package rows

import (
	"math"
	"slices"

	"github.com/rocwire/rocwire/smi"
)

// worker is who uses a card: a session, or a pod.
type worker struct {
	id, pod, namespace string
	memory             smi.Opt[smi.Bytes]
	limit              smi.Opt[smi.Bytes] // of memory
	busy               smi.Opt[float64]   // percent
}

func (b *builder) workerUsage(cards []card) {
	place := &b.maker.place
	for i := range cards {
		c := &cards[i]
		if c.uuid.IsNull() {
			continue
		}
		for _, w := range b.workers(c) {
			var busy Value
			if v, ok := w.busy.Get(); ok {
				busy = floatOf(v)
			}
			b.add(workerUsage, c.uuid, textOf(place.Host), textOf(place.Pool),
				textOf(w.pod), textOf(w.namespace), Value{}, textOf(w.id),
				bytesOf(w.memory), busy, c.flops(busy), share(w.memory, w.limit), Value{}, Value{}, Value{})
		}
	}
}

// workers are those of a card, in order of their first process, then sessions without one.
func (b *builder) workers(c *card) []*worker {
	var list []*worker
	byID := map[string]*worker{}
	get := func(id, pod, namespace string) *worker {
		id = clean(id) // as in the row's key, which must not repeat
		w := byID[id]
		if w == nil {
			w = &worker{id: id, pod: pod, namespace: namespace, limit: c.size}
			byID[id] = w
			list = append(list, w)
		}
		return w
	}
	for _, p := range c.processes {
		var w *worker
		switch {
		case p.Session != "":
			var client smi.Client
			if p.Client != nil {
				client = *p.Client
			}
			w = get(b.worker(p.Session), client.Pod, client.Namespace)
		case p.Container != nil && p.Container.PodUID != "":
			w = get(p.Container.PodUID, p.Container.Pod, p.Container.Namespace)
		default:
			continue // a program that nobody scheduled
		}
		w.memory = sum(w.memory, p.VRAM)
		w.busy = sum(w.busy, c.percent(p))
	}
	for i := range b.reading.Sessions {
		s := &b.reading.Sessions[i]
		w := byID[clean(b.worker(s.ID))]
		known := w != nil
		if !known && slices.Contains(s.Devices, c.Device.Index) {
			w = get(b.worker(s.ID), s.Client.Pod, s.Client.Namespace)
		}
		if w == nil {
			continue
		}
		if q, ok := c.quota(s).Memory.Get(); ok && q > 0 {
			w.limit = smi.Some(q)
		}
		if known {
			continue
		}
		// Of what a session holds on several cards nobody says how much is where.
		if v, ok := s.VRAM.Get(); ok && (v == 0 || len(s.Devices) == 1) {
			w.memory = s.VRAM
		}
	}
	for _, w := range list {
		if v, ok := w.busy.Get(); ok {
			w.busy = smi.Some(math.Min(100, v))
		}
	}
	return list
}

// worker names a session: their ids are numbers that every host counts for itself.
func (b *builder) worker(session string) string { return b.maker.place.Host + "/" + session }

func sum[T ~uint64 | ~float64](a, b smi.Opt[T]) smi.Opt[T] {
	if !a.Ok() {
		return b
	}
	return smi.Some(a.Or(0) + b.Or(0))
}

// percent is how much of the card a process used, 0 … 100.
func (c *card) percent(p *smi.Process) smi.Opt[float64] {
	if r, ok := c.shares[p.PID].ratio().Get(); ok {
		return smi.Some(100 * r)
	}
	if n, ok := p.CUOccupancy.Get(); ok && c.units > 0 {
		return smi.Some(100 * math.Min(1, math.Max(0, float64(n)/float64(c.units))))
	}
	return smi.None[float64]()
}
