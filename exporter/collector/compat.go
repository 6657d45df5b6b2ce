package collector

import (
	"strconv"
	"strings"
	"sync"

	"github.com/rocwire/rocwire/smi"
)

func init() {
	register("compat", func(o *Options) collector {
		if o.Compat != CompatDME {
			return nil
		}
		return &compatCollector{host: o.Host, max: o.MaxProcesses, health: &o.Health, owners: o.CompatOwners}
	})
}

// compatMetrics are the names that are served, all of them gauges as AMD has them.
var compatMetrics = func() map[string]*metric {
	served := map[string]*metric{}
	for _, n := range compatList() {
		if n.absent != "" {
			continue
		}
		labels := append(n.labels[:len(n.labels):len(n.labels)], compatLabels...)
		if n.name == compatNodes {
			labels = []string{"hostname"}
		}
		m := define(gauge, n.name, n.help, labels...)
		m.compat = true
		served[n.name] = m
	}
	return served
}()

const compatNodes = "gpu_nodes_total"

// compatCollector serves the cards under AMD's names, in AMD's units.
type compatCollector struct {
	host string
	max  int // processes of one card

	health *Thresholds
	owners bool // have labels; otherwise these are empty

	mu     sync.Mutex
	labels labelCache[compatKey, *labels]
}

// compatKey is a card's identity in labels, and what one series adds to it.
type compatKey struct {
	card                 compatCard
	name, value1, value2 string // name of the first label that it adds
}

// compatCard is what labels say about a card. Nothing in it changes when a process
// comes or goes: the label kfd_process_id, in which AMD's exporter lists them all, is
// empty here, as it would renew every series of the card each time.
type compatCard struct {
	gpu, serial, host, model, partition, compute, memory, mode string

	owner smi.Owner // only where its labels are asked for: a new owner ends the card's series, and others begin
}

// compatUse emits the series of one card.
type compatUse struct {
	card   compatCard
	emit   *emitter
	labels *labelCache[compatKey, *labels]
}

func (c *compatCollector) update(v *View, emit *emitter) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.labels.begin()
	defer c.labels.end()
	if v.Err == nil {
		emit.gauge(compatMetrics[compatNodes], float64(len(v.Cards)), c.host)
	}
	for i := range v.Cards {
		card := &v.Cards[i]
		u := &compatUse{card: c.card(card), emit: emit, labels: &c.labels}
		if c.owners {
			u.card.owner = soleOwner(card.Snap.Owners)
		}
		if healthy, ok := health(v, card, c.health).Get(); ok {
			u.put("gpu_health", truth(healthy))
		}
		if card.Fresh {
			u.device(v, card)
			u.processes(v, card, c.max)
		}
	}
	return v.Err
}

func (c *compatCollector) card(card *Card) compatCard {
	d := &card.Snap.Device
	l := compatCard{gpu: strconv.Itoa(d.Index), host: c.host, model: d.Name}
	if i := card.Snap.Info; i != nil {
		l.partition, l.mode, l.serial = number(i.IDs.Partition), compatModes[i.Virtualization], i.Board.Serial
		if l.serial == "" {
			l.serial = i.ASIC.Serial
		}
		if i.Board.Model != "" {
			l.model = i.Board.Model
		}
	}
	if p := card.Partitions.Value; p != nil {
		l.compute, l.memory = strings.ToLower(p.Compute), strings.ToLower(p.Memory)
	}
	return l
}

// compatModes are AMD's words for how the machine has a card.
var compatModes = map[string]string{
	smi.VirtualizationBareMetal: "baremetal", smi.VirtualizationHost: "hypervisor", smi.VirtualizationGuest: "vm_vf", smi.VirtualizationPassthrough: "vm_pf",
}

// put emits a series of the card; more is the values of the metric's own labels.
func (u *compatUse) put(name string, value float64, more ...string) {
	m := compatMetrics[name]
	k := compatKey{card: u.card}
	if len(more) > 0 {
		k.name, k.value1 = m.labels[0], more[0]
	}
	if len(more) > 1 {
		k.value2 = more[1]
	}
	l, ok := u.labels.get(k)
	if !ok {
		c, o := &u.card, &u.card.owner
		l = makeLabels(m, append(more[:len(more):len(more)], c.gpu, c.serial, c.host, c.model, c.partition, c.compute, c.memory, c.mode,
			o.Pod, o.Namespace, o.Container, o.JobID, o.JobUser, o.JobPartition, ""))
		u.labels.put(k, l)
	}
	u.emit.put(m, value, l)
}

// compatOpt emits a figure if it is available.
func compatOpt[T numeric](u *compatUse, name string, v smi.Opt[T], scale float64, more ...string) {
	if n, ok := v.Get(); ok {
		u.put(name, float64(n)*scale, more...)
	}
}

// health says whether a card is fit for work, as far as that is known: it has had no more
// errors and has no more bad pages than it may. Not available while nothing
// can be known about it.
func health(v *View, c *Card, most *Thresholds) smi.Opt[bool] {
	if v.Err != nil || !c.Known {
		return smi.Opt[bool]{}
	}
	d := &c.Snap
	if !c.Fresh || d.MetricsErr != nil && d.MetricsErr.Code != smi.ErrNotSupported {
		return smi.Some(false) // the machine answers, and this card does not
	}
	return smi.Some(d.ECC == nil || !most.exceeded(d.ECC, len(c.BadPages.Value)))
}
