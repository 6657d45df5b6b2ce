package worker

import (
	"context"
	"strconv"

	"github.com/rocwire/rocwire/smi"
)

// source is the cards of a backend together with who uses them: a process on this machine that serves a session is shown with the session's
// client. What it does not change it passes on.
type source struct {
	smi.Source
	find  func(pid int) (*sessionRecord, bool)
	local func(*smi.Process) (uint32, bool) // the number of a process in this one's namespace
	// limiter holds sessions to quotas.
	limiter smi.Limiter
	set     bool // the cards may be changed
}

var (
	_ smi.Snapshotter = (*source)(nil)
	_ smi.Limiter     = (*source)(nil)
)

// Unwrap is the backend's source.
func (s *source) Unwrap() smi.Source { return s.Source }

func (s *source) Processes(ctx context.Context, i int) ([]smi.Process, error) {
	ps, err := s.Source.Processes(ctx, i)
	if err != nil {
		return nil, err
	}
	return s.join(ps), nil
}

// Snapshot implements smi.Snapshotter.
func (s *source) Snapshot(ctx context.Context) (*smi.Snapshot, error) {
	snap, err := smi.TakeSnapshot(ctx, s.Source)
	if err != nil {
		return nil, err
	}
	for i := range snap.Devices {
		d := &snap.Devices[i]
		d.Processes = s.join(d.Processes)
	}
	return snap, nil
}

// join writes their clients into the rows of session processes. Idle session processes serve nobody yet and are left out.
func (s *source) join(ps []smi.Process) []smi.Process {
	shown := ps[:0]
	for _, p := range ps {
		pid, known := p.PID, true
		if s.local != nil {
			pid, known = s.local(&p)
		}
		if r, ok := s.find(int(pid)); known && ok {
			if r == nil {
				continue
			}
			r.mu.Lock()
			c := r.present()
			r.mu.Unlock()
			p.Client, p.Session = &c, r.name()
			if p.Name == "" {
				p.Name = "hip-worker session " + strconv.FormatUint(r.id, 10)
			}
		}
		shown = append(shown, p)
	}
	return shown
}

// Set implements smi.Source.
func (s *source) Set(ctx context.Context, i int, c smi.Setting) error {
	if !s.set {
		return smi.Errorf(smi.ErrNoPermission, "the worker was started without --smi-allow-set")
	}
	return s.Source.Set(ctx, i, c)
}

// SetQuota implements smi.Limiter.
func (s *source) SetQuota(ctx context.Context, card int, session string, q smi.Quota) error {
	if !s.set {
		return smi.Errorf(smi.ErrNoPermission, "the worker was started without --smi-allow-set")
	}
	return s.limiter.SetQuota(ctx, card, session, q)
}

// Close leaves the backend's source alone; it is not ours.
func (s *source) Close() error { return nil }

// noSource stands for cards that nothing is known of.
type noSource struct {
	smi.Unimplemented
	reason string
}

func (n *noSource) Devices(context.Context) ([]smi.Device, error) { return nil, n.err() }

func (n *noSource) Info(context.Context, int) (*smi.Info, error) { return nil, n.err() }

func (n *noSource) Metrics(context.Context, int) (*smi.Metrics, error) { return nil, n.err() }

func (n *noSource) Processes(context.Context, int) ([]smi.Process, error) { return nil, n.err() }

func (n *noSource) err() error {
	if n.reason == "" {
		return smi.Errorf(smi.ErrNotSupported, "this worker has no management data")
	}
	return smi.Errorf(smi.ErrNotSupported, "this worker has no management data: %s", n.reason)
}
