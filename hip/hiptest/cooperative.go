package hiptest

import (
	"encoding/binary"

	"github.com/rocwire/rocwire/hip"
)

// together says whether several devices can do something as one, which devices of
// different machines cannot.
func (e *env) together() bool { return e.peers() }

// peers says whether the first device reaches all others.
func (e *env) peers() bool {
	n, _ := e.GetDeviceCount()
	for i := range n {
		if can, code := e.DeviceCanAccessPeer(0, i); i != 0 && (code != hip.Success || can == 0) {
			return false
		}
	}
	return true
}

// Cooperative launches: all workgroups run at the same time and can wait for
// each other.
var cooperativeTests = []test{
	{"GridSync", func(e *env) {
		e.rounds(hip.Dim3{X: 40, Y: 1, Z: 1}, hip.Dim3{X: 100, Y: 1, Z: 1}, 5)
		e.rounds(hip.Dim3{X: 3, Y: 4, Z: 5}, hip.Dim3{X: 8, Y: 3, Z: 7}, 3)
		e.rounds(hip.Dim3{X: 1, Y: 1, Z: 1}, hip.Dim3{X: 1024, Y: 1, Z: 1}, 3)
	}},
	// As many workgroups as occupancy promises: 8 waves on each SIMD of each compute unit.
	{"GridSyncOfWholeDevice", func(e *env) {
		p, err := e.GetDevicePropertiesR0600(0)
		e.ok("GetDeviceProperties", err)
		most := uint32(p.MultiProcessorCount) * uint32(p.MaxThreadsPerMultiProcessor/64)
		e.rounds(hip.Dim3{X: most, Y: 1, Z: 1}, hip.Dim3{X: 64, Y: 1, Z: 1}, 2)
		l := &hip.Launch{Function: e.kernel("grid", "grid_rounds"), Grid: hip.Dim3{X: most + 1, Y: 1, Z: 1}, Block: hip.Dim3{X: 64, Y: 1, Z: 1},
			Flags: hip.LaunchCooperative, Args: pack(hip.Ptr(0), hip.Ptr(0), uint32(0))}
		e.is("one workgroup more", e.LaunchKernel(e.th, l), hip.ErrorCooperativeLaunchTooLarge)
	}},
	// Two launches at a time do not get into each other's way.
	{"GridSyncOnStreams", func(e *env) {
		s1, s2 := e.stream(nonBlocking), e.stream(nonBlocking)
		l1, check1 := e.gridLaunch(hip.Dim3{X: 30, Y: 1, Z: 1}, hip.Dim3{X: 64, Y: 1, Z: 1}, 20)
		l2, check2 := e.gridLaunch(hip.Dim3{X: 50, Y: 1, Z: 1}, hip.Dim3{X: 128, Y: 1, Z: 1}, 20)
		l1.Stream, l2.Stream = s1, s2
		e.ok("LaunchKernel", e.LaunchKernel(e.th, l1))
		e.ok("LaunchKernel", e.LaunchKernel(e.th, l2))
		e.ok("StreamSynchronize", e.StreamSynchronize(e.th, s1))
		e.ok("StreamSynchronize", e.StreamSynchronize(e.th, s2))
		check1()
		check2()
	}},
	// The grids of several devices wait for each other.
	{"MultiDevice", func(e *env) {
		const noSync = hip.CooperativeLaunchMultiDeviceNoPreSync | hip.CooperativeLaunchMultiDeviceNoPostSync
		if !e.together() {
			return
		}
		list, check := e.multiLaunch(10, 4)
		e.ok("LaunchKernelMultiDevice", e.LaunchKernelMultiDevice(e.th, list, 0))
		for i := range list { // the streams have been waited for
			e.ok("StreamQuery", e.StreamQuery(e.th, list[i].Stream))
		}
		check()
		list, check = e.multiLaunch(3, 2)
		e.ok("without waiting", e.LaunchKernelMultiDevice(e.th, list, noSync))
		for i := range list {
			e.ok("StreamSynchronize", e.StreamSynchronize(e.th, list[i].Stream))
		}
		check()
		e.is("no launches", e.LaunchKernelMultiDevice(e.th, nil, 0), hip.ErrorInvalidValue)
		e.is("unknown flags", e.LaunchKernelMultiDevice(e.th, list, 4), hip.ErrorInvalidValue)
		e.is("too many", e.LaunchKernelMultiDevice(e.th, append(list[:len(list):len(list)], list[0]), 0), hip.ErrorInvalidValue)
		wrong := list[0]
		wrong.Stream = hip.StreamNull
		e.is("the null stream", e.LaunchKernelMultiDevice(e.th, []hip.Launch{wrong}, 0), hip.ErrorInvalidHandle)
		wrong = list[0]
		wrong.Grid.X = 1 << 20
		e.is("too large", e.LaunchKernelMultiDevice(e.th, []hip.Launch{wrong}, 0), hip.ErrorCooperativeLaunchTooLarge)
		if len(list) > 1 {
			e.is("one device twice", e.LaunchKernelMultiDevice(e.th, []hip.Launch{list[0], list[0]}, 0), hip.ErrorInvalidDevice)
		}
	}},
	{"Semaphore", func(e *env) {
		if e.arch != "gfx90a" {
			return // gfx942 has no use for global wave sync
		}
		counter := e.upload(u32s(0))
		launch := func(kernel string, args ...any) {
			e.ok("LaunchKernel", e.LaunchKernel(e.th, &hip.Launch{Function: e.kernel("grid", kernel), Grid: hip.Dim3{X: 30, Y: 1, Z: 1},
				Block: hip.Dim3{X: 64, Y: 1, Z: 1}, Flags: hip.LaunchCooperative, Args: pack(args...)}))
			e.sync()
		}
		launch("semaphore", counter, uint32(20))
		if got := u32At(e.download(counter, 4), 0); got != 600 {
			e.Errorf("the counter is %d, want 600", got)
		}
		e.write(counter, u32s(0))
		launch("release_all", counter)
		if got := u32At(e.download(counter, 4), 0); got != 29<<16|29 {
			e.Errorf("%#x: 29 workgroups were to wait and be let go", got)
		}
	}},
}

