package provider

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// rack is a source of two cards that can be divided, MI300X-like: as a driver does, it
// shows the parts of a divided card as devices of their own, but only when it is opened
// anew.
type rack struct {
	mu     sync.Mutex
	mode   [2]string
	used   map[[2]int]uint32 // process by card and part
	setErr error
	opened int
	whole  bool  // parts are told by Partitions, and are no devices
	hidden bool  // parts are not told at all
	silent error // what Partitions answers
}

func newRack() *rack { return &rack{mode: [2]string{"SPX", "SPX"}, used: map[[2]int]uint32{}} }

var rackModes = map[string]int{"SPX": 1, "DPX": 2, "QPX": 4, "CPX": 8}

// host is a provider's host over the rack.
func (r *rack) host(t *testing.T) *host { return r.hostOf(t, "", true) }

// hostOf is one with a file for its ledger, on the rack's machine or elsewhere.
func (r *rack) hostOf(t *testing.T, file string, local bool) *host {
	t.Helper()
	h := newHost(func(*slog.Logger) (Origin, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.opened++
		v := &view{rack: r}
		for c, m := range r.mode {
			for p := range rackModes[m] {
				if (r.whole || r.hidden) && p > 0 {
					break
				}
				v.list = append(v.list, [2]int{c, p})
			}
		}
		return Origin{Source: v, Local: local}, nil
	}, slog.New(slog.DiscardHandler))
	h.ledger.file = file
	t.Cleanup(h.shutdown)
	return h
}

// view is what one opening of the rack shows.
type view struct {
	smi.Unimplemented
	rack *rack
	list [][2]int // card and part of each device
}

func (v *view) device(i int) smi.Device {
	c := v.list[i][0]
	d := smi.Device{Index: i, Name: "AMD Instinct MI300X", Target: "gfx942", UUID: fmt.Sprintf("12FF74A1-0000-1000-8012-%012X", 0xabc0+c)}
	d.BDF = smi.Some(smi.BDF{Bus: uint8(0x10 + c), Function: uint8(v.list[i][1])})
	return d
}

func (v *view) at(i int) error {
	if i < 0 || i >= len(v.list) {
		return smi.NoDevice(i, len(v.list))
	}
	return nil
}

func (v *view) Devices(context.Context) (list []smi.Device, err error) {
	for i := range v.list {
		list = append(list, v.device(i))
	}
	return list, nil
}

func (v *view) Info(_ context.Context, i int) (*smi.Info, error) {
	if err := v.at(i); err != nil {
		return nil, err
	}
	v.rack.mu.Lock()
	defer v.rack.mu.Unlock()
	parts := rackModes[v.rack.mode[v.list[i][0]]]
	in := &smi.Info{Device: v.device(i)}
	in.ASIC = smi.ASIC{DeviceID: smi.Some(uint32(0x74a1)), ComputeUnits: smi.Some(304 / parts)}
	in.IDs = smi.IDs{Partition: smi.Some(uint32(v.list[i][1])), DRMRender: smi.Some(uint32(128 + 8*v.list[i][0] + v.list[i][1])), HIP: smi.Some(uint32(i))}
	in.VRAM.Size = smi.Some(smi.Bytes(192 << 30))
	in.NUMA.Node = smi.Some(v.list[i][0])
	return in, nil
}

func (v *view) Metrics(_ context.Context, i int) (*smi.Metrics, error) {
	if err := v.at(i); err != nil {
		return nil, err
	}
	m := &smi.Metrics{Time: time.Now()}
	m.Power.Socket = smi.Some(smi.Watts(100 + i))
	return m, nil
}

func (v *view) Processes(_ context.Context, i int) ([]smi.Process, error) {
	if err := v.at(i); err != nil {
		return nil, err
	}
	v.rack.mu.Lock()
	defer v.rack.mu.Unlock()
	if pid := v.rack.used[v.list[i]]; pid != 0 {
		return []smi.Process{{Device: i, PID: pid, VRAM: smi.Some(smi.Bytes(48 << 30)), CUOccupancy: smi.Some(19)}}, nil
	}
	return nil, nil
}

func (v *view) Partitions(_ context.Context, i int) (*smi.Partitions, error) {
	if err := v.at(i); err != nil {
		return nil, err
	}
	v.rack.mu.Lock()
	defer v.rack.mu.Unlock()
	if v.rack.silent != nil {
		return nil, v.rack.silent
	}
	p := &smi.Partitions{Compute: v.rack.mode[v.list[i][0]], Memory: "NPS1", Memories: []string{"NPS1", "NPS4"}}
	for _, m := range []string{"SPX", "DPX", "QPX", "CPX"} {
		p.Profiles = append(p.Profiles, smi.PartitionProfile{Index: len(p.Profiles), Type: m, Partitions: rackModes[m]})
	}
	if n := rackModes[p.Compute]; v.rack.whole && n > 1 {
		for k := range n {
			p.Parts = append(p.Parts, smi.Part{DRMRender: smi.Some(uint32(128 + 8*v.list[i][0] + k)), HIP: smi.Some(uint32(k))})
		}
	}
	return p, nil
}

func (v *view) Set(_ context.Context, i int, s smi.Setting) error {
	if err := v.at(i); err != nil {
		return err
	}
	v.rack.mu.Lock()
	defer v.rack.mu.Unlock()
	if v.rack.setErr != nil {
		return v.rack.setErr
	}
	if s.ComputePartition == "" || rackModes[s.ComputePartition] == 0 {
		return smi.ErrNotSupported
	}
	v.rack.mode[v.list[i][0]] = s.ComputePartition
	return nil
}

// use makes a process use a part.
func (r *rack) use(card, part int, pid uint32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used[[2]int{card, part}] = pid
}

func (r *rack) modes() [2]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.mode
}
