package collector

import (
	"strconv"

	"github.com/rocwire/rocwire/smi"
)

// identity is all of a process that is in labels. It hardly ever changes while the
// process lives, and so its labels are made ready once and not for each scrape.
type identity struct {
	gpu                         int
	pid, inner                  uint32
	name, origin, session, user string
	client                      smi.Client
	container                   smi.Container
}

// processLabels are the labels of a process, ready.
type processLabels struct {
	info, vram, plain *labels
}

// labelsOf are the labels of a process on a card.
func (p *processCollector) labelsOf(gpu int, row *smi.Process) *processLabels {
	id := identity{gpu: gpu, pid: row.PID, inner: row.InnerPID, name: row.Name, origin: row.Origin, session: row.Session, user: row.User}
	if row.Client != nil {
		id.client = *row.Client
	}
	if row.Container != nil {
		id.container = *row.Container
	}
	l, ok := p.labels.get(id)
	if !ok {
		l = id.labels()
		p.labels.put(id, l)
	}
	return l
}

func (id *identity) labels() *processLabels {
	gpu, pid := strconv.Itoa(id.gpu), strconv.FormatUint(uint64(id.pid), 10)
	short := append([]string{gpu, pid, id.name, id.origin, id.session}, clientValues(&id.client)...)
	c, inner := &id.container, ""
	if id.inner != 0 {
		inner = strconv.FormatUint(uint64(id.inner), 10)
	}
	long := append(short[:len(short):len(short)], id.user, c.Name, c.ID, inner, c.Pod, c.PodUID, c.Namespace)
	return &processLabels{
		info: makeLabels(processInfo, long), vram: makeLabels(processVRAM, short), plain: makeLabels(processGTT, []string{gpu, pid}),
	}
}
