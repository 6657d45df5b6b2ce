package simbackend

import (
	"errors"

	"github.com/rocwire/rocwire/simgpu"
	"github.com/rocwire/rocwire/simgpu/card"
	"github.com/rocwire/rocwire/worker/admission"
)

// seat is a session process's at the cards.
type seat struct {
	*card.Seat
	src *simgpu.Source
	pid int // 0: not started
}

func newSeat(seg *simgpu.Segment, src *simgpu.Source) (*seat, error) {
	s, err := seg.Seat()
	if errors.Is(err, card.ErrSessions) { // processes that are about to end have seats, too, and those that are kept ready
		err = admission.Full("all sessions are taken (%d, of the simulated cards)", seg.Seats())
	}
	return &seat{Seat: s, src: src}, err
}

// Started implements worker.Seat.
func (s *seat) Started(pid int) {
	s.pid = pid
	s.Seat.Started(pid)
}

// Close implements worker.Seat. What the process did last counts.
func (s *seat) Close() {
	if s.pid != 0 {
		s.src.Reap(s.pid)
	}
	s.Seat.Close()
}
