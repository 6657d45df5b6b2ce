package simgpu

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/rocwire/rocwire/simgpu/card"
	"github.com/rocwire/rocwire/smi"
)

// Processes are the sessions that use a card.
func (s *Source) Processes(ctx context.Context, index int) ([]smi.Process, error) {
	var list []smi.Process
	err := s.look(ctx, index, func(g *gauge) {
		rows := map[int]*smi.Process{}
		for _, u := range g.now.Sessions {
			if !touched(&u) {
				continue
			}
			units := min(u.Units, int(s.product.computeUnits))
			if u.Running == 0 {
				units = 0
			}
			if p := rows[u.PID]; p != nil { // a process with several runtimes
				p.VRAM = smi.Some(p.VRAM.Or(0) + smi.Bytes(u.Used))
				p.GTT = smi.Some(p.GTT.Or(0) + smi.Bytes(u.Host))
				p.Busy = smi.Some(p.Busy.Or(0) + smi.Duration(u.Busy))
				p.SDMA = smi.Some(p.SDMA.Or(0) + smi.Duration(u.CopyBusy))
				p.CUOccupancy = smi.Some(min(p.CUOccupancy.Or(0)+units, int(s.product.computeUnits)))
				continue
			}
			rows[u.PID] = &smi.Process{
				Device: index, PID: uint32(u.PID), Name: g.processes.seen[u.PID].name, VRAM: smi.Some(smi.Bytes(u.Used)), GTT: smi.Some(smi.Bytes(u.Host)),
				Busy: smi.Some(smi.Duration(u.Busy)), SDMA: smi.Some(smi.Duration(u.CopyBusy)),
				Evicted: smi.Some(smi.Duration(0)), CUOccupancy: smi.Some(units), Origin: smi.OriginSim,
			}
		}
		for _, p := range rows {
			list = append(list, *p)
		}
	})
	if err != nil {
		return nil, err
	}
	sortByPID(list)
	return list, nil
}

// processName is the name of a process of this machine, "" if it is gone.
func processName(pid int) string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

func sortByPID(list []smi.Process) {
	slices.SortFunc(list, func(a, b smi.Process) int { return cmp.Compare(a.PID, b.PID) })
}

// touched reports whether a session has ever used the card.
func touched(u *card.Use) bool {
	return u.Used != 0 || u.Host != 0 || u.Busy != 0 || u.CopyBusy != 0
}

// processes are those that used a card when it was looked at last.
type processes struct {
	seen map[int]seenProcess // by process id
	look uint64
}

type seenProcess struct {
	name string // when it was seen first
	look uint64 // in which it was seen last
}

// watchProcesses tells of processes that begin and end to use a card. mu is held.
func (s *Source) watchProcesses(index int) {
	g := &s.cards[index]
	p := &g.processes
	if p.seen == nil {
		p.seen = map[int]seenProcess{}
	}
	p.look++
	for i := range g.now.Sessions {
		u := &g.now.Sessions[i]
		if !touched(u) {
			continue
		}
		v, ok := p.seen[u.PID]
		if !ok {
			v = s.begins(index, u.PID)
		}
		v.look = p.look
		p.seen[u.PID] = v
	}
	var ended []int
	for pid, v := range p.seen {
		if v.look != p.look {
			ended = append(ended, pid)
			delete(p.seen, pid)
		}
	}
	slices.Sort(ended)
	for _, pid := range ended {
		s.event(index, smi.EventProcessEnd, uint32(pid), "")
	}
}

// begins tells of a process that uses a card. mu is held.
func (s *Source) begins(index, pid int) seenProcess {
	v := seenProcess{name: processName(pid)}
	s.event(index, smi.EventProcessStart, uint32(pid), v.name)
	return v
}

// leaves takes a process that has ended out of what is known of a card, and tells of it if it has used that, although nobody may have looked meanwhile.
// mu is held.
func (s *Source) leaves(index, pid int, used bool) {
	g := &s.cards[index]
	g.now.Sessions = slices.DeleteFunc(g.now.Sessions, func(u card.Use) bool { return u.PID == pid })
	_, seen := g.processes.seen[pid]
	delete(g.processes.seen, pid)
	if used && !seen {
		s.begins(index, pid)
	}
	if used || seen {
		s.event(index, smi.EventProcessEnd, uint32(pid), "")
	}
}
