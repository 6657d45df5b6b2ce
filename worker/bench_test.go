package worker

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/attribution"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
)

// BenchmarkSnapshot is a snapshot of 8 cards with 64 processes each, all of them different, with who they are: read as a source gives them,
// joined with a /proc (a built one, of ordinary files) and with 512 sessions. "first" meets each process for the first time.
func BenchmarkSnapshot(b *testing.B) {
	machine := smitest.Machine(8, 64)
	proc := b.TempDir()
	byPID := map[int]*sessionRecord{}
	for i := range machine {
		for j := range machine[i].Processes {
			p := &machine[i].Processes[j]
			id, uid := p.Container.ID, p.Container.PodUID
			if p.Client != nil {
				byPID[int(p.PID)] = &sessionRecord{id: uint64(len(byPID)), client: *p.Client}
			}
			writeProcess(b, proc, p.PID, p.Command, "/kubepods/burstable/pod"+uid+"/"+id)
			*p = smi.Process{Device: p.Device, PID: p.PID, VRAM: p.VRAM, GTT: p.GTT, SDMA: p.SDMA, CUOccupancy: p.CUOccupancy, Origin: p.Origin}
		}
	}
	open := func() *source {
		a := attribution.New(smitest.NewFake(machine...), attribution.Options{Proc: proc, Kubelet: attribution.NoKubelet, PodLogs: b.TempDir()})
		b.Cleanup(func() { _ = a.Close() })
		find := func(pid int) (*sessionRecord, bool) {
			r, ok := byPID[pid]
			return r, ok
		}
		return &source{Source: a, find: find, local: a.Local}
	}
	// take is a snapshot. On a busy machine that meets 512 processes at once some command lines come later.
	take := func(s *source, complete bool) {
		snap, err := s.Snapshot(b.Context())
		if err != nil || len(snap.Devices) != 8 || len(snap.Devices[7].Processes) != 64 {
			b.Fatal(err)
		}
		for i := range snap.Devices {
			for _, p := range snap.Devices[i].Processes {
				if complete && p.Command == "" || p.Container == nil || p.Container.PodUID == "" || (p.Client != nil) != (byPID[int(p.PID)] != nil) {
					b.Fatalf("%+v", p)
				}
			}
		}
	}
	run := func(b *testing.B, complete bool, next func() *source) {
		var used time.Duration
		for b.Loop() {
			b.StopTimer()
			s := next()
			b.StartTimer()
			before := cpuTime(b)
			take(s, complete)
			used += cpuTime(b) - before
		}
		b.ReportMetric(float64(used.Microseconds())/1000/float64(b.N), "cpu-ms/op")
	}
	b.Run("first", func(b *testing.B) { run(b, false, open) })
	b.Run("again", func(b *testing.B) {
		s := open()
		for range 5 {
			take(s, false)
			time.Sleep(time.Second) // until what came late is asked for again
		}
		run(b, true, func() *source { return s })
	})
}

// cpuTime is what this process has used of its processors.
func cpuTime(b *testing.B) time.Duration {
	var r unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

func writeProcess(b *testing.B, proc string, pid uint32, command, cgroup string) {
	b.Helper()
	dir := filepath.Join(proc, fmt.Sprint(pid))
	if err := os.Mkdir(dir, 0o755); err != nil {
		b.Fatal(err)
	}
	for name, content := range map[string]string{
		"stat":    fmt.Sprintf("%d (python3) S 1 1 1 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 %d 1000 100 0 0\n", pid, pid*7),
		"status":  fmt.Sprintf("Name:\tpython3\nPid:\t%d\nUid:\t0\t0\t0\t0\nNSpid:\t%d\t7\n", pid, pid),
		"cmdline": command, "cgroup": "0::" + cgroup + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			b.Fatal(err)
		}
	}
}
