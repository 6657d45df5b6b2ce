package simgpu

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/rocwire/rocwire/examples/kernels"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/smi"
)

func inject(t *testing.T, s *Source, f smi.Fault) {
	t.Helper()
	if err := s.Inject(context.Background(), 0, f); err != nil {
		t.Fatalf("%+v: %v", f, err)
	}
}

// TestHungKernelWaits: new kernels do not get on while the card hangs, and do after.
func TestHungKernelWaits(t *testing.T) {
	r := newRuntime(t, Options{})
	s := newTestSource(t, r)
	p := allocate(t, r, 4096)
	f := load(t, r, "spin", "spin")
	inject(t, s, smi.Fault{Kind: smi.FaultHang})
	start(t, r, f, 0, uint64(p), 1, 64)
	must(t, "Memset", r.MemsetAsync(thread, p, 7, 64, 0))
	side, e := r.StreamCreateWithPriority(thread, 1, 0)
	must(t, "StreamCreate", e)
	must(t, "MemsetAsync on an idle stream", r.MemsetAsync(thread, p+1024, 7, 64, side)) // must not wait here
	time.Sleep(20 * hangLook)
	is(t, "StreamQuery", r.StreamQuery(thread, 0), hip.ErrorNotReady)
	is(t, "StreamQuery", r.StreamQuery(thread, side), hip.ErrorNotReady)
	out := make([]byte, 4)
	must(t, "a copy beside the queues that hang", r.MemcpyAsync(thread, hip.Ptr(uintptr(unsafe.Pointer(&out[0]))), p+2048, 4, hip.MemcpyDeviceToHost, second(t, r)))
	inject(t, s, smi.Fault{Kind: smi.FaultHang, Clear: true})
	must(t, "DeviceSynchronize", r.DeviceSynchronize(thread))
}

// second is another stream that waits for nobody.
func second(t *testing.T, r *Runtime) hip.Stream {
	t.Helper()
	st, e := r.StreamCreateWithPriority(thread, hip.StreamNonBlocking, 0)
	must(t, "StreamCreate", e)
	return st
}

// running starts an endless kernel and waits until it executes.
func running(t *testing.T, r *Runtime, s *Source) {
	t.Helper()
	start(t, r, load(t, r, "spin", "spin_forever"), 0, uint64(allocate(t, r, 4096)))
	for deadline := time.Now().Add(time.Minute); s.Use(0)[0].Work.TotalInstructions() == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the kernel does not run")
		}
	}
}

// TestHungKernelStops: a kernel that runs executes nothing more while the card hangs.
func TestHungKernelStops(t *testing.T) {
	r := newRuntime(t, Options{})
	s := newTestSource(t, r)
	running(t, r, s)
	inject(t, s, smi.Fault{Kind: smi.FaultHang})
	executed := func() uint64 { return s.Use(0)[0].Work.TotalInstructions() }
	deadline := time.Now().Add(time.Minute)
	for last, same := executed(), 0; same < 10; {
		time.Sleep(2 * accountEvery)
		if n := executed(); n != last {
			last, same = n, 0
		} else {
			same++
		}
		if time.Now().After(deadline) {
			t.Fatal("the kernel runs on")
		}
	}
	before := executed()
	inject(t, s, smi.Fault{Kind: smi.FaultHang, Clear: true})
	for executed() == before {
		if time.Now().After(deadline) {
			t.Fatal("the kernel does not go on")
		}
		time.Sleep(time.Millisecond)
	}
	// It can be ended while it hangs, too.
	inject(t, s, smi.Fault{Kind: smi.FaultHang})
	must(t, "DeviceReset", r.DeviceReset(thread))
}

// TestResetEndsContexts: a reset ends what runs, with an error that stays until the
// program resets the device; a process that begins afterwards notices nothing.
func TestResetEndsContexts(t *testing.T) {
	var l log
	var told atomic.Int32
	var once sync.Once
	heard := make(chan struct{})
	r := newRuntime(t, Options{Logf: l.printf, OnAsyncError: func(_ int32, _ hip.Stream, e hip.Error, _ string) {
		told.Store(int32(e))
		once.Do(func() { close(heard) })
	}})
	s := newTestSource(t, r)
	running(t, r, s)
	inject(t, s, smi.Fault{Kind: smi.FaultHang})
	inject(t, s, smi.Fault{Kind: smi.FaultReset})
	is(t, "DeviceSynchronize", r.DeviceSynchronize(thread), hip.ErrorLaunchFailure)
	<-heard
	if e := hip.Error(told.Load()); e != hip.ErrorLaunchFailure {
		t.Errorf("told %v", e)
	}
	_, e := r.Malloc(thread, 4096)
	is(t, "Malloc after the reset", e, hip.ErrorLaunchFailure)
	must(t, "DeviceReset", r.DeviceReset(thread))
	allocate(t, r, 4096)
	must(t, "DeviceSynchronize", r.DeviceSynchronize(thread))

	other, err := New(Options{Segment: r.Segment()})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	_, e = other.Malloc(thread, 4096)
	must(t, "Malloc of a program that begins after the reset", e)
}

func TestGoneEndsContexts(t *testing.T) {
	r := newRuntime(t, Options{})
	s := newTestSource(t, r)
	running(t, r, s)
	inject(t, s, smi.Fault{Kind: smi.FaultGone})
	is(t, "DeviceSynchronize", r.DeviceSynchronize(thread), hip.ErrorNoDevice)
	is(t, "DeviceReset", r.DeviceReset(thread), hip.ErrorNoDevice)
	inject(t, s, smi.Fault{Kind: smi.FaultGone, Clear: true})
	_, e := r.Malloc(thread, 4096)
	is(t, "Malloc when the card is back", e, hip.ErrorNoDevice)
	must(t, "DeviceReset", r.DeviceReset(thread))
	allocate(t, r, 4096)
}

