package sysfs

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/sysfs/sysfstest"
)

func processes(t *testing.T, s *source, index int) []smi.Process {
	t.Helper()
	ps, err := s.Processes(t.Context(), index)
	if err != nil {
		t.Fatal(err)
	}
	return ps
}

// The compute driver lists a process under every card; it is shown where it holds
// memory or queues.
func TestComputeProcesses(t *testing.T) {
	tree := sysfstest.MI300X(t, 3)
	tree.Process(900, "train")
	tree.Compute(900, map[int]sysfstest.Use{
		0: {VRAM: 1 << 30, SDMA: 1500, Evicted: 20, Units: 300, Queues: 2},
		2: {Queues: 1}, // no memory yet
	})
	tree.Compute(77, map[int]sysfstest.Use{0: {VRAM: 4096}}) // has just ended: no name
	s := openTree(t, tree)
	equal(t, "card 0", processes(t, s, 0), []smi.Process{
		{PID: 77, Origin: smi.OriginKFD, VRAM: smi.Some[smi.Bytes](4096), SDMA: smi.Some[smi.Duration](0), Evicted: smi.Some[smi.Duration](0), CUOccupancy: smi.Some(0)},
		{PID: 900, Name: "train", Origin: smi.OriginKFD, VRAM: smi.Some[smi.Bytes](1 << 30), SDMA: smi.Some(smi.Duration(1500 * time.Microsecond)),
			Evicted: smi.Some(smi.Duration(20 * time.Millisecond)), CUOccupancy: smi.Some(300)},
	})
	equal(t, "card 1", processes(t, s, 1), nil)
	if ps := processes(t, s, 2); len(ps) != 1 || ps[0].PID != 900 || ps[0].Device != 2 {
		t.Errorf("card 2, where it has a queue: %+v", ps)
	}
	// The card cannot tell the occupancy; one that is above all units is cut to them.
	dir := fmt.Sprintf("sys/class/kfd/kfd/proc/900/stats_%d/cu_occupancy", tree.Cards[0].GPUID)
	tree.Write(dir, "-22\n")
	equal(t, "occupancy that is not known", processes(t, s, 0)[1].CUOccupancy, smi.None[int]())
	tree.Write(dir, "99999999\n")
	equal(t, "occupancy that is nonsense", processes(t, s, 0)[1].CUOccupancy, smi.None[int]())
	tree.Write(dir, "400\n")
	equal(t, "occupancy above all units", processes(t, s, 0)[1].CUOccupancy, smi.Some(304))
	// Further contexts of a process count with it.
	tree.Write(fmt.Sprintf("sys/class/kfd/kfd/proc/900/context_1/vram_%d", tree.Cards[0].GPUID), "1024\n")
	equal(t, "two contexts", processes(t, s, 0)[1].VRAM, smi.Some[smi.Bytes](1<<30+1024))
}

// A partitioned card is one card: its parts' figures are added.
func TestPartitionedCard(t *testing.T) {
	tree := sysfstest.MI300X(t, 2)
	c := tree.Cards[0]
	dir := "sys/class/kfd/kfd/topology/nodes/9/"
	tree.Write(dir+"gpu_id", "55555\n")
	tree.Write(dir+"properties", fmt.Sprintf("location_id %d\ndomain 0\nsimd_count 152\nsimd_per_cu 4\ngfx_target_version 90402\n", 0x0500|1))
	tree.Write("sys/class/kfd/kfd/topology/generation_id", "99\n")
	tree.Compute(5, map[int]sysfstest.Use{0: {VRAM: 100, Units: 3}})
	tree.Write("sys/class/kfd/kfd/proc/5/vram_55555", "28\n")
	tree.Write("sys/class/kfd/kfd/proc/5/stats_55555/cu_occupancy", "4\n")
	s := openTree(t, tree)
	ps := processes(t, s, 0)
	if len(ps) != 1 || ps[0].VRAM != smi.Some[smi.Bytes](128) || ps[0].CUOccupancy != smi.Some(7) {
		t.Errorf("a process on two parts of %s: %+v", c.BDF, ps)
	}
	info, err := s.Info(t.Context(), 0)
	if err != nil || info.ASIC.ComputeUnits != smi.Some(304+38) {
		t.Errorf("compute units of both parts: %+v, %v", info, err)
	}
	equal(t, "the other card", processes(t, s, 1), nil)
}

func TestGraphicsProcesses(t *testing.T) {
	tree := sysfstest.MI300X(t, 2)
	tree.Process(30, "blender")
	tree.Graphics(30, 5, 0, 7, 1000, 200, 500, 60)
	tree.Graphics(30, 6, 0, 7, 1000, 200, 500, 60) // the same client once more
	tree.Graphics(30, 7, 0, 8, 24, 0, 100, 0)
	tree.Graphics(30, 8, 1, 9, 0, 0, 0, 0) // open, never used
	tree.Process(31, "child")
	tree.Graphics(31, 5, 0, 7, 1000, 200, 500, 60) // inherited
	tree.Graphics(31, 9, 1, 10, 64, 0, 1, 0)
	tree.Process(32, "other")
	tree.Link("proc/32/fd/3", "/dev/null")
	s := openTree(t, tree)
	equal(t, "card 0", processes(t, s, 0), []smi.Process{{
		PID: 30, Name: "blender", Origin: smi.OriginFDInfo, VRAM: smi.Some[smi.Bytes](1024 << 10), GTT: smi.Some[smi.Bytes](200 << 10),
		HostMemory: smi.Some[smi.Bytes](0), GFXTime: smi.Some[smi.Duration](600), EncodeTime: smi.Some[smi.Duration](60),
	}})
	if ps := processes(t, s, 1); len(ps) != 1 || ps[0].PID != 31 || ps[0].VRAM != smi.Some[smi.Bytes](64<<10) {
		t.Errorf("card 1: %+v", ps)
	}
	// Computing and graphics of one process are one row; the memory is the compute
	// driver's, the rest is joined.
	tree.Compute(30, map[int]sysfstest.Use{0: {VRAM: 5 << 20}})
	p := processes(t, s, 0)[0]
	equal(t, "origin", p.Origin, smi.OriginKFD)
	equal(t, "memory", p.VRAM, smi.Some[smi.Bytes](5<<20))
	equal(t, "gtt", p.GTT, smi.Some[smi.Bytes](200<<10))
}

