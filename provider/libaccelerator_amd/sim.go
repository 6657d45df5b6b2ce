package main

import (
	"sync"

	"github.com/rocwire/rocwire/simgpu"
	"github.com/rocwire/rocwire/smi"
)

// simulated are simulated cards that nobody computes on.
func simulated(getenv func(string) string) (smi.Source, error) {
	o, err := simgpu.FromEnv(getenv)
	if err != nil {
		return nil, smi.Errorf(smi.ErrInvalid, "%w", err)
	}
	segment, err := simgpu.CreateSegment(o)
	if err != nil {
		return nil, smi.Errorf(smi.ErrInvalid, "%w", err)
	}
	o.Segment = segment
	src, err := simgpu.NewSource(o)
	if err != nil {
		segment.Close()
		return nil, err
	}
	return &cards{Source: src, segment: segment}, nil
}

// cards is a source that has its segment to itself.
type cards struct {
	*simgpu.Source
	segment *simgpu.Segment
	once    sync.Once
}

// Close closes both. A closed source looks at its segment no more.
func (c *cards) Close() error {
	err := c.Source.Close()
	c.once.Do(c.segment.Close)
	return err
}
