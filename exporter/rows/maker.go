package rows

import (
	"os"
	"strings"
	"time"

	"github.com/rocwire/rocwire/exporter"
)

// Maker makes batches of an exporter's readings. It is for one goroutine.
type Maker struct {
	place exporter.Place
	opt   Options
	begun time.Time

	last  int64 // time of the last batch
	base  state // what intervals are counted from
	next  state // what they will be counted from after Keep
	drops Drops
}

// state is what is remembered of a reading.
type state struct {
	uses  map[use]usage
	calls callState
}

// Drops are what batches left out; counters.
type Drops struct {
	Processes uint64 // of cards with more than Options.MaxProcesses, once for each batch
	Rows      uint64 // for which there was no room, or that another had the key of
	Late      uint64 // series of calls that have to wait for a later batch
}

// NewMaker returns a maker. now is when it begins: totals that began later count as a
// whole. Without a host in place, rows have this machine's name.
func NewMaker(opt Options, place exporter.Place, now time.Time) *Maker {
	if place.Host == "" {
		place.Host, _ = os.Hostname() // "" leaves the tag null
	}
	opt.setDefaults()
	return &Maker{place: place, opt: opt, begun: now}
}

// Drops tells what was left out so far.
func (m *Maker) Drops() Drops { return m.drops }

// Make makes a batch of a reading. Call Keep once it is safe; without that, the next
// batch has everything that is in this one again, and more.
func (m *Maker) Make(r *exporter.Reading) *Batch {
	now := max(r.Time.UnixMilli(), m.last+1)
	b := &builder{maker: m, reading: r, time: now, batch: &Batch{}, rows: MaxRows, cells: maxCells, keys: map[string]bool{}}
	m.last = now
	m.next = state{uses: map[use]usage{}}
	cards := b.cards()
	b.gpuUsage(cards)
	b.nodeMetrics(cards)
	b.workerUsage(cards)
	b.processUsage(cards)
	m.next.calls = b.latency(&m.base.calls)
	return b.batch
}

// Keep moves what intervals are counted from to the reading of the last Make.
func (m *Maker) Keep() { m.base = m.next }

// builder makes one batch.
type builder struct {
	maker   *Maker
	reading *exporter.Reading
	time    int64
	batch   *Batch
	rows    int // that there is still room for
	cells   int
	keys    map[string]bool // of the rows
}

// room reports whether n rows of a table fit.
func (b *builder) room(s *Schema, n int) bool {
	return n <= b.rows && n*len(s.Columns) <= b.cells
}

// add adds a row to the last table, which is begun if it is another one. A row with the
// key of another is dropped.
func (b *builder) add(s *Schema, values ...Value) {
	key := keyOf(s, values)
	if !b.room(s, 1) || b.keys[key] {
		b.maker.drops.Rows++
		return
	}
	b.keys[key] = true
	n := len(b.batch.Tables)
	if n == 0 || b.batch.Tables[n-1].Name != s.Name {
		b.batch.Tables = append(b.batch.Tables, Table{Name: s.Name, Columns: s.Columns})
		n++
	}
	t := &b.batch.Tables[n-1]
	t.Rows = append(t.Rows, Row{Time: b.time, Values: values})
	b.rows--
	b.cells -= len(values)
}

// keyOf is a row's tags in one text. None of them has a control character.
func keyOf(s *Schema, values []Value) string {
	var key strings.Builder
	key.WriteString(s.Name)
	for i, c := range s.Columns {
		if !c.Tag {
			break
		}
		key.WriteByte(0)
		key.WriteString(values[i].text)
	}
	return key.String()
}
