package worker

import (
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/wire"
	"github.com/rocwire/rocwire/worker/access"
	"github.com/rocwire/rocwire/worker/quota/joint"
)

// sessionRecord is what the parent knows of one session.
type sessionRecord struct {
	id        uint64
	who       access.Identity
	peer      wire.Peer
	client    smi.Client
	start     time.Time
	stats     *totals
	calls     *rpcstats.Reporter // what of stats is the session's
	over      chan struct{}      // closed when all that it held is released
	leave     func()             // gives its place and what it holds back, may be called again
	holder    *joint.Holder      // of the account of its token; nil: its quotas are its own
	spans     spanSink
	transport string // smi.Transport…

	mu       sync.Mutex
	pid      int
	progress progress
	reason   string // of its end, "" while it lasts
	stopped  string // why the parent has ended it, "" if it has not
	parked   bool   // its client's connection is cut
	closed   bool   // by the client's side, likely by its end
	parkedAt time.Time
	where    string // the address of the connection it was last resumed over, "" if it never was

	comers    map[uint32]caller // who wants to resume it, by the number of the order to its process
	lastComer uint32

	onPark   func(parked bool, text string)    // told of that
	onJudged func(from caller, refusal string) // told what has become of somebody who came to resume, "" for one that has
}

// progress is a session's running totals and what it is doing.
type progress struct {
	BytesIn, BytesOut, Calls uint64
	Untranslated             uint64        // of smi.SessionTotals
	Op                       uint16        // call being executed on the line, 0 for none
	OpFor                    time.Duration // since when
}

// maxDelta is how many bytes of histograms fit into one report.
const maxDelta = maxControl - 128

// encodeReport makes a msgReport: totals, and maybe one encoded rpcstats.Delta.
func encodeReport(p progress, delta []byte) []byte {
	e := wire.Enc{B: make([]byte, 0, 64+len(delta))}
	e.U8(msgReport)
	e.U64(p.BytesIn)
	e.U64(p.BytesOut)
	e.U64(p.Calls)
	e.U64(p.Untranslated)
	e.U16(p.Op)
	e.I64(int64(p.OpFor))
	e.Bytes(delta)
	return e.B
}

// splitDelta encodes d in pieces that fit into a report each.
func splitDelta(d *rpcstats.Delta) [][]byte {
	if d == nil || len(d.Series) == 0 {
		return nil
	}
	b := d.AppendEncode(nil)
	if len(b) <= maxDelta || len(d.Series) == 1 {
		return [][]byte{b}
	}
	half := len(d.Series) / 2
	return append(splitDelta(&rpcstats.Delta{Side: d.Side, Series: d.Series[:half]}),
		splitDelta(&rpcstats.Delta{Side: d.Side, Series: d.Series[half:]})...)
}

// report takes in a msgReport. Totals never fall and never jump beyond what can be, whatever the process says.
func (r *sessionRecord) report(msg []byte) error {
	d := wire.NewDec(msg[1:])
	p := progress{BytesIn: d.U64(), BytesOut: d.U64(), Calls: d.U64(), Untranslated: d.U64(), Op: d.U16(), OpFor: time.Duration(d.I64())}
	delta := d.Bytes()
	if !d.Done() || p.OpFor < 0 {
		return fmt.Errorf("%w: report", errControl)
	}
	var stats *rpcstats.Delta
	if len(delta) > 0 {
		var err error
		if stats, err = rpcstats.Decode(delta, rpcstats.OfWorker|rpcstats.OfClient); err != nil {
			return fmt.Errorf("%w: %w", errControl, err)
		}
	}
	r.mu.Lock()
	old := r.progress
	if p.BytesIn < old.BytesIn || p.BytesOut < old.BytesOut || p.Calls < old.Calls || p.Untranslated < old.Untranslated || max(p.BytesIn, p.BytesOut) > r.possible(mostBytes) || max(p.Calls, p.Untranslated) > r.possible(mostCalls) {
		r.mu.Unlock()
		return fmt.Errorf("%w: totals that fall, or cannot be", errControl)
	}
	r.progress = p
	r.mu.Unlock()
	r.stats.add(p.BytesIn-old.BytesIn, p.BytesOut-old.BytesOut, p.Calls-old.Calls, p.Untranslated-old.Untranslated)
	if stats != nil {
		r.calls.Merge(stats)
	}
	return nil
}

