package simgpu

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/rocwire/rocwire/codeobject"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/card"
	"github.com/rocwire/rocwire/simgpu/exec"
	"github.com/rocwire/rocwire/simgpu/queue"
	"github.com/rocwire/rocwire/simgpu/vmem"
)

// launch is a checked kernel launch.
type launch struct {
	f             *function
	global, block [3]uint32 // threads; threads of a workgroup
	groups        uint64
	lds           uint32 // dynamic
	cooperative   bool
	args          []byte
	start, stop   *queue.Mark
	grid          gridSync // of a cooperative launch
}

// LaunchKernel queues a kernel. Errors that show at once are those of HIP 6.4:
// ErrorInvalidValue for an empty grid or workgroup, too many threads, too much LDS or
// arguments that are missing, ErrorInvalidConfiguration for a grid of
// more threads than can be counted, ErrorLaunchFailure for a workgroup
// larger than the kernel was compiled for, ErrorCooperativeLaunchTooLarge.
func (r *Runtime) LaunchKernel(t hip.Thread, l *hip.Launch) hip.Error {
	_, e := r.enter(t)
	if e != hip.Success {
		return e
	}
	defer r.leave()
	st, k, marks, e := r.prepare(t, l)
	if e != hip.Success {
		return e
	}
	st.launch(k, marks)
	return hip.Success
}

// prepare checks a launch against its stream, function and events.
func (r *Runtime) prepare(t hip.Thread, l *hip.Launch) (st *stream, k *launch, marks [2]*event, e hip.Error) {
	if l.Function == 0 {
		return nil, nil, marks, hip.ErrorInvalidHandle
	}
	if st, e = r.stream(t, l.Stream); e == hip.ErrorContextIsDestroyed {
		return nil, nil, marks, hip.ErrorInvalidValue
	} else if e != hip.Success {
		return nil, nil, marks, e
	}
	f, ok := r.functions.get(l.Function)
	if !ok {
		return nil, nil, marks, hip.ErrorInvalidHandle
	}
	if f.m.d != st.d {
		return nil, nil, marks, hip.ErrorInvalidDevice
	}
	if k, e = st.d.check(f, l); e != hip.Success {
		return nil, nil, marks, e
	}
	for i, h := range [2]hip.Event{l.Start, l.Stop} {
		if h == 0 {
			continue
		}
		if marks[i], ok = r.events.get(h); !ok || marks[i].d != st.d || marks[i].shared != nil {
			return nil, nil, marks, hip.ErrorInvalidHandle // shared events have no times
		}
	}
	k.args = bytes.Clone(l.Args)
	return st, k, marks, hip.Success
}

// launchSize is what a queued launch takes beside its arguments, in bytes.
const launchSize = 256

// launch queues a kernel that prepare has checked, between its events.
func (st *stream) launch(k *launch, marks [2]*event) {
	if marks[0] != nil {
		k.start = st.d.queues.NewMark()
	}
	if marks[1] != nil {
		k.stop = st.d.queues.NewMark()
	}
	// The grids of a launch on several devices wait for each other: one that is not to run must tell.
	fence := st.q.Add(queue.Task{Always: k.grid.shared != nil, Size: launchSize + len(k.args), Run: func() {
		if e := st.d.status(); e != hip.Success && k.grid.shared != nil {
			k.grid.abandon()
			k.grid.end()
			return
		}
		st.d.run(st, k)
	}})
	for i, m := range [2]*queue.Mark{k.start, k.stop} {
		if m != nil {
			m.Set(fence)
			marks[i].set(m)
		}
	}
}

