// Package simbackend makes the simulated GPU the backend of a worker: the parent's cards and what it tells of them, and the runtime of a
// session process, which inherits a seat at the cards.
package simbackend

import (
	"flag"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/internal/visible"
	"github.com/rocwire/rocwire/simgpu"
	"github.com/rocwire/rocwire/simgpu/card"
	"github.com/rocwire/rocwire/worker"
)

// Name of the backend.
const Name = "sim"

// Options say what the cards are like. The zero value is one card.
type Options struct {
	Arch        string // "" is simgpu.DefaultArch
	MemoryBytes uint64 // of each card; 0 is a quarter of the machine's
	Cards       int    // 0 is one
	Watch       Watch  // what is looked for in kernels, and told of them
	Visible     []int  // indices of the cards that sessions use, nil: all. Sessions number them from 0 in this order
}

// New makes the cards.
func New(o Options, log *slog.Logger) (worker.Backend, error) {
	so := simgpu.Options{Arch: o.Arch, MemoryBytes: o.MemoryBytes, Cards: o.Cards}
	seg, err := simgpu.CreateSegment(so)
	if err != nil {
		return worker.Backend{}, err
	}
	devices := o.Visible
	if devices == nil {
		for i := range seg.Cards() {
			devices = append(devices, i)
		}
	}
	for _, d := range devices {
		if d < 0 || d >= seg.Cards() {
			seg.Close()
			return worker.Backend{}, fmt.Errorf("there is no card %d: %d are simulated", d, seg.Cards())
		}
	}
	so.Segment = seg
	so.Logf = logf(log)
	src, err := simgpu.NewSource(so)
	if err != nil {
		seg.Close()
		return worker.Backend{}, err
	}
	return worker.Backend{
		Name: Name, Source: src, Devices: devices, Seat: func() (worker.Seat, error) { return newSeat(seg, src) },
		Args:  append([]string{"--backend", Name, "--arch", o.Arch, "--visible", join(devices)}, o.Watch.args()...),
		Usage: src.Held, Free: func(card int) uint64 { return seg.Capacity(card) - min(seg.Used(card), seg.Capacity(card)) }, Capacity: seg.Capacities(), Own: own,
	}, nil
}

// own is what a session process takes for itself: the program, what it has translated of kernels, buffers of the connection.
const own = 256 << 20

func join(v []int) string {
	s := make([]string, len(v))
	for i, n := range v {
		s[i] = strconv.Itoa(n)
	}
	return strings.Join(s, ",")
}

// allowed are those of the cards that a session may use; positions is nil for all.
func allowed(cards, positions []int) []int {
	if positions == nil {
		return slices.Clone(cards)
	}
	var list []int
	for i, c := range cards {
		if slices.Contains(positions, i) {
			list = append(list, c)
		}
	}
	return list
}

func logf(log *slog.Logger) func(string, ...any) {
	if log == nil {
		return nil
	}
	return func(format string, args ...any) { log.Warn(fmt.Sprintf(format, args...)) }
}

// Session is the session process's side: how it opens its runtime. args are those of New's backend.
func Session(args []string, log *slog.Logger) (*worker.SessionProcess, error) {
	f := flag.NewFlagSet("session", flag.ContinueOnError)
	backend, arch, cards := f.String("backend", Name, ""), f.String("arch", "", ""), f.String("visible", "", "")
	var watch Watch
	watch.AddFlags(f)
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if *backend != Name {
		return nil, fmt.Errorf("backend %q", *backend)
	}
	var devices []int
	for _, s := range strings.Split(*cards, ",") {
		n, err := strconv.Atoi(s)
		if err != nil {
			return nil, fmt.Errorf("visible cards %q", *cards)
		}
		devices = append(devices, n)
	}
	options, err := watch.options()
	if err != nil {
		return nil, err
	}
	var seat *card.Session
	return &worker.SessionProcess{
		Log: log,
		Prepare: func() (err error) {
			seat, err = card.Open(worker.FirstFile, worker.FirstFile+1, worker.FirstFile+2)
			return err
		},
		Open: func(s worker.Session) (worker.Opened, error) {
			var report atomic.Pointer[func(int32, hip.Stream, hip.Error, string)]
			var output atomic.Pointer[func(bool, []byte)]
			// A card that does not answer is not there for programs that start now.
			there := slices.DeleteFunc(allowed(devices, s.Cards), func(d int) bool { return seat.Condition(d).Gone })
			uuids := make([]string, len(there))
			for i, d := range there {
				uuids[i] = simgpu.UUID(*arch, d)
			}
			chosen := visible.Choose(s.Offer.ROCrDevices, s.Offer.Devices, uuids)
			for i, n := range chosen {
				chosen[i] = there[n]
			}
			if len(chosen) == 0 {
				return worker.Opened{}, hip.ErrorNoDevice
			}
			options := options
			options.Arch, options.Session, options.Visible, options.Broker, options.Logf = *arch, seat, chosen, s.Broker, logf(log.With("session", s.ID))
			options.OnAsyncError = func(device int32, st hip.Stream, e hip.Error, detail string) {
				if f := report.Load(); f != nil {
					(*f)(device, st, e, detail)
				}
			}
			options.OnOutput = func(stderr bool, text []byte) {
				if f := output.Load(); f != nil {
					(*f)(stderr, text)
				}
			}
			rt, err := simgpu.New(options)
			if err != nil {
				return worker.Opened{}, err
			}
			return worker.Opened{
				Runtime: watch.runtime(rt), Name: Name, ChecksHandles: true,
				Faults:       func(f func(int32, hip.Stream, hip.Error, string)) { report.Store(&f) },
				Output:       func(f func(bool, []byte)) { output.Store(&f) },
				Untranslated: rt.Untranslated, Ended: rt.TellProfile,
			}, nil
		},
	}, nil
}