// slow takes in a msgSlow.
func (r *sessionRecord) slow(msg []byte) error {
	list, err := rpcstats.DecodeSlow(msg[1:])
	if err != nil {
		return fmt.Errorf("%w: %w", errControl, err)
	}
	age := time.Since(r.start) + rpcstats.Patience
	list = slices.DeleteFunc(list, func(s rpcstats.Slow) bool { return s.Total > age })
	for i := range list {
		list[i].TraceID = r.spans.context.TraceID(list[i].Request)
	}
	r.stats.latency.AddSlow(r.name(), rpcstats.Caller{Host: r.client.Host, Executable: r.client.Executable, PID: r.client.PID}, list)
	return nil
}

// encodeEnd makes a msgEnd.
func encodeEnd(reason string) []byte {
	e := wire.Enc{}
	e.U8(msgEnd)
	e.Str(reason[:min(len(reason), 1<<10)])
	return e.B
}

func (r *sessionRecord) end(msg []byte) error {
	d := wire.NewDec(msg[1:])
	reason := d.Bytes()
	if !d.Done() || len(reason) > 1<<10 {
		return fmt.Errorf("%w: end", errControl)
	}
	r.mu.Lock()
	r.reason = string(reason)
	r.mu.Unlock()
	return nil
}

func (r *sessionRecord) setPID(pid int) {
	r.mu.Lock()
	r.pid = pid
	r.mu.Unlock()
}

// process is the session's process by its number.
func (r *sessionRecord) process() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pid
}

// stop notes that the parent ends the session, and why.
func (r *sessionRecord) stop(why string) {
	r.mu.Lock()
	r.stopped = why
	r.mu.Unlock()
}

// endReason is why the session has ended. The parent's own reason goes before what the process says, and is one even for a process that
// had to be killed.
func (r *sessionRecord) endReason() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped != "" {
		return r.stopped
	}
	return r.reason
}

// wasStopped says whether the parent has ended the session.
func (r *sessionRecord) wasStopped() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stopped != ""
}

func (r *sessionRecord) name() string { return strconv.FormatUint(r.id, 10) }

// session is the record as management clients see it.
func (r *sessionRecord) session(usage func(pid int, cards ...int) (uint64, bool), devices []int) smi.Session {
	r.mu.Lock()
	defer r.mu.Unlock()
	vram := smi.None[smi.Bytes]()
	if usage != nil {
		if n, ok := usage(r.pid); ok {
			vram = smi.Some(smi.Bytes(n))
		}
	}
	return smi.Session{
		ID: r.name(), PID: uint32(r.pid), Client: r.present(), Start: r.start, Devices: devices, VRAM: vram,
		BytesIn: smi.Some(smi.Bytes(r.progress.BytesIn)), BytesOut: smi.Some(smi.Bytes(r.progress.BytesOut)), Calls: smi.Some(r.progress.Calls),
		Transport: r.transport, Parked: r.parked,
	}
}

// present is the client with the address it has now, with mu.
func (r *sessionRecord) present() smi.Client {
	c := r.client
	if r.where != "" {
		c.Address = r.where
	}
	return c
}

// clientOf is what a client says of itself and where it came from; what somebody vouches for goes before. Texts are cut to what a table can show.
func clientOf(h *wire.Hello, from wire.Peer, who access.Identity) smi.Client {
	cut := func(s string) string { return printable(s, 256) }
	c := smi.Client{
		Address: from.String(), Host: cut(h.Host), PID: uint32(min(max(h.PID, 0), 1<<32-1)), Executable: cut(h.Executable), User: cut(h.User),
		Container: cut(h.Container), Pod: cut(h.Pod), Namespace: cut(h.Namespace),
	}
	if k := from.Credentials; k != nil && k.PID > 0 {
		c.PID = uint32(k.PID)
	}
	if who.Name != "" {
		c.User = cut(who.Name)
	}
	if who.Issued != "" {
		c.Job = cut(who.Job)
		if who.Pod != "" {
			c.Pod, c.Namespace, c.Container = cut(who.Pod), cut(who.Namespace), ""
		}
	}
	return c
}

// printable cuts s to at most n bytes and replaces what is not printable: it ends up on terminals and in labels.
func printable(s string, n int) string {
	out := make([]rune, 0, min(len(s), n))
	size := 0
	for _, c := range s {
		if !strconv.IsPrint(c) {
			c = '?'
		}
		if size += len(string(c)); size > n {
			break
		}
		out = append(out, c)
	}
	return string(out)
}
