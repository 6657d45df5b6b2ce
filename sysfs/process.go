package sysfs

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// usage is everyone's use of all cards at one moment.
type usage struct {
	at      time.Time
	compute map[uint64][]kfdRow // by gpu_id
	kfdErr  error
	drm     map[smi.BDF][]held
	host    bool // the numbers in proc are the host's
}

// users keeps the last usage for the few moments in which all cards are asked one
// after the other.
type users struct {
	mu   sync.Mutex
	last *usage
}

// Processes implements smi.Source. PIDs are the host's. A process that has the card
// open both for computing and for graphics is one row, whose memory is the compute
// driver's figure: the other counts the same memory once more.
func (s *source) Processes(ctx context.Context, index int) ([]smi.Process, error) {
	return ask(ctx, s, "processes", index, smi.CloneProcesses, s.processes)
}

func (s *source) processes(c *card) ([]smi.Process, error) {
	if err := c.present(); err != nil {
		return nil, err
	}
	u := s.usage()
	top := s.kfd.read()
	parts := top.gpus(c.BDF.Or(smi.BDF{}))
	if u.kfdErr != nil && !u.host {
		if smi.CodeOf(u.kfdErr) == smi.ErrNoPermission {
			return nil, u.kfdErr
		}
		return nil, smi.Errorf(smi.ErrNotSupported, "the compute driver lists no processes, and %s does not number them as the host does", s.tree.path("proc"))
	}
	rows := map[uint32]*smi.Process{}
	row := func(pid uint32, origin string) *smi.Process {
		p := rows[pid]
		if p == nil {
			p = &smi.Process{Device: c.Index, PID: pid, Origin: origin}
			rows[pid] = p
		}
		return p
	}
	for _, part := range parts {
		for _, r := range u.compute[part.gpuID] {
			p := row(r.pid, smi.OriginKFD)
			sumOf(&p.VRAM, r.vram)
			sumOf(&p.SDMA, r.sdma)
			sumOf(&p.Evicted, r.evicted)
			if n, ok := r.cuOccupancy.Get(); ok {
				p.CUOccupancy = smi.Some(p.CUOccupancy.Or(0) + n)
			}
		}
	}
	for _, h := range u.drm[c.BDF.Or(smi.BDF{})] {
		p := row(h.pid, smi.OriginFDInfo)
		if !p.VRAM.Ok() {
			p.VRAM = h.vram
		}
		p.GTT, p.HostMemory, p.GFXTime, p.EncodeTime = h.gtt, h.cpu, h.gfx, h.media
	}
	size := figure(c, "mem_info_vram_total", memory)
	units := computeUnits(parts)
	var out []smi.Process
	for _, p := range rows {
		// The driver counts waves, which can be more than the units a moment later.
		if n, ok := units.Get(); ok && p.CUOccupancy.Or(0) > n {
			p.CUOccupancy = smi.Some(n)
		}
		if p.VRAM.Or(0) > size.Or(1<<56) {
			p.VRAM = smi.None[smi.Bytes]()
		}
		if u.host {
			p.Name = s.procs.name(p.PID)
		}
		out = append(out, *p)
	}
	slices.SortFunc(out, func(a, b smi.Process) int { return cmp.Compare(a.PID, b.PID) })
	return out, nil
}

// usage reads everyone's use, or has just been read.
func (s *source) usage() *usage {
	s.users.mu.Lock()
	defer s.users.mu.Unlock()
	if u := s.users.last; u != nil && time.Since(u.at) < s.scanFresh {
		return u
	}
	u := &usage{host: s.procs.host()}
	u.compute, u.kfdErr = kfdRows(s.tree)
	if u.host {
		u.drm = s.procs.clients()
	} else if s.procs.have {
		s.once("processes are not numbered here as on the host: those that use a card for graphics only are not shown", "proc", s.tree.path("proc"))
	}
	u.at = time.Now()
	s.users.last = u
	return u
}
