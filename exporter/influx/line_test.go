package influx

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/exporter/rows"
	"github.com/rocwire/rocwire/exporter/rows/rowstest"
	"github.com/rocwire/rocwire/smi"
)

// named is a batch in which every text that a client may choose is s.
func named(s string) *rows.Batch {
	p := smi.Process{PID: 1, Name: s, User: s, Session: s, Origin: s, Client: &smi.Client{Host: s, Executable: s, User: s, Pod: s, Namespace: s, Address: s},
		Container: &smi.Container{Name: s, Pod: s, Namespace: s, PodUID: s, ID: s}}
	card := exporter.Card{Fresh: true, DeviceSnapshot: smi.DeviceSnapshot{Device: smi.Device{UUID: s}, Processes: []smi.Process{p}}}
	return rows.NewMaker(rows.Options{}, exporter.Place{Host: s, Cluster: s, Pool: s}, time.Now()).
		Make(&exporter.Reading{Time: time.UnixMilli(1_790_000_000_123), Cards: []exporter.Card{card}})
}

// checkLines parses a batch's lines and compares them with its rows.
func checkLines(t *testing.T, b *rows.Batch) {
	t.Helper()
	for i := range b.Tables {
		table := &b.Tables[i]
		for k := range table.Rows {
			want := rowstest.RowOf(table.Columns, &table.Rows[k])
			l := line(table, &table.Rows[k], true)
			fields := 0
			for _, c := range table.Columns {
				if v, ok := want[c.Name]; ok && !c.Tag {
					fields++
				} else if ok {
					want[c.Name] = strings.ReplaceAll(v.(string), `\`, "/")
				}
			}
			points, err := parseLines(l)
			if err != nil || len(points) != min(fields, 1) {
				t.Fatalf("%q: %d points, %v", l, len(points), err)
			}
			if fields == 0 {
				continue
			}
			got := rowstest.Row{"ts": points[0].time}
			for key, v := range points[0].tags {
				got[key] = v
			}
			for key, v := range points[0].fields {
				got[key] = v
			}
			if points[0].measurement != table.Name || !reflect.DeepEqual(got, want) {
				t.Fatalf("%q:\n%#v, want\n%#v", l, got, want)
			}
		}
	}
}

var hostile = []string{
	"plain", "", " ", ",", "=", `\`, `\\`, `a\,evil=1`, `a\ evil=1 2`, `ends in \`, "a\nevil,x=y v=1 1", "a\r\n", "\x00", "\xff\xfe", "\u2028", "\u202e",
	`"`, `\"`, `quote",evil="x`, "#comment", "true", "1i", "ünï çode 漢字 🚀", strings.Repeat(`\,`, 300), strings.Repeat("=", 5000), "a,b=c d\\e\"f",
}

func TestHostileNames(t *testing.T) {
	for _, s := range hostile {
		checkLines(t, named(s))
	}
}

func FuzzLine(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { checkLines(t, named(s)) })
}

// Figures of every size come back as they were.
func TestFigures(t *testing.T) {
	work := rowstest.NewWork()
	m := rows.NewMaker(rows.Options{}, exporter.Place{}, time.Now())
	for range 20 {
		r := work.Next()
		checkLines(t, m.Make(&r))
		m.Keep()
	}
	for _, f := range []float64{0, 1, -1, 0.1, 1e-9, 2.3283064365386963e-10, 1e-16, 5e-324, 1.7976931348623157e308, 123456789.125, 1e17, 1e18, -1e21, 1.0 / 3} {
		v, err := (&scanner{s: float(f) + " "}).value()
		if err != nil || v != f {
			t.Errorf("%v: %s, %v %v", f, float(f), v, err)
		}
	}
}
