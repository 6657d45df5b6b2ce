package page

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/exporter/local"
	"github.com/rocwire/rocwire/exporter/push"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

// world is a machine with a worker whose figures change with a clock that only moves
// when it is told to.
type world struct {
	mu    sync.Mutex
	t     time.Time
	r     *rand.Rand
	base  []smi.DeviceSnapshot
	calls *rpcstats.Totals
	sums  []sum // of the sessions
	busy  map[string]float64
	edit  func(*exporter.Reading) // changes what is read
	sinks []push.Stats
}

type sum struct{ in, out, calls float64 }

func newWorld(cards, processes int) *world {
	w := &world{t: smitest.Then, r: rand.New(rand.NewPCG(1, 2)), base: smitest.Machine(cards, processes), calls: rpcstats.NewTotals(rpcstats.Names{}), busy: map[string]float64{}}
	w.sums = make([]sum, len(w.clients()))
	return w
}

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.t
}

// clients are the sessions that the cards' processes belong to.
func (w *world) clients() (list []smi.Session) {
	for i := range w.base {
		for _, p := range w.base[i].Processes {
			if p.Client == nil {
				continue
			}
			list = append(list, smi.Session{ID: p.Session, PID: p.PID, Client: *p.Client, Start: smitest.Then.Add(-time.Duration(len(list)+1) * 7 * time.Minute), Devices: []int{i}, VRAM: p.VRAM})
		}
	}
	return list
}

// load is how busy card i is at the moment, 0 to 1.
func (w *world) load(i int) float64 {
	m := w.t.Sub(smitest.Then).Minutes()
	return min(max(0.55+0.35*math.Sin(m/7+float64(i)*1.7)+0.1*math.Sin(m*2+float64(i)), 0), 1)
}

// advance lets time pass, and programs call.
func (w *world) advance(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.t = w.t.Add(d)
	for i := range w.sums {
		l := w.load(i%len(w.base)) * d.Seconds()
		w.sums[i].in += 40e6 * l
		w.sums[i].out += 12e6 * l
		w.sums[i].calls += 900 * l
	}
	for n, op := range []string{"hipMemcpy", "hipModuleLaunchKernel", "hipMalloc", "hipStreamSynchronize", "hipFree", "hipMemsetAsync", "hipEventQuery"} {
		for range 6 + w.r.IntN(6) {
			exec := []float64{180e-6, 9e-6, 25e-6, 4e-3, 12e-6, 7e-6, 2e-6}[n] * math.Exp(w.r.NormFloat64()*0.7) * (0.6 + w.load(0))
			queue, network, code := exec*0.2*w.r.Float64(), 45e-6*math.Exp(w.r.NormFloat64()*0.4), "hipSuccess"
			if op == "hipMalloc" && w.r.IntN(40) == 0 {
				code = "hipErrorOutOfMemory"
			}
			for side, v := range map[string]float64{"client": exec + queue + network, "worker": exec + queue, "queue": queue, "execution": exec, "network": network} {
				w.calls.Observe(op, side, code, v)
			}
		}
	}
}

