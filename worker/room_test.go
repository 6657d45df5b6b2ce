package worker_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipremote"
	"github.com/rocwire/rocwire/worker"
	"github.com/rocwire/rocwire/worker/audit"
)

// away makes a session that holds size bytes and whose client cannot come back for now.
func away(t *testing.T, w *worker.Server, size uint64) *hipremote.Client {
	t.Helper()
	return awayOn(t, w, hipremote.Config{}, size)
}

// awayOn does so for a client with a configuration.
func awayOn(t *testing.T, w *worker.Server, cfg hipremote.Config, size uint64) *hipremote.Client {
	t.Helper()
	cfg.Reconnect, cfg.Logf = time.Hour, func(string, ...any) {}
	c, p := through(t, w, cfg)
	if size > 0 {
		_, e := c.Malloc(main0, size)
		must(t, "Malloc", e)
	}
	_, e := c.GetDeviceCount()
	must(t, "GetDeviceCount", e)
	p.Set(false, true)
	p.CutAll()
	eventually(t, "parked", func() bool { return parkedIDs(w)[fmt.Sprint(c.Session())] })
	return c
}

func parkedIDs(w *worker.Server) map[string]bool {
	all := map[string]bool{}
	for _, s := range w.Sessions() {
		all[s.ID] = s.Parked
	}
	return all
}

// parking is a worker whose sessions wait for ever, with its log and its record.
func parking(t *testing.T, change func(*worker.Config)) (w *worker.Server, log *lines, record func() string) {
	t.Helper()
	log = &lines{}
	path := filepath.Join(t.TempDir(), "audit")
	a, err := audit.Open(path, log.logger())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	cfg := config()
	cfg.Park, cfg.Log, cfg.Audit = time.Hour, log.logger(), a
	if change != nil {
		change(&cfg)
	}
	return serve(t, cards(1), cfg), log, func() string { b, _ := os.ReadFile(path); return string(b) }
}

// TestParkedGivesMemory: an allocation that does not fit gets what sessions hold whose clients are away, those who have waited longest first and no more of
// them than it needs; one that would not fit even then takes nobody's.
func TestParkedGivesMemory(t *testing.T) {
	w, log, record := parking(t, nil)
	first, second, none := away(t, w, 400<<20), away(t, w, 300<<20), away(t, w, 0)
	id := func(c *hipremote.Client) string { return fmt.Sprint(c.Session()) }
	other := connect(t, w)
	if free, total, e := other.MemGetInfo(main0); e != hip.Success || free != total {
		t.Errorf("hipMemGetInfo: %d of %d MiB are free, %v", free>>20, total>>20, e)
	}
	if _, e := other.Malloc(main0, 2<<30); e != hip.ErrorOutOfMemory {
		t.Errorf("more than the card has: %v", e)
	}
	if n := len(w.Sessions()); n != 4 {
		t.Fatalf("%d sessions are left", n)
	}
	p, e := other.Malloc(main0, 600<<20)
	must(t, "Malloc of what the first holds", e)
	if left := parkedIDs(w); left[id(first)] || !left[id(second)] || !left[id(none)] {
		t.Errorf("parked: %v; the first is %s", left, id(first))
	}
	why := "it gave way while its client was away: session " + id(other) + " needed"
	eventually(t, "why, in the log and in the record", func() bool { return log.has(why) && strings.Contains(record(), why) })
	if free, total, e := other.MemGetInfo(main0); e != hip.Success || free != total-600<<20 {
		t.Errorf("hipMemGetInfo: %d of %d MiB are free beside what is in use, %v", free>>20, total>>20, e)
	}
	must(t, "Free", other.Free(main0, p))
	// What is not placed on credit, and what a pool gets.
	h, e := other.MemCreate(main0, 832<<20, &hip.MemAllocationProp{Type: hip.MemAllocationTypePinned, Location: hip.MemLocation{Type: hip.MemLocationTypeDevice}}, 0)
	must(t, "MemCreate", e)
	if left := parkedIDs(w); left[id(second)] || !left[id(none)] {
		t.Errorf("parked: %v; the second is %s", left, id(second))
	}
	must(t, "MemRelease", other.MemRelease(main0, h))
	third := away(t, w, 500<<20)
	_, e = other.MallocAsync(main0, 700<<20, 0)
	must(t, "MallocAsync", e)
	if left := parkedIDs(w); left[id(third)] || !left[id(none)] {
		t.Errorf("parked: %v; the third is %s", left, id(third))
	}
}

// TestParkedGivesMemoryOfThatCard: who sees only some of the cards gets what others hold of the one that it allocates on, and nobody ends who holds another's.
func TestParkedGivesMemoryOfThatCard(t *testing.T) {
	cfg := config()
	cfg.Park = time.Hour
	w := serve(t, cards(2), cfg)
	first, second := away(t, w, 600<<20), awayOn(t, w, hipremote.Config{Devices: "1"}, 700<<20)
	other := connectWith(t, w, hipremote.Config{Devices: "1"})
	if free, total, e := other.MemGetInfo(main0); e != hip.Success || free != total {
		t.Errorf("hipMemGetInfo: %d of %d MiB are free, %v", free>>20, total>>20, e)
	}
	_, e := other.Malloc(main0, 800<<20)
	must(t, "Malloc", e)
	if left := parkedIDs(w); !left[fmt.Sprint(first.Session())] || left[fmt.Sprint(second.Session())] {
		t.Errorf("parked: %v; %d has the other card", left, first.Session())
	}
}

// TestParkedGivesPlace: when all sessions are taken, a new client gets the place of one who is away.
func TestParkedGivesPlace(t *testing.T) {
	w, log, record := parking(t, func(c *worker.Config) { c.MaxSessions = 3 })
	first, second := away(t, w, 1<<20), away(t, w, 1<<20)
	there := connect(t, w)
	_, e := there.GetDeviceCount()
	must(t, "GetDeviceCount", e)
	for i, gone := range []*hipremote.Client{first, second} {
		c := connect(t, w)
		_, e := c.GetDeviceCount()
		must(t, "GetDeviceCount of another", e)
		if left := parkedIDs(w); left[fmt.Sprint(gone.Session())] || len(left) != 3 {
			t.Errorf("%d: %v", i, left)
		}
	}
	const why = "it gave way while its client was away: another client needed its place"
	eventually(t, "why, in the log and in the record", func() bool { return log.has(why) && strings.Count(record(), why) == 2 })
	refused := hipremote.New(hipremote.Config{Host: "127.0.0.1", Port: fmt.Sprint(w.Addr().Port), Logf: log.logf})
	defer refused.Close()
	if _, e := refused.GetDeviceCount(); e != hip.ErrorNotInitialized || !log.has("all sessions are taken") {
		t.Errorf("with nobody away: %v", e)
	}
	_, e = there.GetDeviceCount()
	must(t, "GetDeviceCount of who is there", e)
}
