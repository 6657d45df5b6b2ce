package simgpu

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"reflect"
	"syscall"
	"testing"
	"time"

	"github.com/rocwire/rocwire/examples/kernels"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/card"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
)

func TestSourceConforms(t *testing.T) {
	for arch := range products {
		t.Run(arch, func(t *testing.T) {
			smitest.Run(t, func(t *testing.T) smi.Source {
				r := newRuntime(t, Options{Arch: arch, Cards: 2})
				allocate(t, r, 1<<20)
				return newTestSource(t, r)
			})
		})
	}
}

func newTestSource(t *testing.T, r *Runtime) *Source {
	t.Helper()
	s, err := NewSource(Options{Arch: r.o.Arch, Segment: r.Segment()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// fakeCard is a card whose counters and clock the test moves.
type fakeCard struct {
	card.Card
	now time.Time
}

func (f *fakeCard) source(p *product) *Source {
	f.now = time.Unix(1_700_000_000, 0)
	f.Capacity = 1 << 30
	return newSource(p, func() []card.Card { return []card.Card{f.Card} }, func() time.Time { return f.now })
}

// step lets time pass in samples, busy for a share of it.
func (f *fakeCard) step(t *testing.T, s *Source, d time.Duration, share float64, class card.Class) *smi.Metrics {
	t.Helper()
	var m *smi.Metrics
	for end := f.now.Add(d); f.now.Before(end); {
		f.now = f.now.Add(sampleEvery)
		f.Busy += uint64(float64(sampleEvery) * share)
		if share > 0 {
			f.Work.Instructions[class] += 1000
			f.Work.Lanes[class] += 64000
		}
		var err error
		if m, err = s.Metrics(context.Background(), 0); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func TestMetricsFollowTheWork(t *testing.T) {
	p := products["gfx942"]
	var f fakeCard
	s := f.source(p)
	idle := f.step(t, s, 3*time.Second, 0, 0)
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-6*math.Max(1, math.Abs(want)) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	near("idle activity", float64(idle.Activity.GFX.Or(-1)), 0)
	near("idle power", float64(idle.Power.Socket.Or(-1)), p.physical.IdlePower)
	near("idle energy", float64(idle.Energy.Or(-1)), 3*p.physical.IdlePower)
	near("idle clock", float64(idle.Clock(smi.ClockGFX).Or(-1)), p.physical.GFXIdle)

	f.Used, f.Host = 123<<20, 5<<20
	half := f.step(t, s, 2*time.Second, 0.5, card.VALU)
	near("activity", float64(half.Activity.GFX.Or(-1)), 0.5)
	near("memory", float64(half.VRAM.Used.Or(0)), 123<<20)
	near("host memory", float64(half.GTT.Used.Or(0)), 5<<20)
	full := f.step(t, s, 2*time.Second, 1, card.MFMA)
	near("activity", float64(full.Activity.GFX.Or(-1)), 1)
	draw := func(m *smi.Metrics) float64 { return float64(m.Power.Average.Or(-1)) }
	if !(draw(idle) < draw(half) && draw(half) < draw(full) && draw(full) <= p.physical.MaxPower) {
		t.Errorf("power %v, %v, %v W", draw(idle), draw(half), draw(full))
	}
	temp := func(m *smi.Metrics) float64 { return float64(m.Temperature(smi.SensorHotspot).Or(-1)) }
	if !(temp(idle) < temp(half) && temp(half) < temp(full)) {
		t.Errorf("hotspot %v, %v, %v °C", temp(idle), temp(half), temp(full))
	}
	// The window slides: a second after the work the card is idle again, still
	// warm, and its energy has grown by what it drew.
	after := f.step(t, s, 1100*time.Millisecond, 0, 0)
	near("activity afterwards", float64(after.Activity.GFX.Or(-1)), 0)
	if temp(after) <= temp(idle) || temp(after) >= temp(full) {
		t.Errorf("hotspot %v °C a second after %v °C", temp(after), temp(full))
	}
	near("energy afterwards", float64(after.Energy.Or(0)-full.Energy.Or(0)), 1.1*p.physical.IdlePower)
	if n := len(s.cards[0].samples); n > int(window/sampleEvery)+2 {
		t.Errorf("%d samples are kept", n)
	}
}

// TestHalfwayThroughWindow: activity is the share of the last second.
func TestHalfwayThroughWindow(t *testing.T) {
	var f fakeCard
	s := f.source(products["gfx90a"])
	f.step(t, s, 5*time.Second, 0, 0)
	m := f.step(t, s, 300*time.Millisecond, 1, card.VALU)
	if got := float64(m.Activity.GFX.Or(-1)); math.Abs(got-0.3) > 1e-6 {
		t.Errorf("activity %v after 0.3 s of work", got)
	}
	// Asked again at the same moment it says the same.
	again, err := s.Metrics(context.Background(), 0)
	if err != nil || !reflect.DeepEqual(again.Activity, m.Activity) {
		t.Errorf("asked again: %+v, %v", again, err)
	}
}

// TestSourceSeesKernels: what a runtime does shows up, while it does it.
func TestSourceSeesKernels(t *testing.T) {
	r := newRuntime(t, Options{})
	s := newTestSource(t, r)
	ctx := context.Background()
	p := allocate(t, r, 10<<20)
	f := load(t, r, "spin", "spin_forever")
	list, err := s.Processes(ctx, 0)
	if err != nil || len(list) != 1 || list[0].PID != uint32(os.Getpid()) || list[0].VRAM.Or(0) < 10<<20 || list[0].CUOccupancy.Or(-1) != 0 {
		t.Fatalf("before: %+v, %v", list, err)
	}
	start(t, r, f, 0, uint64(p))
	deadline := time.Now().Add(time.Minute)
	for {
		m, err := s.Metrics(ctx, 0)
		if err != nil {
			t.Fatal(err)
		}
		use := s.Use(0)
		if m.Activity.GFX.Or(0) > 0.9 && m.Power.Socket.Or(0) > smi.Watts(r.product.physical.IdlePower)+10 &&
			m.Clock(smi.ClockGFX).Or(0) > smi.Hertz(r.product.physical.GFXIdle) && len(use) == 1 && use[0].Work.Instructions[card.VMEM] > 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("an endless kernel does not show: %+v, %+v", m, use)
		}
		time.Sleep(20 * time.Millisecond)
	}
	list, err = s.Processes(ctx, 0)
	if err != nil || len(list) != 1 || list[0].CUOccupancy.Or(0) != 1 || list[0].Busy.Or(0) == 0 {
		t.Errorf("during: %+v, %v", list, err)
	}
	if u := s.Use(0); u[0].Kernel != "spin_forever" || u[0].Running != 1 {
		t.Errorf("use: %+v", u)
	}
	must(t, "DeviceReset", r.DeviceReset(thread))
	if u := s.Use(0); u[0].Running != 0 || u[0].Used != 0 {
		t.Errorf("after the reset: %+v", u)
	}
}

func TestSourceClosed(t *testing.T) {
	r := newRuntime(t, Options{})
	s := newTestSource(t, r)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := s.Metrics(context.Background(), 0); !errors.Is(err, smi.ErrUnavailable) {
		t.Errorf("Metrics after Close: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

const childEnv = "ROCWIRE_SIMGPU_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		childSession()
	}
	os.Exit(m.Run())
}

// childSession is a session process: it takes memory and runs a kernel that
// never ends.
func childSession() {
	fail := func(what string, err any) {
		fmt.Println(what, err)
		os.Exit(1)
	}
	seat, err := card.Open(3, 4, 5)
	if err != nil {
		fail("Open", err)
	}
	r, err := New(Options{Session: seat})
	if err != nil {
		fail("New", err)
	}
	p, e := r.Malloc(thread, 32<<20)
	if e != hip.Success {
		fail("Malloc", e)
	}
	image, err := kernels.Object(DefaultArch, "spin")
	if err != nil {
		fail("spin", err)
	}
	m, e := r.ModuleLoadData(thread, image)
	if e != hip.Success {
		fail("ModuleLoadData", e)
	}
	f, e := r.ModuleGetFunction(thread, m, "spin_forever")
	if e != hip.Success {
		fail("ModuleGetFunction", e)
	}
	if e := r.LaunchKernel(thread, &hip.Launch{Function: f, Grid: hip.Dim3{X: 1, Y: 1, Z: 1}, Block: hip.Dim3{X: 64, Y: 1, Z: 1}, Args: binary.LittleEndian.AppendUint64(nil, uint64(p))}); e != hip.Success {
		fail("LaunchKernel", e)
	}
	fmt.Println("running")
	fmt.Println(r.DeviceSynchronize(thread).Name())
	for {
		time.Sleep(time.Hour)
	}
}

// TestSessionKilled kills a session process with SIGKILL in the middle of a
// kernel: nothing of it stays, other sessions work on, totals remain.
func TestSessionKilled(t *testing.T) {
	seg, err := CreateSegment(Options{MemoryBytes: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(seg.Close)
	src, err := NewSource(Options{Segment: seg})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	own := newRuntime(t, Options{Segment: seg})

	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"=1")
	seat, err := seg.Seat()
	if err != nil {
		t.Fatal(err)
	}
	cmd.ExtraFiles = seat.Files()
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	seat.Started(cmd.Process.Pid)
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	line, _ := bufio.NewReader(out).ReadString('\n')
	if line != "running\n" {
		t.Fatalf("the session said %q", line)
	}
	find := func() *smi.Process {
		list, err := src.Processes(context.Background(), 0)
		if err != nil {
			t.Fatal(err)
		}
		for i := range list {
			if list[i].PID == uint32(cmd.Process.Pid) {
				return &list[i]
			}
		}
		return nil
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if p := find(); p != nil && p.VRAM.Or(0) >= 32<<20 && p.Busy.Or(0) > 0 && p.CUOccupancy.Or(0) == 1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the session does not show: %+v", find())
		}
	}
	_, e := own.Malloc(thread, 48<<20)
	is(t, "Malloc while the session lives", e, hip.ErrorOutOfMemory)

	_ = cmd.Process.Signal(syscall.SIGKILL)
	_ = cmd.Wait()
	src.Reap(cmd.Process.Pid)
	if p := find(); p != nil {
		t.Errorf("the session still shows: %+v", p)
	}
	m, err := src.Metrics(context.Background(), 0)
	if err != nil || m.VRAM.Used.Or(1) != 0 {
		t.Errorf("used after the kill: %v, %v", m.VRAM.Used, err)
	}
	allocate(t, own, 48<<20)
	if c := src.read()[0]; c.Busy == 0 || c.Running != 0 {
		t.Errorf("the card's totals after the kill: %+v", c.Counters)
	}
	own.Close()
}
