package hipmulti

import (
	"testing"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiptest"
	"github.com/rocwire/rocwire/hipremote"
)

// TestConformance: what HIP promises holds for the devices of two workers as for those of one.
func TestConformance(t *testing.T) {
	t.Run("OneEach", func(t *testing.T) {
		a, b := serve(t, 1), serve(t, 1)
		var groups []string // all
		if testing.Short() {
			groups = []string{"Copy", "Streams", "Events"}
		}
		hiptest.Run(t, func(t *testing.T) hip.Runtime { return join(t, nil, a, b) }, groups...)
	})
	t.Run("Mixed", func(t *testing.T) { // device 0 is the second worker's, so that nothing is right by being first
		a, b := serve(t, 2), serve(t, 2)
		hiptest.Run(t, func(t *testing.T) hip.Runtime {
			return join(t, func(c *hipremote.Config) { c.Devices = "3,0,2" }, a, b)
		})
	})
}