// check checks the sizes of a launch and what the kernel needs.
func (d *device) check(f *function, l *hip.Launch) (*launch, hip.Error) {
	k := &launch{f: f, lds: l.SharedMem, cooperative: l.Flags&hip.LaunchCooperative != 0, groups: 1}
	grid, block := [3]uint32{l.Grid.X, l.Grid.Y, l.Grid.Z}, [3]uint32{l.Block.X, l.Block.Y, l.Block.Z}
	global := [3]uint32{l.GlobalSize.X, l.GlobalSize.Y, l.GlobalSize.Z}
	sized := global != [3]uint32{}
	if !sized && grid[0] > maxGridX {
		return nil, hip.ErrorInvalidValue
	}
	threads := uint64(1)
	for i := range 3 {
		n := uint64(global[i])
		if !sized {
			n = uint64(grid[i]) * uint64(block[i])
		}
		switch {
		case n == 0:
			return nil, hip.ErrorInvalidValue
		case block[i] == 0, n > 1<<32-1:
			return nil, hip.ErrorInvalidConfiguration
		case block[i] > maxThreads:
			return nil, hip.ErrorInvalidValue
		}
		threads *= uint64(block[i])
		k.global[i] = uint32(n)
		k.block[i] = min(block[i], uint32(n)) // as HIP does with a single, partial workgroup
		g := (n + uint64(k.block[i]) - 1) / uint64(k.block[i])
		if k.groups > (1<<62)/g {
			return nil, hip.ErrorInvalidConfiguration
		}
		k.groups *= g
	}
	kn := f.kernel
	if threads > maxThreads {
		return nil, hip.ErrorInvalidValue
	}
	if kn.MaxFlatWorkgroupSize != 0 && threads > uint64(kn.MaxFlatWorkgroupSize) {
		d.r.o.Logf("simgpu: card %d: kernel %s launched with %d threads, it was compiled for %d at most", d.id, kn.Name, threads, kn.MaxFlatWorkgroupSize)
		return nil, hip.ErrorLaunchFailure
	}
	if lds := uint64(kn.GroupSize) + uint64(k.lds); lds > uint64(d.r.product.arch.LDS()) {
		d.r.o.Logf("simgpu: card %d: kernel %s launched with %d bytes of LDS, a workgroup can have %d", d.id, kn.Name, lds, d.r.product.arch.LDS())
		return nil, hip.ErrorInvalidValue
	}
	if kn.UniformWorkgroupSize {
		for i := range 3 {
			if k.global[i]%k.block[i] != 0 {
				return nil, hip.ErrorInvalidValue
			}
		}
	}
	if (len(kn.Args) > 0 || len(kn.Hidden) > 0) && len(l.Args) < int(kn.ExplicitSize) {
		d.r.o.Logf("simgpu: card %d: kernel %s takes %d bytes of arguments, %d were passed", d.id, kn.Name, kn.ExplicitSize, len(l.Args))
		return nil, hip.ErrorInvalidValue
	}
	if k.cooperative && k.groups > d.r.product.resident(kn, uint32(threads), k.lds) {
		return nil, hip.ErrorCooperativeLaunchTooLarge
	}
	return k, hip.Success
}

// resident is how many workgroups of a kernel a card holds at a time.
func (p *product) resident(k *codeobject.Kernel, threads uint32, lds uint32) uint64 {
	return k.Resident(codeobject.ComputeUnit{Threads: threadsPerUnit, LDS: uint64(p.arch.LDS())}, threads, uint64(lds)) * uint64(p.multiprocessors())
}

// accountEvery is how often the work of a running kernel is accounted.
const accountEvery = 20 * time.Millisecond