// In a container with its own process numbers, those of proc are not the host's: they
// are joined with nothing, and no name is looked up by them.
func TestContainer(t *testing.T) {
	for name, change := range map[string]func(*sysfstest.Tree){
		"namespace": func(t *sysfstest.Tree) { t.Link("proc/1/ns/pid", "pid:[4026532201]") },
		"hidden":    func(t *sysfstest.Tree) { t.Remove("proc/1") },
		"second process is none of the kernel's": func(t *sysfstest.Tree) {
			t.Remove("proc/1")
			t.Process(2, "kthreadd")
		},
	} {
		tree := sysfstest.MI300X(t, 1)
		change(tree)
		tree.Process(30, "inside")
		tree.Graphics(30, 5, 0, 7, 1000, 200, 500, 60)
		tree.Compute(30, map[int]sysfstest.Use{0: {VRAM: 4096}})
		s := openTree(t, tree)
		ps := processes(t, s, 0)
		if len(ps) != 1 || ps[0].Name != "" || ps[0].GTT.Ok() || ps[0].VRAM != smi.Some[smi.Bytes](4096) {
			t.Errorf("%s: %+v", name, ps)
		}
		tree.Remove("sys/class/kfd/kfd/proc")
		if _, err := s.Processes(t.Context(), 0); !errors.Is(err, smi.ErrNotSupported) {
			t.Errorf("%s, without the compute driver's list: %v", name, err)
		}
	}
	// The host is known by its second process too, for readers who may not see more.
	tree := sysfstest.MI300X(t, 1)
	tree.Remove("proc/1")
	tree.Write("proc/2/stat", "2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0 18446744073709551615 0 0 0 0 0 0 0 2147483647 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n")
	tree.Process(30, "outside")
	tree.Graphics(30, 5, 0, 7, 1000, 200, 500, 60)
	if ps := processes(t, openTree(t, tree), 0); len(ps) != 1 || ps[0].Name != "outside" {
		t.Errorf("on the host: %+v", ps)
	}
}

// A number that is given to another process belongs to that one, at once.
func TestReusedNumber(t *testing.T) {
	tree := sysfstest.MI300X(t, 1)
	tree.Process(30, "first")
	tree.Graphics(30, 5, 0, 7, 1000, 0, 0, 0)
	s := openTree(t, tree)
	if ps := processes(t, s, 0); len(ps) != 1 {
		t.Fatalf("%+v", ps)
	}
	tree.Remove("proc/30")
	equal(t, "ended", processes(t, s, 0), nil)
	tree.Process(30, "second")
	tree.Graphics(30, 9, 0, 8, 10, 0, 0, 0)
	if ps := processes(t, s, 0); len(ps) != 1 || ps[0].Name != "second" {
		t.Errorf("%+v", ps)
	}
}

// What may not be read is named.
func TestNoPermission(t *testing.T) {
	s := openTree(t, sysfstest.MI300X(t, 1))
	deny := func(suffix string, errno error) {
		for _, tr := range []*tree{&s.tree, &s.cards[0].tree, &s.kfd.tree} {
			tr.open = func(path string, flags int, mode uint32) (int, error) {
				if strings.HasSuffix(path, suffix) {
					return -1, errno
				}
				return unix.Open(path, flags, mode)
			}
		}
	}
	deny("/gpu_vram_bad_pages", unix.EACCES)
	_, err := s.BadPages(t.Context(), 0)
	if !errors.Is(err, smi.ErrNoPermission) || !strings.Contains(err.Error(), "gpu_vram_bad_pages") {
		t.Errorf("bad pages that may not be read: %v", err)
	}
	deny("/power1_cap", unix.EROFS)
	err = s.Set(t.Context(), 0, smi.Setting{PowerCap: smi.Some[smi.Watts](500)})
	if !errors.Is(err, smi.ErrNoPermission) || !strings.Contains(err.Error(), "hwmon4/power1_cap") {
		t.Errorf("a cap that may not be written: %v", err)
	}
	deny("/dev/kfd", unix.EACCES)
	if _, err := s.openKFDEvents(40000); !errors.Is(err, smi.ErrNoPermission) || !strings.Contains(err.Error(), "dev/kfd") {
		t.Errorf("/dev/kfd that may not be opened: %v", err)
	}
	// One file alone takes nothing else away.
	deny("/mem_info_vram_used", unix.EACCES)
	m := metrics(t, s, 0)
	if m.VRAM.Used.Ok() || !m.VRAM.Total.Ok() || !m.Activity.GFX.Ok() {
		t.Errorf("metrics with a file that may not be read: %+v", m)
	}
}
