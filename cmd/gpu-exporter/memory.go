package main

import (
	"context"
	"math"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// The collector's default lets memory double before it looks for garbage: some 10 MiB
// for an exporter of 8 busy cards, of the 40 MiB that it may take on a host whose
// memory is meant for other programs, and each scrape leaves megabytes behind. A limit
// close to what is in use has it look earlier, for a quarter of a percent of a core. With
// more than largeLive in use the same would cost much more, and nobody expects 40 MiB
// then: there is no limit.
const (
	leastLimit = 18 << 20
	room       = 7 << 20 // beside what is in use: the runtime's own memory, and garbage
	largeLive  = 16 << 20
)

// frugal keeps the limit near what is in use until ctx is done. Who sets GOGC or
// GOMEMLIMIT decides otherwise.
func frugal(ctx context.Context, getenv func(string) string) {
	if getenv("GOGC") != "" || getenv("GOMEMLIMIT") != "" {
		return
	}
	t := time.NewTicker(10 * time.Second)
	defer t.Stop()
	for {
		debug.SetMemoryLimit(memoryLimit(live()))
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

// live is what was in use after the last collection, in bytes.
func live() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// memoryLimit is the runtime's soft limit when so much is in use.
func memoryLimit(live uint64) int64 {
	if live > largeLive {
		return math.MaxInt64
	}
	return max(leastLimit, int64(live)+room)
}
