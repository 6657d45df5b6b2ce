package worker

import (
	"context"
	"strconv"

	"github.com/rocwire/rocwire/smi"
)

// source is the cards of a backend together with who uses them: a process on this machine that serves a session is shown with the session's
// client.
type source struct {
	smi.Unimplemented
	cards smi.Source
	find  func(pid int) (*sessionRecord, bool)
}

func (s *source) Devices(ctx context.Context) ([]smi.Device, error) { return s.cards.Devices(ctx) }

func (s *source) Info(ctx context.Context, i int) (*smi.Info, error) { return s.cards.Info(ctx, i) }

func (s *source) Metrics(ctx context.Context, i int) (*smi.Metrics, error) {
	return s.cards.Metrics(ctx, i)
}

func (s *source) Processes(ctx context.Context, i int) ([]smi.Process, error) {
	ps, err := s.cards.Processes(ctx, i)
	if err != nil {
		return nil, err
	}
	shown := ps[:0]
	for _, p := range ps {
		if r, ok := s.find(int(p.PID)); ok {
			if r == nil { // an idle session process: it serves nobody yet
				continue
			}
			c := r.client
			p.Client, p.Session = &c, r.name()
			if p.Name == "" {
				p.Name = "hip-worker session " + strconv.FormatUint(r.id, 10)
			}
		}
		shown = append(shown, p)
	}
	return shown, nil
}

// Close leaves the backend's source alone; it is not ours.
func (s *source) Close() error { return nil }
