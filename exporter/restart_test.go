package exporter

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/exporter/collector"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
)

// comings is a worker whose sessions come and go.
type comings struct{ list []smi.Session }

func (c *comings) Sessions() []smi.Session { return c.list }

// seriesOf are the names and labels of what is served.
func seriesOf(text string) map[string]bool {
	set := map[string]bool{}
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			set[line[:strings.LastIndexByte(line, ' ')]] = true
		}
	}
	return set
}

// without is what of a is not in b, in order.
func without(a, b map[string]bool) []string {
	return slices.Sorted(func(yield func(string) bool) {
		for s := range maps.Keys(a) {
			if !b[s] && !yield(s) {
				return
			}
		}
	})
}

// A process that starts or ends, or a session, has its own series come or go, and no
// other series is renewed by it: neither ours nor those under AMD's names.
func TestProcessesRenewNothingElse(t *testing.T) {
	cards := smitest.Machine(2, 3)
	src := smitest.NewFake(cards...)
	src.SetDetails(smitest.Details(2)...)
	src.SetTopology(smitest.Topology(2))
	clients := &comings{list: smitest.Clients{}.Sessions()[:1]}
	e := start(t, Options{Source: src, Sessions: clients, Calls: someCalls(), Compat: collector.CompatDME, Place: Place{Host: "gpu-1"}})
	scrape := func() map[string]bool {
		e.Poll(t.Context())
		return seriesOf(e.metrics(t))
	}
	before := scrape()

	more := slices.Clone(cards)
	p := cards[0].Processes[0]
	p.PID, p.Session = 99_999, "77"
	more[0].Processes = append(slices.Clone(cards[0].Processes), p)
	src.SetCards(more...)
	s := clients.list[0]
	s.ID, s.PID = "77", p.PID
	clients.list = append(slices.Clone(clients.list), s)
	during := scrape()

	if gone := without(before, during); len(gone) > 0 {
		t.Errorf("a process that starts ends the series\n%s", strings.Join(gone, "\n"))
	}
	own := regexp.MustCompile(`pid="99999"|process_id="99999"|session="77"`)
	come := without(during, before)
	for _, n := range come {
		if !own.MatchString(n) {
			t.Errorf("a process that starts begins %s", n)
		}
	}
	if len(come) < 10 {
		t.Errorf("a process that starts has only %q", come)
	}

	src.SetCards(cards...)
	clients.list = clients.list[:1]
	after := scrape()
	if lost, stay := without(before, after), without(after, before); len(lost)+len(stay) > 0 {
		t.Errorf("after its end %q are lost and %q stay", lost, stay)
	}
}