// TestSlowerLink: with a slow link copies take longer, by as much as the link is slower.
func TestSlowerLink(t *testing.T) {
	r := newRuntime(t, Options{})
	d := r.devices[0]
	if got := d.slowLink(time.Millisecond); got != time.Millisecond {
		t.Errorf("at full speed a copy takes %v instead of 1 ms", got)
	}
	s := newTestSource(t, r)
	inject(t, s, smi.Fault{Kind: smi.FaultLink, Width: smi.Some(4)})
	if got := d.slowLink(time.Millisecond); got < 4*time.Millisecond {
		t.Errorf("over a quarter of the lanes a copy takes %v instead of 1 ms", got)
	}
}

// TestPacer: a kernel on a slowed card pauses for the share that its clock lacks.
func TestPacer(t *testing.T) {
	r := newRuntime(t, Options{})
	s := newTestSource(t, r)
	d := r.devices[0]
	p := pacer{d: d, ctx: d.context(), begin: time.Now().Add(-10 * time.Millisecond)}
	if err := s.Set(context.Background(), 0, smi.Setting{PerfLevel: smi.PerfLow}); err != nil {
		t.Fatal(err)
	}
	if c := d.meter.Condition(); c.Slower != 762 { // 500 of 2100 MHz
		t.Fatalf("slower by %d", c.Slower)
	}
	begin := time.Now()
	p.turn(begin)() // ten milliseconds of work, 32 of pause
	if took := time.Since(begin); took < 32*time.Millisecond {
		t.Errorf("paused for %v", took)
	}
}

// TestOtherProcess: a session in a process of its own learns of a reset, and can be
// killed while the card hangs.
func TestOtherProcess(t *testing.T) {
	seg, err := CreateSegment(Options{MemoryBytes: 256 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(seg.Close)
	src, err := NewSource(Options{Segment: seg})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	child := func() (*exec.Cmd, *bufio.Reader) {
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
		in := bufio.NewReader(out)
		if line, _ := in.ReadString('\n'); line != "running\n" {
			t.Fatalf("the session said %q", line)
		}
		return cmd, in
	}
	inject(t, src, smi.Fault{Kind: smi.FaultHang})
	_, in := child()
	stuck, _ := child()
	_ = stuck.Process.Signal(syscall.SIGKILL)
	_ = stuck.Wait()
	src.Reap(stuck.Process.Pid)
	inject(t, src, smi.Fault{Kind: smi.FaultReset})
	if line, _ := in.ReadString('\n'); line != "hipErrorLaunchFailure\n" {
		t.Errorf("the session said %q", line)
	}
	list, err := src.Processes(context.Background(), 0)
	if err != nil || len(list) != 1 {
		t.Errorf("processes %+v, %v", list, err)
	}
}

// TestFaultIsAnEvent: a kernel that touches memory it has not is told of, with the
// address and the process.
func TestFaultIsAnEvent(t *testing.T) {
	r := newRuntime(t, Options{})
	s := newTestSource(t, r)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	q, err := s.events.open()
	if err != nil {
		t.Fatal(err)
	}
	p := allocate(t, r, 4096)
	const index = 1 << 40
	start(t, r, load(t, r, "fault", "store_at"), 0, uint64(p), index, 1)
	is(t, "DeviceSynchronize", r.DeviceSynchronize(thread), hip.ErrorIllegalAddress)
	for {
		list, err := q.Next(ctx, 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			if e.Kind != smi.EventVMFault {
				continue
			}
			if e.PID != uint32(os.Getpid()) || e.Device != 0 || !strings.Contains(e.Message, "store_at") || !strings.Contains(e.Message, fmt.Sprintf("%#x", uint64(p)+4*index)) {
				t.Errorf("%+v", e)
			}
			return
		}
	}
}

// TestHungCardAlone: a kernel on a card that hangs, or pauses, keeps no core from
// kernels of other cards.
func TestHungCardAlone(t *testing.T) {
	r := newRuntime(t, Options{Cards: 2, Workers: 1})
	s := newTestSource(t, r)
	running(t, r, s)
	inject(t, s, smi.Fault{Kind: smi.FaultHang})
	other := hip.Thread{Device: 1}
	image, err := kernels.Object(r.product.target.Processor, "spin")
	if err != nil {
		t.Fatal(err)
	}
	m, e := r.ModuleLoadData(other, image)
	must(t, "ModuleLoadData", e)
	f, e := r.ModuleGetFunction(other, m, "spin")
	must(t, "ModuleGetFunction", e)
	p, e := r.Malloc(other, 4096)
	must(t, "Malloc", e)
	args := binary.LittleEndian.AppendUint64(nil, uint64(p))
	args = binary.LittleEndian.AppendUint64(args, 10)
	args = binary.LittleEndian.AppendUint32(args, 64)
	must(t, "LaunchKernel", r.LaunchKernel(other, &hip.Launch{Function: f, Grid: hip.Dim3{X: 1, Y: 1, Z: 1}, Block: hip.Dim3{X: 64, Y: 1, Z: 1}, Args: args}))
	for limit := time.Now().Add(time.Minute); r.StreamQuery(other, 0) == hip.ErrorNotReady; time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("the kernel on the other card does not end")
		}
	}
	must(t, "DeviceSynchronize", r.DeviceSynchronize(other))
	is(t, "StreamQuery of the card that hangs", r.StreamQuery(thread, 0), hip.ErrorNotReady)
	must(t, "DeviceReset", r.DeviceReset(thread))
}
