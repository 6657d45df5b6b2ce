package page

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/exporter/push"
	"github.com/rocwire/rocwire/smi"
)

// Status is the answer of /api/v1/status: what is known now. A figure that is not
// available is null. All text is clean (see the package comment).
type Status struct {
	Time    time.Time `json:"time"`
	Title   string    `json:"title"`
	Version string    `json:"version"`
	Host    string    `json:"host"`
	Cluster string    `json:"cluster"`
	Pool    string    `json:"pool"`

	// Errors of the things that are read; "" when they can be.
	Error         string `json:"error"`
	SessionsError string `json:"sessions_error"`
	CallsError    string `json:"calls_error"`
	LocalError    string `json:"local_error"`

	Cards            []Card    `json:"cards"`
	Processes        []Process `json:"processes"`
	ProcessesLeftOut int       `json:"processes_left_out"`
	Sessions         []Session `json:"sessions"`
	SessionsLeftOut  int       `json:"sessions_left_out"`
	Worker           *Worker   `json:"worker"` // null: there is none here, or nothing is known of it
	Local            *Local    `json:"local"`  // null: programs of this machine are not watched, or nothing is known of them
	Sinks            []Sink    `json:"sinks"`
	History          History   `json:"history"`
}

// Worker is the running totals of a worker since it started.
type Worker struct {
	Started  smi.Opt[uint64]    `json:"sessions_started"`
	Refused  smi.Opt[uint64]    `json:"connections_refused"`
	BytesIn  smi.Opt[smi.Bytes] `json:"received_bytes"`
	BytesOut smi.Opt[smi.Bytes] `json:"sent_bytes"`
	Calls    smi.Opt[uint64]    `json:"calls"`
}

// History is how much the page itself remembers.
type History struct {
	Step          smi.Duration `json:"step_seconds"`
	Length        smi.Duration `json:"length_seconds"`
	Begin         time.Time    `json:"begin"`       // of the oldest step that may have figures
	CallsBegin    time.Time    `json:"calls_begin"` // the same of calls, whose history may be shorter
	Series        int          `json:"series"`
	Bytes         int64        `json:"bytes"`
	MaxBytes      int64        `json:"max_bytes"`
	SeriesLeftOut uint64       `json:"series_left_out_total"` // counted again at each step
	CallsLeftOut  uint64       `json:"calls_left_out_total"`
}

// What one answer holds at most.
const (
	maxProcesses = 512
	maxSessions  = 512
	maxCards     = 256
	maxSinks     = 32
)

