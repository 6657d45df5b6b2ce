package provider

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// outage is a worker that can be gone.
type outage struct {
	*view
	mu     sync.Mutex
	gone   bool
	rights Rights
	quotas []smi.Quota
}

func (o *outage) set(gone bool, r Rights) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.gone, o.rights = gone, r
}

func (o *outage) ask(context.Context) (Rights, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.gone {
		return Rights{}, smi.Errorf(smi.ErrUnavailable, "connection refused")
	}
	return o.rights, nil
}

func (o *outage) SetQuota(_ context.Context, _ int, _ string, q smi.Quota) error {
	o.quotas = append(o.quotas, q)
	return nil
}

// The cards answer and what the worker allows is not known: that is told as the failure
// that it is, and as soon as the worker is back everything is as before.
func TestOutage(t *testing.T) {
	ctx := context.Background()
	r := newRack()
	o := &outage{view: &view{rack: r, list: [][2]int{{0, 0}, {1, 0}}}, gone: true}
	var said bytes.Buffer
	h := newHost(func(*slog.Logger) (Origin, error) {
		return Origin{Source: o, Worker: "w", Rights: o.ask}, nil
	}, slog.New(slog.NewTextHandler(&said, nil)))
	t.Cleanup(h.shutdown)
	l := opened(t, h)
	if list, err := h.devices(ctx, l); !errors.Is(err, smi.ErrUnavailable) || list != nil {
		t.Errorf("%v, %v: the host would keep for hours that nothing is possible", list, err)
	}
	if err := h.limit(ctx, l, "x", smi.Quota{Memory: smi.Some(smi.Bytes(1))}); resultOf(err) != operationFailed {
		t.Errorf("%v", err)
	}
	o.set(false, Rights{Divide: true, Limit: true})
	list, err := h.devices(ctx, l)
	if err != nil || !list[0].capabilities.limits || !list[0].capabilities.partitioning {
		t.Fatalf("%+v, %v", list, err)
	}
	if err := h.limit(ctx, l, list[0].uuid, smi.Quota{Memory: smi.Some(smi.Bytes(1))}); err != nil || len(o.quotas) != 1 {
		t.Errorf("%v", err)
	}

	// A card that does not answer is divided as it was; when none answers, that is an error.
	l.partitions.forget()
	r.mu.Lock()
	r.silent = smi.ErrTimeout
	r.mu.Unlock()
	if list, err := h.devices(ctx, l); !errors.Is(err, smi.ErrTimeout) {
		t.Errorf("%v, %v", list, err)
	}
	r.mu.Lock()
	r.silent = smi.ErrNotSupported
	r.mu.Unlock()
	if list, err := h.devices(ctx, l); err != nil || list[0].capabilities.partitioning {
		t.Errorf("%v, %v", list, err)
	}
	r.mu.Lock()
	r.silent = nil
	r.mu.Unlock()
	l.forget()
	if _, err := h.devices(ctx, l); err != nil {
		t.Fatal(err)
	}

	// What has changed since the host looked is told, once.
	o.set(false, Rights{Divide: true})
	for range 2 {
		l.allowed.forget()
		h.known.Store(&told{h.known.Load().cards, time.Now().Add(-time.Hour)})
		h.compare(ctx, l)
	}
	if got := strings.Count(said.String(), "hard isolation false"); got != 2 { // one of each card
		t.Errorf("%d times:\n%s", got, said.String())
	}
	if got := changes(map[string]capabilities{"a": {}, "b": {maxPartitions: 1}}, map[string]capabilities{"c": {}, "b": {maxPartitions: 8}}); len(got) != 3 {
		t.Errorf("%q", got)
	}
}

// What a source answers is remembered, that it did not answer is not.
func TestFailureIsNotRemembered(t *testing.T) {
	life := context.Background()
	for err, reads := range map[error]int{nil: 1, smi.ErrNotSupported: 1, smi.ErrUnavailable: 2, smi.ErrTimeout: 2, smi.ErrIO: 2, smi.ErrBusy: 2} {
		var c cached[int]
		n := 0
		for range 2 {
			if _, got := c.get(life, life, time.Hour, func(context.Context) (int, error) { n++; return n, err }); !errors.Is(got, err) {
				t.Error(got)
			}
		}
		if n != reads {
			t.Errorf("%v: read %d times", err, n)
		}
	}
}
