package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"go.yaml.in/yaml/v2"

	"github.com/rocwire/rocwire/discovery"
)

// ways are those in which workers are named.
var ways = []string{"file_sd, JSON", "file_sd, YAML", "http_sd", "DNS SRV", "Kubernetes", "Consul"}

// looks is how often each is measured.
const looks = 5

// discover measures how long it takes to know so many workers, in every way that is not at its end.
func (b *bench) discover(ctx context.Context, n int) error {
	for _, way := range ways {
		subject := "discovery by " + way
		if b.ended[subject] {
			continue
		}
		if err := b.discoverBy(ctx, subject, way, n); err != nil {
			return fmt.Errorf("%s: %w", subject, err)
		}
	}
	return ctx.Err()
}

func (b *bench) discoverBy(ctx context.Context, subject, way string, n int) error {
	x := row{subject: subject, workers: n}
	source := b.names.source(way, n)
	for y, format := range map[string]func(any) ([]byte, error){"file_sd, JSON": json.Marshal, "file_sd, YAML": yaml.Marshal} {
		if y != way {
			continue
		}
		text, err := format(groups(n, discovery.DefaultPort))
		source = filepath.Join(b.dir, map[string]string{"file_sd, JSON": "names.json", "file_sd, YAML": "names.yaml"}[way])
		if err == nil {
			err = os.WriteFile(source, text, 0o600)
		}
		if err != nil {
			return err
		}
		x.bytes = int64(len(text))
	}
	var times []time.Duration
	before, err := b.workers.tell(request{})
	if err != nil {
		return err
	}
	var m0, m1 runtime.MemStats
	runtime.ReadMemStats(&m0)
	processor := own()
	for range looks {
		d, err := discovery.New(discovery.Options{Sources: []string{source}}) // anew: a file that has not changed is not read again
		if err != nil {
			return err
		}
		begin := time.Now()
		d.Refresh(ctx)
		times = append(times, time.Since(begin))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		s := d.States()[0]
		if got := len(d.Targets()); got != n {
			b.end(subject, n, "%d are known, %d make no sense: %s", got, s.Bad, s.Err)
			return nil
		}
	}
	x.processor = (own() - processor) / looks
	runtime.ReadMemStats(&m1)
	x.memory = int64(m1.TotalAlloc-m0.TotalAlloc) / looks
	after, err := b.workers.tell(request{})
	if err != nil {
		return err
	}
	if x.bytes == 0 {
		x.bytes = (after.Workers.NamesOut - before.Workers.NamesOut) / looks
	}
	slices.Sort(times)
	x.time = times[len(times)/2]
	b.add(x)
	if x.time > b.interval {
		b.limit(subject, n, "it takes %v, longer than %v", x.time, b.interval)
	}
	return nil
}
