package simgpu

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/rocwire/rocwire/examples/kernels"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/vmem"
)

// multiLaunch is a launch of multi_rounds on each card, and where they count.
func multiLaunch(t *testing.T, r *Runtime, groups, rounds uint32) (list []hip.Launch, counter, out, about hip.Ptr) {
	t.Helper()
	image, err := kernels.Object(r.o.Arch, "grid")
	if err != nil {
		t.Fatal(err)
	}
	alloc := func(n uint64) hip.Ptr {
		p, e := r.HostMalloc(hip.Thread{ID: 1}, n, 0)
		ok(t, e)
		clear(vmem.Raw(uint64(p), n))
		return p
	}
	counter, out, about = alloc(4), alloc(uint64(4*rounds)), alloc(32*uint64(len(r.devices)))
	for i := range r.devices {
		th := hip.Thread{ID: 1, Device: int32(i)}
		m, e := r.ModuleLoadData(th, image)
		ok(t, e)
		f, e := r.ModuleGetFunction(th, m, "multi_rounds")
		ok(t, e)
		s, e := r.StreamCreateWithPriority(th, 0, 0)
		ok(t, e)
		args := binary.LittleEndian.AppendUint64(nil, uint64(counter))
		args = binary.LittleEndian.AppendUint64(args, uint64(out))
		args = binary.LittleEndian.AppendUint64(args, uint64(rounds))
		args = binary.LittleEndian.AppendUint64(args, uint64(about))
		list = append(list, hip.Launch{Function: f, Grid: hip.Dim3{X: groups + uint32(i), Y: 1, Z: 1}, Block: hip.Dim3{X: 64, Y: 1, Z: 1},
			Stream: s, Flags: hip.LaunchCooperative, Args: args})
	}
	return list, counter, out, about
}

func ok(t *testing.T, e hip.Error) {
	t.Helper()
	if e != hip.Success {
		t.Fatal(e)
	}
}

// The other grids of a launch whose device can no longer take part do not wait
// for ever.
func TestMultiDeviceFault(t *testing.T) {
	for _, arch := range kernels.Arches {
		r := newRuntime(t, Options{Arch: arch, Cards: 2})
		list, _, _, _ := multiLaunch(t, r, 4, 1)
		// Card 1 never gets there: its stream is held up, and then its context ends.
		hold := make(chan struct{})
		ok(t, r.LaunchHostFunc(hip.Thread{ID: 1}, list[1].Stream, func() { <-hold }))
		ok(t, r.LaunchKernelMultiDevice(hip.Thread{ID: 1}, list, multiNoPreSync|multiNoPostSync))
		if e := r.StreamQuery(hip.Thread{ID: 1}, list[0].Stream); e != hip.ErrorNotReady {
			t.Errorf("%s: the grid on card 0 waits for the one on card 1: %v", arch, e)
		}
		ok(t, r.DeviceReset(hip.Thread{ID: 1, Device: 1}))
		close(hold)
		done := make(chan hip.Error, 1)
		go func() { done <- r.StreamSynchronize(hip.Thread{ID: 1}, list[0].Stream) }()
		select {
		case e := <-done:
			if e != hip.ErrorLaunchFailure {
				t.Errorf("%s: the grid on card 0 ended with %v", arch, e)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s: the grid on card 0 waits for ever", arch)
		}
	}
}

func TestMultiDevice(t *testing.T) {
	for _, arch := range kernels.Arches {
		r := newRuntime(t, Options{Arch: arch, Cards: 3})
		th := hip.Thread{ID: 1}
		list, counter, out, about := multiLaunch(t, r, 10, 4)
		ok(t, r.LaunchKernelMultiDevice(th, list, 0))
		// The streams have been waited for.
		words := func(p hip.Ptr, n uint64) []byte { return vmem.Raw(uint64(p), n) }
		if n := binary.LittleEndian.Uint32(words(counter, 4)); n != 4*64*(10+11+12) {
			t.Errorf("%s: %d threads have counted", arch, n)
		}
		for i, b := range words(out, 16) {
			if b != 0 {
				t.Errorf("%s: in round %d threads went on before all had come", arch, i/4)
			}
		}
		before := uint64(0)
		for i := range uint64(3) {
			b := words(about+hip.Ptr(32*i), 32)
			le := binary.LittleEndian
			if le.Uint64(b) != i || le.Uint64(b[8:]) != 3 || le.Uint64(b[16:]) != before || le.Uint64(b[24:]) != 64*(10+11+12) {
				t.Errorf("%s: grid %d was told % x", arch, i, b)
			}
			before += 64 * (10 + i)
		}
		for name, c := range map[string]struct {
			change func(l []hip.Launch) ([]hip.Launch, uint32)
			want   hip.Error
		}{
			"none":              {func(l []hip.Launch) ([]hip.Launch, uint32) { return nil, 0 }, hip.ErrorInvalidValue},
			"too many":          {func(l []hip.Launch) ([]hip.Launch, uint32) { return append(l, l[0]), 0 }, hip.ErrorInvalidValue},
			"flags":             {func(l []hip.Launch) ([]hip.Launch, uint32) { return l, 4 }, hip.ErrorInvalidValue},
			"null stream":       {func(l []hip.Launch) ([]hip.Launch, uint32) { l[1].Stream = 0; return l, 0 }, hip.ErrorInvalidHandle},
			"one device twice":  {func(l []hip.Launch) ([]hip.Launch, uint32) { l[1] = l[0]; return l, 0 }, hip.ErrorInvalidDevice},
			"no threads":        {func(l []hip.Launch) ([]hip.Launch, uint32) { l[2].Block.Z = 0; return l, 0 }, hip.ErrorInvalidConfiguration},
			"too large":         {func(l []hip.Launch) ([]hip.Launch, uint32) { l[2].Grid.X = 1 << 20; return l, 0 }, hip.ErrorCooperativeLaunchTooLarge},
			"another's kernel":  {func(l []hip.Launch) ([]hip.Launch, uint32) { l[2].Function = l[1].Function; return l, 0 }, hip.ErrorInvalidDevice},
			"unknown function":  {func(l []hip.Launch) ([]hip.Launch, uint32) { l[2].Function = 1 << 40; return l, 0 }, hip.ErrorInvalidHandle},
			"unknown stream":    {func(l []hip.Launch) ([]hip.Launch, uint32) { l[2].Stream = 1 << 40; return l, 0 }, hip.ErrorInvalidValue},
			"missing arguments": {func(l []hip.Launch) ([]hip.Launch, uint32) { l[2].Args = nil; return l, 0 }, hip.ErrorInvalidValue},
		} {
			l, flags := c.change(append([]hip.Launch(nil), list...))
			if e := r.LaunchKernelMultiDevice(th, l, flags); e != c.want {
				t.Errorf("%s: %s: %v, want %v", arch, name, e, c.want)
			}
		}
		// Nothing of those has begun.
		if n := binary.LittleEndian.Uint32(words(counter, 4)); n != 4*64*(10+11+12) {
			t.Errorf("%s: %d threads have counted in the end", arch, n)
		}
	}
}