// run executes a kernel in its stream's turn.
func (d *device) run(st *stream, l *launch) {
	defer l.grid.end()
	kn := l.f.kernel
	s := d.r.space.Load()
	mem, e := d.args.take(d, uint64(kn.KernargSize))
	if e != hip.Success {
		l.grid.abandon()
		d.fail(st, hip.ErrorLaunchOutOfResources, "no memory for the arguments of kernel "+kn.Name)
		return
	}
	defer d.args.give(d, mem)
	hidden := codeobject.Hidden{DynamicLDSSize: l.lds, QueuePtr: d.args.queue, SharedBase: sharedBaseHi, PrivateBase: privateBaseHi}
	if l.cooperative {
		l.grid.put(vmem.Raw(mem.sync, gridSyncLen), uint32(l.groups))
		hidden.MultigridSync = mem.sync
	}
	services, e := d.serve(l.f.m, kn, &hidden)
	if e != hip.Success {
		l.grid.abandon()
		d.fail(st, hip.ErrorLaunchOutOfResources, "no memory for what kernel "+kn.Name+" needs of its host")
		return
	}
	hidden.SetGrid(l.global, l.block)
	putPacket(vmem.Raw(mem.packet, packetLen), l, mem.args)
	if err := kn.FillKernarg(vmem.Raw(mem.args, uint64(kn.KernargSize)), l.args, &hidden); err != nil {
		l.grid.abandon()
		services.end()
		d.fail(st, hip.ErrorInvalidValue, err.Error())
		return
	}
	x := exec.Dispatch{
		Program: s.program, Memory: s.view(d), Kernel: kn.Name, Entry: l.f.entry, Desc: l.f.desc,
		Kernarg: mem.args, DispatchPtr: mem.packet, QueuePtr: d.args.queue,
		Grid: l.global, Group: l.block, DynamicLDS: l.lds, Cooperative: l.cooperative,
		OnMessage: services.interrupt,
	}
	defer d.r.alone(&x, &l.grid)()
	ctx, release := l.grid.context(d.context())
	defer release()
	err := d.execute(ctx, &x, st.share, int(min(l.groups, uint64(st.units()))), func() {
		if l.start != nil {
			l.start.Now()
		}
	}, services.poll)
	if err != nil {
		l.grid.abandon()
	}
	services.end()
	if l.stop != nil {
		l.stop.Now()
	}
	if errors.Is(err, exec.ErrTrap) && services.asserted() {
		d.fail(st, hip.ErrorAssert, err.Error())
		return
	}
	d.kernelFault(st, err)
}

// execute executes a dispatch on so many compute units, with a share of the process's cores, and accounts it. begin is called before the first instruction,
// poll now and then from one of the goroutines that execute.
func (d *device) execute(ctx context.Context, x *exec.Dispatch, share *exec.Share, units int, begin, poll func()) error {
	d.watch(x)
	begin()
	d.meter.Begin(x.Kernel, units)
	d.hold(ctx)
	var done exec.Stats // executed and not accounted yet
	told := time.Now()
	pace := pacer{d: d, ctx: ctx, begin: told}
	x.Share = share
	x.OnStats = func(s *exec.Stats) (pause func()) {
		done.Add(s)
		now := time.Now()
		if now.Sub(told) >= accountEvery {
			told = now
			d.meter.Work(workOf(&done))
			done = exec.Stats{}
		}
		poll()
		return pace.turn(now)
	}
	_, err := x.Run(ctx, min(units, d.r.o.Workers))
	done.Dispatches++
	d.meter.Work(workOf(&done))
	d.meter.End(units)
	return err
}

// workOf is an execution's statistics as the card counts them.
func workOf(s *exec.Stats) *card.Work {
	w := &card.Work{
		Dispatches: s.Dispatches, Workgroups: s.Workgroups, Waves: s.Waves,
		ReadBytes: s.ReadBytes, WriteBytes: s.WriteBytes, Atomics: s.Atomics, FLOPs: s.FLOPs,
	}
	for c, k := range classes {
		w.Instructions[k] = s.Instructions[c]
		w.Lanes[k] = s.Lanes[c]
	}
	return w
}

// classes are the card's names for the instruction classes of execution.
var classes = [exec.NumClasses]card.Class{
	exec.SALU: card.SALU, exec.SMEM: card.SMEM, exec.Branch: card.Branch, exec.VALU: card.VALU,
	exec.MFMA: card.MFMA, exec.VMEM: card.VMEM, exec.LDS: card.LDS,
}
