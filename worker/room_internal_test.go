package worker

import (
	"errors"
	"log/slog"
	"os/exec"
	"testing"
	"time"

	"github.com/rocwire/rocwire/worker/access"
	"github.com/rocwire/rocwire/worker/admission"
)

// TestPlaceTakenByAnother: sessions give way for a client, but others are quicker to take each place. It is told to try again later, rather than that it
// waits until everybody who is away has lost his session.
func TestPlaceTakenByAnother(t *testing.T) {
	who := &access.Identity{}
	gate := &admission.Gate{Sessions: &admission.Places{What: "sessions", All: 1, PerAddress: 1 << 20}}
	if _, err := gate.Sessions.Take(admission.Source{Key: "another"}, who); err != nil { // and never leaves
		t.Fatal(err)
	}
	s := &Server{cfg: Config{Log: slog.New(slog.DiscardHandler)}, gate: gate, pool: &pool{all: map[*proc]struct{}{}}, sessions: map[uint64]*sessionRecord{}}
	const away = 8
	for i := range uint64(away) {
		rec := &sessionRecord{id: i, parked: true, parkedAt: time.Now(), over: make(chan struct{})}
		p := &proc{cmd: exec.Command("sleep", "600"), session: rec}
		if err := p.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		s.sessions[i], s.pool.all[p] = rec, struct{}{}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = p.cmd.Wait()
			s.mu.Lock()
			delete(s.sessions, i)
			s.mu.Unlock()
			close(rec.over)
		}()
		t.Cleanup(func() { _ = p.cmd.Process.Kill(); <-ended })
	}
	if _, err := s.takePlace(caller{who: who}); !errors.Is(err, admission.ErrFull) {
		t.Error(err)
	}
	if left := len(s.parked()); left != away-maxGiveWay {
		t.Errorf("of %d sessions %d are left", away, left)
	}
}
