package main

import (
	"context"
	"math"
	"runtime/debug"
	"testing"
	"time"
)

func TestMemoryLimit(t *testing.T) {
	for live, want := range map[uint64]int64{0: leastLimit, 8 << 20: leastLimit, 12 << 20: 19 << 20, 17 << 20: math.MaxInt64, 1 << 40: math.MaxInt64} {
		if got := memoryLimit(live); got != want {
			t.Errorf("%d: %d", live, got)
		}
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	debug.SetMemoryLimit(1 << 40)
	for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
		frugal(ctx, func(k string) string { return map[string]string{name: "1"}[k] })
		if got := debug.SetMemoryLimit(-1); got != 1<<40 {
			t.Errorf("%s: %d", name, got)
		}
	}
	frugal(ctx, noEnv)
	if got := debug.SetMemoryLimit(-1); got != memoryLimit(live()) {
		t.Errorf("%d", got)
	}
}
