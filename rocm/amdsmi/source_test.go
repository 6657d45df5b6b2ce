package amdsmi

import (
	"testing"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
)

func TestConformance(t *testing.T) {
	eachABI(t, func(t *testing.T, s *stub) {
		smitest.Run(t, func(t *testing.T) smi.Source { return s.open(t) })
	})
}
