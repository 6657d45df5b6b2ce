package smiabi

import (
	"math"
	"testing"
	"time"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
)

func TestProcessList(t *testing.T) {
	c, _ := faked(t)
	var n uint32
	ok(t, amdsmiGetGPUProcessList(c.at(0), &n, nil))
	is(t, "processes", n, 2)
	n = 0
	buf := make([]procInfo, 3)
	ok(t, amdsmiGetGPUProcessList(c.at(0), &n, &buf[0]))
	is(t, "asked with room 0", n, 2)
	is(t, "nothing written", buf[0].pid, 0)
	n = 3
	ok(t, amdsmiGetGPUProcessList(c.at(0), &n, &buf[0]))
	is(t, "processes", n, 2)
	p := &buf[0]
	is(t, "name", text(p.name[:]), "hip-worker")
	is(t, "pid", p.pid, 4711)
	is(t, "memory", p.memoryUsage, procInfoMemoryUsage{vramMem: 4 << 30})
	is(t, "all memory", p.mem, 4<<30)
	is(t, "busy", p.engineUsage.gfx, uint64(90*time.Second))
	is(t, "sdma", p.sdmaUsage, 1_500_000)
	is(t, "units", p.cuOccupancy, 228)
	is(t, "evicted", p.evictedTime, math.MaxUint32)
	is(t, "units, not known", buf[1].cuOccupancy, math.MaxUint32)
	is(t, "sdma, not known", buf[1].sdmaUsage, math.MaxUint64)
	is(t, "beyond", buf[2].pid, 0)
	n, buf[1].pid = 1, 0
	is(t, "a small buffer", amdsmiGetGPUProcessList(c.at(0), &n, &buf[0]), AMDSMI_STATUS_OUT_OF_RESOURCES)
	is(t, "processes", n, 2)
	is(t, "beyond a small buffer", buf[1].pid, 0)
	n = 3
	is(t, "not told", amdsmiGetGPUProcessList(c.at(1), &n, &buf[0]), AMDSMI_STATUS_NO_PERM)
}

func TestProcessContainer(t *testing.T) {
	src := smitest.NewMachine(1, 1)
	c := opened(t, src)
	var p procInfo
	n := uint32(1)
	ok(t, amdsmiGetGPUProcessList(c.at(0), &n, &p))
	is(t, "container", text(p.containerName[:]), "server")
}

// two is two cards, which a process shares.
func two(t *testing.T) call {
	t.Helper()
	info := &smi.Info{ASIC: smi.ASIC{ComputeUnits: smi.Some(200)}}
	return opened(t, smitest.NewFake(
		smi.DeviceSnapshot{Info: info, Processes: []smi.Process{
			{PID: 9, Name: "shared", VRAM: smi.Some(smi.MiB(3)), SDMA: smi.Some(smi.Duration(5 * time.Microsecond)), CUOccupancy: smi.Some(50)},
			{PID: 10, Name: "one"},
		}},
		smi.DeviceSnapshot{Info: info, Processes: []smi.Process{
			{PID: 4, Name: "first"},
			{PID: 9, Name: "shared", VRAM: smi.Some(smi.MiB(4)), SDMA: smi.Some(smi.Duration(6 * time.Microsecond)), Evicted: smi.Some(smi.Duration(7 * time.Millisecond))},
		}},
		smi.DeviceSnapshot{Info: info, ProcessesErr: &smi.Failure{Code: smi.ErrIO}},
	))
}

func TestProcessListByPID(t *testing.T) {
	c := two(t)
	handles := []handle{c.at(0).handle(), c.at(1).handle(), c.at(2).handle()}
	var n uint32
	ok(t, amdsmiGetGPUProcessListByPid(c, &handles[0], 2, nil, &n))
	is(t, "processes", n, 3)
	buf := make([]procInfoByPid, 3)
	ok(t, amdsmiGetGPUProcessListByPid(c, &handles[0], 2, &buf[0], &n))
	for i, pid := range []uint32{4, 9, 10} {
		is(t, "pid", buf[i].pid, pid)
	}
	is(t, "name", text(buf[1].name[:]), "shared")
	is(t, "cards", buf[1].numGpus, 2)
	is(t, "second card", buf[1].gpus[1].gpuIndex, 1)
	is(t, "memory there", buf[1].gpus[1].memoryUsage.vramMem, 4<<20)
	n, buf[1].pid = 1, 0
	is(t, "a small buffer", amdsmiGetGPUProcessListByPid(c, &handles[0], 2, &buf[0], &n), AMDSMI_STATUS_OUT_OF_RESOURCES)
	is(t, "processes", n, 3)
	is(t, "beyond", buf[1].pid, 0)
	is(t, "a card that fails", amdsmiGetGPUProcessListByPid(c, &handles[0], 3, nil, &n), AMDSMI_STATUS_IO)
	is(t, "no cards", amdsmiGetGPUProcessListByPid(c, &handles[0], 0, nil, &n), AMDSMI_STATUS_INVAL)
	handles[0]--
	is(t, "no card", amdsmiGetGPUProcessListByPid(c, &handles[0], 1, nil, &n), AMDSMI_STATUS_NOT_FOUND)
}

func TestComputeProcesses(t *testing.T) {
	c := two(t)
	var n uint32
	ok(t, amdsmiGetGPUComputeProcessInfo(c, nil, &n))
	is(t, "processes", n, 3)
	buf := make([]processInfo, 3)
	ok(t, amdsmiGetGPUComputeProcessInfo(c, &buf[0], &n))
	is(t, "shared", buf[1], processInfo{processID: 9, vramUsage: 7, sdmaUsage: 11, cuOccupancy: 25, evictedTime: 7})
	is(t, "one", buf[2], processInfo{processID: 10, sdmaUsage: math.MaxUint64, cuOccupancy: math.MaxUint32, evictedTime: math.MaxUint32})
	n = 1
	is(t, "a small buffer", amdsmiGetGPUComputeProcessInfo(c, &buf[0], &n), AMDSMI_STATUS_INSUFFICIENT_SIZE)
	is(t, "written", n, 1)
	var p processInfo
	ok(t, amdsmiGetGPUComputeProcessInfoByPid(c, 9, &p))
	is(t, "the same", p, buf[1])
	is(t, "no process", amdsmiGetGPUComputeProcessInfoByPid(c, 5, &p), AMDSMI_STATUS_NOT_FOUND)
	ok(t, amdsmiGetGPUComputeProcessGpus(c, 9, nil, &n))
	is(t, "cards", n, 2)
	cards := [2]uint32{7, 7}
	ok(t, amdsmiGetGPUComputeProcessGpus(c, 9, &cards[0], &n))
	is(t, "cards", cards, [2]uint32{0, 1})
	n, cards[1] = 1, 7
	is(t, "a small buffer", amdsmiGetGPUComputeProcessGpus(c, 9, &cards[0], &n), AMDSMI_STATUS_INSUFFICIENT_SIZE)
	is(t, "beyond", cards[1], 7)
	is(t, "no process", amdsmiGetGPUComputeProcessGpus(c, 5, nil, &n), AMDSMI_STATUS_NOT_FOUND)

	dark := opened(t, smitest.NewFake(smi.DeviceSnapshot{ProcessesErr: &smi.Failure{Code: smi.ErrNoPermission}}))
	is(t, "no card tells", amdsmiGetGPUComputeProcessInfo(dark, nil, &n), AMDSMI_STATUS_NO_PERM)
	empty := opened(t, smitest.NewFake())
	ok(t, amdsmiGetGPUComputeProcessInfo(empty, nil, &n))
	is(t, "no cards", n, 0)
}