func (w *world) read() exporter.Reading {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := exporter.Reading{Time: w.t, Sessions: w.clients(), Calls: w.calls.Calls()}
	var total sum
	for i := range r.Sessions {
		s, n := &r.Sessions[i], w.sums[i]
		s.BytesIn, s.BytesOut, s.Calls = smi.Some(smi.Bytes(n.in)), smi.Some(smi.Bytes(n.out)), smi.Some(uint64(n.calls))
		total = sum{total.in + n.in, total.out + n.out, total.calls + n.calls}
	}
	r.Totals = smi.SessionTotals{
		Started: smi.Some(uint64(len(r.Sessions) + 40)), Refused: smi.Some(uint64(0)), Calls: smi.Some(uint64(total.calls)),
		BytesIn: smi.Some(smi.Bytes(total.in)), BytesOut: smi.Some(smi.Bytes(total.out)),
	}
	for i := range w.base {
		c := exporter.Card{DeviceSnapshot: w.base[i], Fresh: true, Age: 400 * time.Millisecond}
		m, l := *c.Metrics, w.load(i)
		m.Stale = smi.None[smi.Duration]()
		m.Activity.GFX, m.Activity.UMC = smi.Some(smi.Ratio(l)), smi.Some(smi.Ratio(0.6*l))
		m.Power.Socket = smi.Some(smi.Watts(140 + 560*l))
		m.VRAM.Used = smi.Some(smi.Bytes((20 + 120*l) * (1 << 30)))
		m.Temperatures = append([]smi.Temperature(nil), m.Temperatures...)
		for j := range m.Temperatures {
			m.Temperatures[j].Current = smi.Some(smi.Celsius(38 + 42*l + float64(j)))
		}
		c.Metrics = &m
		c.Processes = append([]smi.Process(nil), c.Processes...)
		for j := range c.Processes {
			p := &c.Processes[j]
			p.Device = i
			p.Busy = smi.Some(smi.Duration(w.t.Sub(smitest.Then)) * smi.Duration(j+1) / 9)
		}
		r.Cards = append(r.Cards, c)
	}
	for i := range min(len(r.Sessions), 6) {
		r.Slow = append(r.Slow, rpcstats.SlowCall{
			Session: r.Sessions[i].ID, Client: rpcstats.Caller{Host: "node7", Executable: "/usr/bin/train", PID: uint32(4711 + i)}, Op: "hipModuleLaunchKernel", Code: "hipSuccess", Start: w.t.Add(-time.Duration(i*17) * time.Second), Kernel: "attention_forward",
			Total: time.Duration(90-9*i) * time.Millisecond, Queue: 6 * time.Millisecond, Network: 3 * time.Millisecond, Execution: time.Duration(81-9*i) * time.Millisecond,
		})
	}
	if len(r.Slow) > 1 {
		r.Slow[1].Session = "98" // which has ended
	}
	r.Local = w.local()
	if w.edit != nil {
		w.edit(&r)
	}
	return r
}

// local is what two programs of the machine itself did.
func (w *world) local() local.Reading {
	seconds := w.t.Sub(smitest.Then).Seconds()
	l := local.Reading{Libraries: 1}
	for i, name := range []string{"python3", "lammps"} {
		n := uint64(seconds * float64(40*(i+1)))
		l.Processes = append(l.Processes, local.Process{
			PID: uint32(3000 + 28*i), Name: name, Executable: "/usr/bin/" + name, Library: "/opt/rocm/lib/libamdhip64.so.6", User: "edsger", Since: smitest.Then, Launches: n / 2,
			Calls: []local.Call{
				{Op: "hipMemcpy", Codes: []local.Code{{Code: "hipSuccess", Count: n}}, Latency: rpcstats.Hist{Nanos: n * 300_000, Buckets: []rpcstats.Bucket{{Index: -94, Count: n}}}},
				{Op: "hipMalloc", Codes: []local.Code{{Code: "hipSuccess", Count: n / 9}, {Code: "hipErrorOutOfMemory", Count: n / 500}}, Latency: rpcstats.Hist{Nanos: n * 3000, Buckets: []rpcstats.Bucket{{Index: -120, Count: n/9 + n/500}}}},
			},
			Copies: []local.Copies{{Kind: "host_to_device", Count: n, Bytes: n << 20}},
			Device: local.Memory{Allocations: n / 9, Held: smi.Some(uint64(3+i) << 30)},
		})
	}
	return l
}

func (w *world) change(f func(*exporter.Reading)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.edit = f
}

// page is a page of the world, which has been looked at for some time.
func (w *world) page(t testing.TB, o Options, past time.Duration) *Page {
	t.Helper()
	o.Read, o.now = w.read, w.now
	if o.Place.Host == "" {
		o.Place = exporter.Place{Host: "gpu-node-3", Cluster: "zürich", Pool: "training"}
	}
	o.Version = "v1.2.3"
	o.Sinks = func() []push.Stats { return w.sinks }
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	w.pass(p, past)
	return p
}

// pass lets time pass for the world and its page.
func (w *world) pass(p *Page, d time.Duration) {
	for end := w.now().Add(d); w.now().Before(end); {
		p.sample()
		w.advance(p.opt.Step)
	}
	p.sample()
}

func serve(t testing.TB, p *Page) string {
	t.Helper()
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	return s.URL + "/"
}

func someSinks(now time.Time) []push.Stats {
	return []push.Stats{
		{Name: "otlp-metrics", Up: true, Sent: 7204, SentBytes: 31 << 20},
		{Name: "greptimedb", Waiting: 412, WaitingBytes: 3 << 20, Oldest: now.Add(-7 * time.Minute), Sent: 6710, SentBytes: 29 << 20, Failures: 38, Expired: 2, LastError: "dial tcp 10.0.3.7:4001: connect: connection refused"},
	}
}

func sprint(v any) string { return fmt.Sprint(v) }