// gridLaunch is a launch of grid_rounds, and what checks its results.
func (e *env) gridLaunch(grid, block hip.Dim3, rounds uint32) (l *hip.Launch, check func()) {
	e.Helper()
	counter, out := e.upload(u32s(0)), e.upload(make([]byte, 4*rounds))
	l = &hip.Launch{Function: e.kernel("grid", "grid_rounds"), Grid: grid, Block: block, Flags: hip.LaunchCooperative, Args: pack(counter, out, rounds)}
	return l, func() {
		e.Helper()
		all := grid.X * grid.Y * grid.Z * block.X * block.Y * block.Z * rounds
		if got := u32At(e.download(counter, 4), 0); got != all {
			e.Errorf("%v workgroups of %v: %d threads have counted, want %d", grid, block, got, all)
		}
		for i, late := 0, e.download(out, int(4*rounds)); i < int(rounds); i++ {
			if n := binary.LittleEndian.Uint32(late[4*i:]); n != 0 {
				e.Errorf("%v workgroups of %v: in round %d %d threads went on before all had come", grid, block, i, n)
			}
		}
	}
}

func (e *env) rounds(grid, block hip.Dim3, rounds uint32) {
	e.Helper()
	l, check := e.gridLaunch(grid, block, rounds)
	e.ok("LaunchKernel", e.LaunchKernel(e.th, l))
	e.sync()
	check()
}

// multiLaunch is a launch of multi_rounds on every device: groups workgroups of
// 64 threads on the first, one more on each of the others. check looks at its results.
func (e *env) multiLaunch(groups, rounds uint32) (list []hip.Launch, check func()) {
	e.Helper()
	n, err := e.GetDeviceCount()
	e.ok("GetDeviceCount", err)
	counter, out, about := e.upload(u32s(0)), e.upload(make([]byte, 4*rounds)), e.upload(make([]byte, 32*n))
	all := uint32(0)
	for i := range n {
		th := hip.Thread{ID: e.th.ID, Device: i}
		m, err := e.ModuleLoadData(th, e.image("grid"))
		e.ok("ModuleLoadData", err)
		f, err := e.ModuleGetFunction(th, m, "multi_rounds")
		e.ok("ModuleGetFunction", err)
		s, err := e.StreamCreateWithPriority(th, 0, 0)
		e.ok("StreamCreate", err)
		list = append(list, hip.Launch{Function: f, Grid: hip.Dim3{X: groups + uint32(i), Y: 1, Z: 1}, Block: hip.Dim3{X: 64, Y: 1, Z: 1}, Stream: s,
			Flags: hip.LaunchCooperative, Args: pack(counter, out, rounds, uint32(0), about)})
		all += 64 * (groups + uint32(i))
	}
	return list, func() {
		e.Helper()
		if got := u32At(e.download(counter, 4), 0); got != all*rounds {
			e.Errorf("%d threads have counted, want %d", got, all*rounds)
		}
		for i, late := 0, e.download(out, int(4*rounds)); i < int(rounds); i++ {
			if n := u32At(late, i); n != 0 {
				e.Errorf("in round %d %d threads went on before all had come", i, n)
			}
		}
		before := uint64(0)
		for i, b := int32(0), e.download(about, int(32*n)); i < n; i++ {
			le, b := binary.LittleEndian, b[32*i:]
			if le.Uint64(b) != uint64(i) || le.Uint64(b[8:]) != uint64(n) || le.Uint64(b[16:]) != before || le.Uint64(b[24:]) != uint64(all) {
				e.Errorf("grid %d of %d was told % x", i, n, b[:32])
			}
			before += 64 * uint64(groups+uint32(i))
		}
	}
}
