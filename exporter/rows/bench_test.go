package rows

import (
	"fmt"
	"testing"
	"time"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/smi"
)

// BenchmarkRecord is what one interval costs: 8 cards with 64 processes each, and 40
// functions whose calls fell into 12 buckets, seen from five sides.
func BenchmarkRecord(b *testing.B) {
	var cards []exporter.Card
	for i := range 8 {
		var list []smi.Process
		for k := range 64 {
			p := busy(uint32(64*i+k), "python3", time.Second)
			p.Session = fmt.Sprintf("session-%d", k)
			p.Client = &smi.Client{Host: "client", User: "user", Executable: "/usr/bin/python3", Pod: fmt.Sprintf("pod-%d", k)}
			list = append(list, p)
		}
		cards = append(cards, fullCard(i, list...))
	}
	m := newMaker(Options{})
	rounds, size, rows := uint64(0), 0, 0
	for b.Loop() {
		rounds++
		r := exporter.Reading{Time: begun.Add(time.Duration(rounds) * time.Second), Cards: cards}
		for op := range 40 {
			for _, side := range []string{"client", "worker", "queue", "execution", "network"} {
				t := total(fmt.Sprintf("hipFunction%d", op), begun, rounds*1e6, 0)
				t.Side = side
				for k := range 12 {
					t.Buckets = append(t.Buckets, rpcstats.Bucket{Index: -90 + k, Count: rounds})
				}
				r.Calls = append(r.Calls, t)
			}
		}
		batch := m.Make(&r)
		record, err := batch.Encode()
		if err != nil {
			b.Fatal(err)
		}
		m.Keep()
		size, rows = len(record), batch.Rows()
	}
	b.ReportMetric(float64(size), "bytes/record")
	b.ReportMetric(float64(rows), "rows/record")
}