// status puts together what is known now.
func (p *Page) status() *Status {
	r, sinks := p.read()
	s := &Status{
		Time: r.Time, Title: clean(p.opt.Title), Version: clean(p.opt.Version),
		Host: clean(p.opt.Place.Host), Cluster: clean(p.opt.Place.Cluster), Pool: clean(p.opt.Place.Pool),
		Error: reason(r.Err), SessionsError: reason(r.SessionsErr), CallsError: reason(r.CallsErr), LocalError: reason(r.LocalErr),
		Cards: []Card{}, Processes: []Process{}, Sessions: []Session{}, Sinks: []Sink{},
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range r.Cards[:min(len(r.Cards), maxCards)] {
		c := cardOf(&r.Cards[i])
		c.events(r.Events)
		p.ecc(&c)
		s.Cards = append(s.Cards, c)
	}
	p.processes(s, &r)
	p.sessions(s, &r)
	if t := r.Totals; r.SessionsErr == nil && t != (smi.SessionTotals{}) {
		s.Worker = &Worker{Started: t.Started, Refused: t.Refused, BytesIn: t.BytesIn, BytesOut: t.BytesOut, Calls: t.Calls}
	}
	s.Local = p.localOf(&r)
	for i := range sinks[:min(len(sinks), maxSinks)] {
		s.Sinks = append(s.Sinks, sinkOf(&sinks[i], r.Time))
	}
	s.History = p.remembered()
	return s
}

// ecc remembers how many errors a card has told of, and tells them of one that is silent: a sum over cards does not fall because one broke.
// The caller holds the lock.
func (p *Page) ecc(c *Card) {
	if c.UUID == "" {
		return
	}
	if c.Correctable.Ok() || c.Uncorrectable.Ok() || c.Deferred.Ok() {
		if _, known := p.errors[c.UUID]; known || len(p.errors) < maxCards {
			p.errors[c.UUID] = [3]smi.Opt[uint64]{c.Correctable, c.Uncorrectable, c.Deferred}
		}
	} else if c.State == StateGone || c.State == StateSilent {
		e := p.errors[c.UUID]
		c.Correctable, c.Uncorrectable, c.Deferred = e[0], e[1], e[2]
	}
}

// remembered tells of the history; the caller holds the lock.
func (p *Page) remembered() History {
	now := p.opt.now()
	begin := max(p.grid.of(now)-int64(p.steps), int64(p.steps)) // the page began at step p.steps
	return History{
		Step: smi.Duration(p.opt.Step), Length: smi.Duration(p.opt.Step * time.Duration(p.steps)),
		Begin: p.grid.time(begin, now).UTC(), CallsBegin: p.grid.time(max(begin, p.calls.begin()), now).UTC(),
		Series: len(p.store.series), Bytes: p.store.bytes + int64(p.calls.bytes), MaxBytes: p.opt.MaxBytes,
		SeriesLeftOut: p.store.left, CallsLeftOut: p.calls.left,
	}
}

// processes are those that hold most, on all cards together, by card and then by
// what they hold.
func (p *Page) processes(s *Status, r *exporter.Reading) {
	var rows []*smi.Process
	for i := range r.Cards {
		if c := &r.Cards[i]; c.Fresh {
			for j := range c.Processes {
				rows = append(rows, &c.Processes[j])
			}
		}
	}
	most := func(a, b *smi.Process) int { return cmp.Compare(b.VRAM.Or(0), a.VRAM.Or(0)) }
	if len(rows) > maxProcesses {
		slices.SortStableFunc(rows, most)
		s.ProcessesLeftOut = len(rows) - maxProcesses
		rows = rows[:maxProcesses]
	}
	slices.SortStableFunc(rows, func(a, b *smi.Process) int {
		return cmp.Or(cmp.Compare(a.Device, b.Device), most(a, b), cmp.Compare(a.PID, b.PID))
	})
	for _, x := range rows {
		s.Processes = append(s.Processes, p.processOf(x))
	}
}

func (p *Page) sessions(s *Status, r *exporter.Reading) {
	if r.SessionsErr != nil {
		return
	}
	list := r.Sessions
	if len(list) > maxSessions { // the newest are of more interest
		list = slices.Clone(list)
		slices.SortStableFunc(list, func(a, b smi.Session) int { return b.Start.Compare(a.Start) })
		s.SessionsLeftOut = len(list) - maxSessions
		list = list[:maxSessions]
	}
	for i := range list {
		s.Sessions = append(s.Sessions, p.sessionOf(&list[i]))
	}
}

// Sink is how delivery to a push sink goes.
type Sink struct {
	Name           string                `json:"name"`
	Up             bool                  `json:"up"`
	LastError      string                `json:"last_error"`
	QueueRecords   int64                 `json:"queue_records"`
	QueueBytes     int64                 `json:"queue_bytes"`
	QueueOldest    smi.Opt[smi.Duration] `json:"queue_oldest_seconds"` // null: none waits
	SentRecords    uint64                `json:"sent_records_total"`
	SentBytes      uint64                `json:"sent_bytes_total"`
	Failures       uint64                `json:"failures_total"`
	DroppedRefused uint64                `json:"dropped_refused_total"`
	DroppedExpired uint64                `json:"dropped_expired_total"`
	DroppedCrowded uint64                `json:"dropped_crowded_total"`
	DroppedCorrupt uint64                `json:"dropped_corrupt_total"`
}

func sinkOf(p *push.Stats, now time.Time) Sink {
	s := Sink{
		Name: clean(p.Name), Up: p.Up, LastError: clean(strings.TrimSpace(p.LastError)), QueueRecords: p.Waiting, QueueBytes: p.WaitingBytes,
		SentRecords: p.Sent, SentBytes: p.SentBytes, Failures: p.Failures,
		DroppedRefused: p.Refused, DroppedExpired: p.Expired, DroppedCrowded: p.Crowded, DroppedCorrupt: p.Corrupt,
	}
	if !p.Oldest.IsZero() {
		s.QueueOldest = smi.Some(smi.Duration(max(now.Sub(p.Oldest), 0)))
	}
	return s
}

// Dropped is all that was lost.
func (s *Sink) Dropped() uint64 {
	return s.DroppedRefused + s.DroppedExpired + s.DroppedCrowded + s.DroppedCorrupt
}
