//go:build linux && amd64

package exec

import "testing"

// TestSpinningCostsLittleNative: who is known to spin is looked at sooner.
func TestSpinningCostsLittleNative(t *testing.T) { spinningCosts(t, 1, maxTally/2, looks) }
