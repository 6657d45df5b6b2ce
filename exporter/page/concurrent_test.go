package page

import (
	"context"
	"sync"
	"testing"
	"time"
)

// Samples, readings and requests at the same time, for the race detector.
func TestConcurrent(t *testing.T) {
	w := newWorld(2, 4)
	p := w.page(t, Options{}, 30*time.Second)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { p.Run(ctx) })
	wg.Go(func() {
		for ctx.Err() == nil {
			w.advance(time.Second)
			p.sample()
		}
	})
	var asked sync.WaitGroup
	for _, path := range []string{"/", "/api/v1/status", "/api/v1/history", "/api/v1/calls", "/api/v1/latency", "/api/v1/functions", "/assets/" + assetVersion + "/app.js"} {
		asked.Go(func() {
			for range 20 {
				if r := get(p, path, "Accept-Encoding", "gzip"); r.Code != 200 {
					t.Errorf("%s: %d", path, r.Code)
				}
			}
		})
	}
	asked.Wait()
	cancel()
	wg.Wait()
}
