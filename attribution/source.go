package attribution

import (
	"context"
	"log/slog"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// Options say where to look. The zero value is this machine.
type Options struct {
	// Proc is the /proc whose numbers the source counts processes by; "" is /proc. In a
	// container that is not in the host's PID namespace it is where the host's is
	// mounted.
	Proc string
	// Kubelet is the address of the kubelet's PodResources socket, like DefaultKubelet.
	// "" is that one if it exists, NoKubelet none.
	Kubelet string
	// PodLogs is the folder of the logs of this node's pods; "" is /var/log/pods.
	PodLogs string
	Sys     string // "" is /sys
	Log     *slog.Logger
}

// Source is a source whose processes are joined with who they are.
type Source struct {
	smi.Source
	tree  *tree
	cache *cache
	pods  *pods
	jobs  jobs
}

var (
	_ smi.Source      = (*Source)(nil)
	_ smi.Snapshotter = (*Source)(nil)
)

// New stands in front of src. Closing it closes src. An /proc that cannot be read is
// logged, and processes stay as src tells them.
func New(src smi.Source, o Options) *Source {
	def := func(s *string, d string) {
		if *s == "" {
			*s = d
		}
	}
	def(&o.Proc, "/proc")
	def(&o.PodLogs, "/var/log/pods")
	def(&o.Sys, "/sys")
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Source{Source: src}
	if t, err := openTree(o.Proc); err != nil {
		o.Log.Warn("who uses the GPUs is not known", "error", err)
	} else {
		s.tree, s.cache = t, newCache(t, newUsers())
		if t.foreign {
			o.Log.Info("the driver's process numbers mean nothing in this container; give the host's /proc to know who uses the GPUs", "proc", o.Proc)
		}
	}
	p, err := newPods(src, &o)
	if err != nil {
		o.Log.Warn("pods are not known", "error", err)
	}
	s.pods = p
	return s
}

// Unwrap is the source behind s.
func (s *Source) Unwrap() smi.Source { return s.Source }

// Processes implements smi.Source.
func (s *Source) Processes(ctx context.Context, index int) ([]smi.Process, error) {
	ps, err := s.Source.Processes(ctx, index)
	if err == nil {
		s.jobs.set(index, s.join(ctx, ps, s.patience()))
	}
	return ps, err
}

// Snapshot implements smi.Snapshotter.
func (s *Source) Snapshot(ctx context.Context) (*smi.Snapshot, error) {
	snap, err := smi.TakeSnapshot(ctx, s.Source)
	if err != nil {
		return nil, err
	}
	until := s.patience()
	for i := range snap.Devices {
		d := &snap.Devices[i]
		if ids := s.join(ctx, d.Processes, until); d.ProcessesErr == nil {
			s.jobs.set(d.Device.Index, ids)
		}
	}
	owners := s.Owners()
	for i := range snap.Devices {
		snap.Devices[i].Owners = owners[snap.Devices[i].Device.Index]
	}
	return snap, nil
}

// Local is the number by which this process knows a process that the source tells
// of: its own, unless Proc is that of an outer namespace. It is false where that is
// not known.
func (s *Source) Local(p *smi.Process) (uint32, bool) {
	if s.tree == nil || !s.tree.outer && !(s.tree.foreign && countsAsHost(p.Origin)) {
		return p.PID, true
	}
	if s.tree.foreign {
		return 0, false
	}
	id := s.cache.get(p.PID, time.Time{})
	if id == nil || id.local == 0 {
		return 0, false
	}
	return id.local, true
}

// Close implements smi.Source.
func (s *Source) Close() error {
	if s.pods != nil {
		s.pods.close()
	}
	return s.Source.Close()
}
