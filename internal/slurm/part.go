package slurm

import (
	"fmt"

	"github.com/rocwire/rocwire/internal/bytesize"
	"github.com/rocwire/rocwire/smi"
)

// Part is what a job may have of a card, all its steps and tasks on the node together. The zero Part is all of it.
type Part struct {
	Memory  string `yaml:"memory,omitempty"`  // as bytesize reads it, such as 96G; empty: all
	Compute int    `yaml:"compute,omitempty"` // percent of the card's time; 0: all
}

// maxMemory bounds a part's memory: no card has as much.
const maxMemory = 1 << 50

// Quota is that of the job's token.
func (p *Part) Quota() (q smi.Quota, err error) {
	if p.Memory != "" {
		n, ok := bytesize.Parse(p.Memory, maxMemory)
		if !ok {
			return q, fmt.Errorf("memory: %q is no size such as 96G", p.Memory)
		}
		q.Memory = smi.Some(smi.Bytes(n))
	}
	if p.Compute < 0 || p.Compute > 100 {
		return q, fmt.Errorf("compute: %d is no percentage", p.Compute)
	}
	if p.Compute > 0 {
		q.Compute = smi.Some(smi.Ratio(float64(p.Compute) / 100))
	}
	return q, nil
}
