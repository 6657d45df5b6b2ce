package worker

import (
	"sync"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/smi"
)

// totals are a worker's running totals over all its sessions, the ended ones included.
type totals struct {
	mu                       sync.Mutex
	started, refused         uint64
	bytesIn, bytesOut, calls uint64
	latency                  *rpcstats.Totals
	spansDropped             uint64
	untranslated             uint64
}

func (t *totals) add(in, out, calls, untranslated uint64) {
	t.mu.Lock()
	t.bytesIn += in
	t.bytesOut += out
	t.calls += calls
	t.untranslated += untranslated
	t.mu.Unlock()
}

func (t *totals) dropSpans(n uint64) {
	t.mu.Lock()
	t.spansDropped += n
	t.mu.Unlock()
}

func (t *totals) session() {
	t.mu.Lock()
	t.started++
	t.mu.Unlock()
}

func (t *totals) refuse() {
	t.mu.Lock()
	t.refused++
	t.mu.Unlock()
}

func (t *totals) snapshot() smi.SessionTotals {
	t.mu.Lock()
	defer t.mu.Unlock()
	return smi.SessionTotals{
		Started: smi.Some(t.started), Refused: smi.Some(t.refused),
		BytesIn: smi.Some(smi.Bytes(t.bytesIn)), BytesOut: smi.Some(smi.Bytes(t.bytesOut)), Calls: smi.Some(t.calls), DroppedSpans: smi.Some(t.spansDropped),
		Untranslated: smi.Some(t.untranslated),
	}
}
