package simgpu

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rocwire/rocwire/simgpu/card"
	"github.com/rocwire/rocwire/smi"
)

// bench is a source of fake cards whose work and clock the test moves.
type bench struct {
	*Source
	t     *testing.T
	now   time.Time
	read  []card.Card
	told  []card.Condition
	heard *smi.EventQueue
}

func newBench(t *testing.T, arch string, cards int) *bench {
	t.Helper()
	b := &bench{t: t, now: time.Unix(1_700_000_000, 0), read: make([]card.Card, cards), told: make([]card.Condition, cards)}
	for i := range b.read {
		b.read[i].Capacity = 1 << 30
	}
	b.Source = newSource(products[arch], func() []card.Card { return slices.Clone(b.read) }, func() time.Time { return b.now })
	b.Source.tell = func(i int, c card.Condition) { b.told[i] = c }
	var err error
	if b.heard, err = b.events.open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// run lets time pass with card 0 busy for a share of it.
func (b *bench) run(d time.Duration, share float64, class card.Class) *smi.Metrics {
	b.t.Helper()
	for end := b.now.Add(d); b.now.Before(end); {
		b.now = b.now.Add(sampleEvery)
		c := &b.read[0]
		c.Busy += uint64(float64(sampleEvery) * share)
		c.UnitTime += uint64(float64(sampleEvery)*share) * 304
		if share > 0 {
			c.Work.Instructions[class] += 1000
			c.Work.Lanes[class] += 64000
			c.Work.ReadBytes += 64000
		}
		b.metrics(0)
	}
	return b.metrics(0)
}

func (b *bench) metrics(i int) *smi.Metrics {
	b.t.Helper()
	m, err := b.Metrics(context.Background(), i)
	if err != nil {
		b.t.Fatal(err)
	}
	return m
}

func (b *bench) inject(f smi.Fault) {
	b.t.Helper()
	if err := b.Inject(context.Background(), 0, f); err != nil {
		b.t.Fatalf("%+v: %v", f, err)
	}
}

func (b *bench) set(s smi.Setting) {
	b.t.Helper()
	if err := b.Set(context.Background(), 0, s); err != nil {
		b.t.Fatalf("%+v: %v", s, err)
	}
}

// events are the kinds of what happened since the last time.
func (b *bench) happened() []string {
	var kinds []string
	b.heard.Push(smi.Event{Kind: "end"})
	for {
		list, err := b.heard.Next(context.Background(), 100)
		if err != nil {
			b.t.Fatal(err)
		}
		for _, e := range list {
			if e.Kind == "end" {
				return kinds
			}
			kinds = append(kinds, e.Kind)
		}
	}
}

func (b *bench) expect(kinds ...string) {
	b.t.Helper()
	if got := b.happened(); !slices.Equal(got, kinds) {
		b.t.Errorf("happened: %q, want %q", got, kinds)
	}
}

func TestInjectECC(t *testing.T) {
	b := newBench(t, "gfx942", 1)
	ctx := context.Background()
	b.inject(smi.Fault{Kind: smi.FaultECC})
	b.inject(smi.Fault{Kind: smi.FaultECC, Block: "gfx", Error: "deferred", Count: 5})
	e, err := b.ECC(ctx, 0)
	if err != nil || e.Correctable.Or(0) != 1 || e.Deferred.Or(0) != 5 || e.Uncorrectable.Or(1) != 0 {
		t.Fatalf("%+v, %v", e, err)
	}
	i := slices.IndexFunc(e.Blocks, func(k smi.ECCBlock) bool { return k.Block == "gfx" })
	if i < 0 || e.Blocks[i].Deferred.Or(0) != 5 || e.Blocks[i].State != smi.RASEnabled {
		t.Errorf("blocks %+v", e.Blocks)
	}
	if p, err := b.BadPages(ctx, 0); err != nil || len(p) != 0 {
		t.Errorf("bad pages without an uncorrectable error: %v, %v", p, err)
	}
	b.read[0].Used = 1 << 20
	b.inject(smi.Fault{Kind: smi.FaultECC, Error: "uncorrectable", Count: 3})
	p, err := b.BadPages(ctx, 0)
	if err != nil || len(p) != 3 {
		t.Fatalf("bad pages %v, %v", p, err)
	}
	for i, x := range p {
		if x.Address%4096 != 0 || x.Address >= 1<<30 || x.Size != 4096 || x.State != smi.PagePending || i > 0 && x.Address <= p[i-1].Address {
			t.Errorf("bad page %d of %+v", i, p)
		}
	}
	b.read[0].Used = 0
	b.run(sampleEvery, 0, 0)
	if p, _ := b.BadPages(ctx, 0); p[0].State != smi.PageReserved {
		t.Errorf("nobody holds memory, yet %+v", p[0])
	}
	b.expect(smi.EventECC, smi.EventECC, smi.EventECC)

	for _, f := range []smi.Fault{
		{Kind: smi.FaultECC, Block: "nonsense"}, {Kind: smi.FaultECC, Block: "df"}, {Kind: smi.FaultECC, Error: "terrible"}, {Kind: "mood"}, {},
	} {
		if err := b.Inject(ctx, 0, f); !errors.Is(err, smi.ErrInvalid) {
			t.Errorf("%+v: %v", f, err)
		}
	}
	if err := b.Inject(ctx, 0, smi.Fault{Kind: "mood"}); !strings.Contains(err.Error(), smi.FaultThermal) {
		t.Errorf("an unknown kind does not name those there are: %v", err)
	}
	b.inject(smi.Fault{Kind: smi.FaultECC, Count: math.MaxUint64})
	b.inject(smi.Fault{Kind: smi.FaultECC, Error: "uncorrectable", Count: math.MaxUint64})
	e, _ = b.ECC(ctx, 0)
	p, _ = b.BadPages(ctx, 0)
	seen := map[uint64]bool{}
	for _, x := range p {
		seen[x.Address] = true
	}
	if e.Correctable.Or(0) != maxErrors || len(p) != maxBadPages || len(seen) != len(p) {
		t.Errorf("counters and pages do not stop: %v, %d pages, %d different", e.Correctable, len(p), len(seen))
	}
	// A reset forgets the errors and remembers the pages.
	b.set(smi.Setting{Reset: true})
	e, _ = b.ECC(ctx, 0)
	if p, _ := b.BadPages(ctx, 0); e.Uncorrectable.Or(1) != 0 || len(p) != maxBadPages {
		t.Errorf("after a reset: %+v, %d pages", e, len(p))
	}
}

func TestInjectHeat(t *testing.T) {
	b := newBench(t, "gfx942", 1)
	before := b.run(2*time.Second, 1, card.VALU)
	if b.told[0].Slower != 0 {
		t.Errorf("without a fault kernels are slowed by %d", b.told[0].Slower)
	}
	b.inject(smi.Fault{Kind: smi.FaultThermal})
	hot := b.run(2*time.Second, 1, card.VALU)
	p := &products["gfx942"].physical
	if h := float64(hot.Temperature(smi.SensorHotspot).Or(0)); h <= p.HotspotLimit || h >= p.HotspotOff {
		t.Errorf("hot spot %v °C", h)
	}
	if hot.Clock(smi.ClockGFX).Or(0) >= before.Clock(smi.ClockGFX).Or(0) || hot.Power.Socket.Or(0) >= before.Power.Socket.Or(0) || b.told[0].Slower == 0 {
		t.Errorf("%v, %v while hot, %v, %v before; slower by %d", hot.Clock(smi.ClockGFX), hot.Power.Socket,
			before.Clock(smi.ClockGFX), before.Power.Socket, b.told[0].Slower)
	}
	v := violation(t, hot, smi.ViolationSocketThermal)
	if v.Active != smi.Some(true) || v.Ratio.Or(0) < 0.99 || v.Total.Or(0).Seconds() < 1.9 || hot.Throttle.Status.Or(0)&throttleHotspot == 0 {
		t.Errorf("violation %+v, status %v", v, hot.Throttle.Status)
	}
	b.inject(smi.Fault{Kind: smi.FaultThermal, Clear: true})
	after := b.run(time.Minute, 0, 0)
	v = violation(t, after, smi.ViolationSocketThermal)
	if after.Temperature(smi.SensorHotspot).Or(200) > 50 || v.Active != smi.Some(false) || v.Ratio.Or(1) != 0 || v.Total.Or(0).Seconds() < 2 {
		t.Errorf("after a minute: %v °C, %+v", after.Temperature(smi.SensorHotspot), v)
	}
	b.expect(smi.EventThermalThrottle)
	for _, c := range []smi.Celsius{-300, 5000, smi.Celsius(math.NaN()), smi.Celsius(math.Inf(1))} {
		if err := b.Inject(context.Background(), 0, smi.Fault{Kind: smi.FaultThermal, Temperature: smi.Some(c)}); !errors.Is(err, smi.ErrInvalid) {
			t.Errorf("%v °C: %v", c, err)
		}
	}
}

func violation(t *testing.T, m *smi.Metrics, kind string) smi.Violation {
	t.Helper()
	for _, v := range m.Throttle.Violations {
		if v.Kind == kind {
			return v
		}
	}
	t.Fatalf("no violation %q in %+v", kind, m.Throttle)
	return smi.Violation{}
}

func TestInjectHangAndReset(t *testing.T) {
	b := newBench(t, "gfx90a", 1)
	b.inject(smi.Fault{Kind: smi.FaultHang})
	b.inject(smi.Fault{Kind: smi.FaultHang}) // it hangs already
	if !b.told[0].Hung {
		t.Fatal("the sessions do not know")
	}
	m := b.run(2*time.Second, 1, card.MFMA)
	if m.Activity.GFX.Or(0) < 0.99 || float64(m.Power.Socket.Or(999)) > 100 {
		t.Errorf("a hung card: %v busy, %v W", m.Activity.GFX, m.Power.Socket)
	}
	b.inject(smi.Fault{Kind: smi.FaultHang, Clear: true})
	if b.told[0].Hung {
		t.Error("cleared, and the sessions do not know")
	}
	b.inject(smi.Fault{Kind: smi.FaultHang})
	b.set(smi.Setting{PowerCap: smi.Some(smi.Watts(200))})
	b.inject(smi.Fault{Kind: smi.FaultReset})
	if c := b.told[0]; c.Hung || c.Resets != 1 {
		t.Errorf("after the reset the sessions know %+v", c)
	}
	if p := b.metrics(0).Power; p.Cap != p.DefaultCap {
		t.Errorf("the power cap outlived the reset: %+v", p)
	}
	b.expect(smi.EventRingHang, smi.EventRingHang, smi.EventPreReset, smi.EventPostReset)
}

func TestInjectLink(t *testing.T) {
	b := newBench(t, "gfx942", 1)
	move := func() *smi.Metrics {
		for range 20 {
			b.read[0].Copies[card.HostToCard] += 100 << 20
			b.read[0].Copies[card.CardToHost] += 25 << 20
			b.run(sampleEvery, 0, 0)
		}
		return b.metrics(0)
	}
	near := func(a smi.Opt[smi.BytesPerSecond], want float64) bool {
		return math.Abs(float64(a.Or(0))/want-1) < 0.01
	}
	m := move()
	if p := m.PCIe; p.Width.Or(0) != 16 || p.Speed.Or(0) != 32e9 || !near(p.Received, 1000<<20) || !near(p.Sent, 250<<20) || !near(p.Bandwidth, 1250<<20) {
		t.Errorf("before: %+v", p)
	}
	b.inject(smi.Fault{Kind: smi.FaultLink})
	if p := b.metrics(0).PCIe; p.Width.Or(0) != 8 || p.Speed.Or(0) != 32e9 || b.told[0].Link != 16 {
		t.Errorf("half the lanes: %+v, copies slower by %d/16", p, b.told[0].Link)
	}
	b.inject(smi.Fault{Kind: smi.FaultLink, Width: smi.Some(1), Speed: smi.Some(smi.TransfersPerSecond(2.5e9))})
	if p := move().PCIe; p.Width.Or(0) != 1 || p.Speed.Or(0) != 2.5e9 || float64(p.Received.Or(0)) != 0.25e9 || p.Recoveries.Or(0) != 2 {
		t.Errorf("one lane of generation 1: %+v", p)
	}
	b.inject(smi.Fault{Kind: smi.FaultLink, Clear: true})
	b.inject(smi.Fault{Kind: smi.FaultLink, Clear: true})
	if p := b.metrics(0).PCIe; p.Width.Or(0) != 16 || b.told[0].Link != 0 || p.Recoveries.Or(0) != 3 {
		t.Errorf("cleared: %+v", p)
	}
	b.expect(smi.EventLinkChange, smi.EventLinkChange, smi.EventLinkChange)
	for _, f := range []smi.Fault{
		{Width: smi.Some(3)}, {Width: smi.Some(32)}, {Width: smi.Some(-1)}, {Speed: smi.Some(smi.TransfersPerSecond(64e9))},
		{Speed: smi.Some(smi.TransfersPerSecond(math.NaN()))},
	} {
		f.Kind = smi.FaultLink
		if err := b.Inject(context.Background(), 0, f); !errors.Is(err, smi.ErrInvalid) {
			t.Errorf("%+v: %v", f, err)
		}
	}
}

func TestInjectGone(t *testing.T) {
	b := newBench(t, "gfx942", 3)
	ctx := context.Background()
	energy := b.run(time.Second, 1, card.MFMA).Energy.Or(0)
	b.inject(smi.Fault{Kind: smi.FaultGone})
	if !b.told[0].Gone {
		t.Fatal("the sessions do not know")
	}
	ask := map[string]func(i int) error{
		"Info":       func(i int) error { _, err := b.Info(ctx, i); return err },
		"Metrics":    func(i int) error { _, err := b.Metrics(ctx, i); return err },
		"Processes":  func(i int) error { _, err := b.Processes(ctx, i); return err },
		"Firmware":   func(i int) error { _, err := b.Firmware(ctx, i); return err },
		"ECC":        func(i int) error { _, err := b.ECC(ctx, i); return err },
		"BadPages":   func(i int) error { _, err := b.BadPages(ctx, i); return err },
		"XGMI":       func(i int) error { _, err := b.XGMI(ctx, i); return err },
		"Partitions": func(i int) error { _, err := b.Partitions(ctx, i); return err },
		"Set":        func(i int) error { return b.Set(ctx, i, smi.Setting{PerfLevel: smi.PerfAuto}) },
		"Inject":     func(i int) error { return b.Inject(ctx, i, smi.Fault{Kind: smi.FaultECC}) },
	}
	for name, q := range ask {
		if err := q(0); !errors.Is(err, smi.ErrUnavailable) {
			t.Errorf("%s of the card that is gone: %v", name, err)
		}
		if err := q(1); err != nil {
			t.Errorf("%s of another card: %v", name, err)
		}
	}
	if d, err := b.Devices(ctx); err != nil || len(d) != 3 {
		t.Errorf("%d devices, %v", len(d), err)
	}
	if top, err := b.Topology(ctx); err != nil || len(top.Paths) != 2 || top.Path(1, 2) == nil {
		t.Errorf("topology %+v, %v", top, err)
	}
	if x, _ := b.XGMI(ctx, 1); x.Links[0].State != smi.LinkDown || x.Links[1].State != smi.LinkUp {
		t.Errorf("links of card 1: %+v", x.Links)
	}
	b.now = b.now.Add(time.Hour)
	b.inject(smi.Fault{Kind: smi.FaultGone, Clear: true})
	m := b.metrics(0)
	if m.Energy.Or(0) < energy || float64(m.Energy.Or(0)) > float64(energy)+1 || b.told[0].Gone {
		t.Errorf("back after an hour: %v J, before %v J", m.Energy, energy)
	}
	for name, q := range ask {
		if err := q(0); err != nil {
			t.Errorf("%s of the card that is back: %v", name, err)
		}
	}
	want := []string{smi.EventLost, smi.EventECC, smi.EventFound, smi.EventECC}
	if got := b.happened(); !slices.Equal(got, want) {
		t.Errorf("happened %q, want %q", got, want)
	}
}

// TestEventsReachReaders: each reader gets every event, in order, until it leaves or
// the source is closed.
func TestEventsReachReaders(t *testing.T) {
	b := newBench(t, "gfx942", 1)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var wg sync.WaitGroup
	var got [2][]string
	var errs [2]error
	ready := make(chan struct{}, 2)
	for i := range got {
		wg.Go(func() {
			c, stop := ctx, context.CancelFunc(func() {})
			if i == 1 {
				c, stop = context.WithCancel(context.Background())
			}
			defer stop()
			errs[i] = b.Events(c, func(e smi.Event) {
				got[i] = append(got[i], e.Kind)
				if len(got[i]) == 3 {
					ready <- struct{}{}
				}
			})
		})
	}
	for {
		b.events.mu.Lock()
		n := len(b.events.readers)
		b.events.mu.Unlock()
		if n == 3 { // and the bench itself
			break
		}
		time.Sleep(time.Millisecond)
	}
	b.inject(smi.Fault{Kind: smi.FaultReset})
	b.inject(smi.Fault{Kind: smi.FaultECC})
	<-ready
	<-ready
	cancel()
	b.Close()
	wg.Wait()
	want := []string{smi.EventPreReset, smi.EventPostReset, smi.EventECC}
	if !slices.Equal(got[0], want) || !slices.Equal(got[1], want) {
		t.Errorf("%q and %q", got[0], got[1])
	}
	if !errors.Is(errs[0], context.Canceled) || !errors.Is(errs[1], smi.ErrUnavailable) {
		t.Errorf("ended with %v and %v", errs[0], errs[1])
	}
}

// TestEventsOfSessions: processes that begin and end, and faults of their kernels.
func TestEventsOfSessions(t *testing.T) {
	b := newBench(t, "gfx942", 1)
	var faults []card.Fault
	b.faults = func() []card.Fault { f := faults; faults = nil; return f }
	use := func(pid int, used uint64) card.Use { return card.Use{PID: pid, Used: used} }
	b.read[0].Sessions = []card.Use{use(20, 1), use(10, 0)} // the second one has not used the card
	b.run(sampleEvery, 0, 0)
	b.read[0].Sessions = []card.Use{use(20, 0), use(10, 5)}
	faults = []card.Fault{{Card: 0, PID: 10, Addr: 0x1000, Kernel: "k"}, {Card: 99}}
	b.run(sampleEvery, 0, 0)
	b.expect(smi.EventProcessStart, smi.EventProcessStart, smi.EventProcessEnd, smi.EventVMFault)
}
