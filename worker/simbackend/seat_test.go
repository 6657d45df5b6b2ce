package simbackend

import (
	"errors"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/simgpu"
	"github.com/rocwire/rocwire/simgpu/card"
	"github.com/rocwire/rocwire/worker/admission"
)

// TestNoSeat: with more processes than the cards have places a client hears that it may come again, not of an unknown error.
func TestNoSeat(t *testing.T) {
	seg, err := card.Create([]uint64{1 << 20}, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer seg.Close()
	src, err := simgpu.NewSource(simgpu.Options{Segment: seg})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	first, err := newSeat(seg, src)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newSeat(seg, src); !errors.Is(err, admission.ErrFull) || !strings.Contains(err.Error(), "all sessions are taken (1, ") || !strings.HasSuffix(err.Error(), "try again later") {
		t.Errorf("a second one: %v", err)
	}
	first.Close()
	again, err := newSeat(seg, src)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}
