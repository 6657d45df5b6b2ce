package hipabi

import (
	"math"
	"sync"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

// The markers of a launch's extra list.
const (
	extraPointer = 1 // HIP_LAUNCH_PARAM_BUFFER_POINTER
	extraSize    = 2 // HIP_LAUNCH_PARAM_BUFFER_SIZE
	extraEnd     = 3 // HIP_LAUNCH_PARAM_END
)

// maxArgs is the longest argument segment that a caller may pass whole.
const maxArgs = 64 << 10

// launch is one launch on its way: the Runtime's description of it and the
// memory its arguments are packed into, used again.
type launch struct {
	hip.Launch
	room []byte
	dev  *device
	fn   *function
}

var launches = sync.Pool{New: func() any { return new(launch) }}

// start begins the launch of f; done takes it back.
func start(f *function) *launch {
	l := launches.Get().(*launch)
	l.Launch = hip.Launch{Function: f.handle}
	l.dev, l.fn = f.module.device, f
	return l
}

func (l *launch) done() {
	l.fn, l.dev, l.Args = nil, nil, nil
	launches.Put(l)
}

// grid sets the launch's shape in workgroups and checks it against the device
// and the kernel, with the codes and in the order of AMD's runtime.
func (l *launch) grid(grid, block hip.Dim3, shared uint64) hip.Error {
	if countless(grid, block) {
		l.Grid, l.Block = grid, block
		return hip.ErrorInvalidConfiguration
	}
	return l.shape(grid, block, shared)
}

// shape is grid for a number of threads that is known to be one.
func (l *launch) shape(grid, block hip.Dim3, shared uint64) hip.Error {
	l.Grid, l.Block = grid, block
	p := &l.dev.prop
	if grid.X == 0 || grid.Y == 0 || grid.Z == 0 || block.X == 0 || block.Y == 0 || block.Z == 0 {
		return hip.ErrorInvalidValue
	}
	if static := uint64(l.fn.kernel.GroupSize); shared > p.SharedMemPerBlock || static+shared > p.SharedMemPerBlock {
		Log("%s: %d bytes of LDS (%d of them dynamic), the device has %d", l.fn.kernel.Name, static+shared, shared, p.SharedMemPerBlock)
		return hip.ErrorInvalidValue
	}
	threads := threadsOf(block)
	if threads > uint64(p.MaxThreadsPerBlock) ||
		block.X > uint32(p.MaxThreadsDim[0]) || block.Y > uint32(p.MaxThreadsDim[1]) || block.Z > uint32(p.MaxThreadsDim[2]) {
		Log("%s: a workgroup of %d x %d x %d threads, the device takes %d", l.fn.kernel.Name, block.X, block.Y, block.Z, p.MaxThreadsPerBlock)
		return hip.ErrorInvalidValue
	}
	if l.fn.maxThreads != 0 && threads > l.fn.maxThreads {
		Log("%s: a workgroup of %d threads, the kernel was compiled for at most %d", l.fn.kernel.Name, threads, l.fn.maxThreads)
		return hip.ErrorLaunchFailure
	}
	l.SharedMem = uint32(shared)
	return hip.Success
}

// countless says whether a dimension has more threads than 32 bits count.
func countless(grid, block hip.Dim3) bool {
	for _, n := range [3][2]uint32{{grid.X, block.X}, {grid.Y, block.Y}, {grid.Z, block.Z}} {
		if uint64(n[0])*uint64(n[1]) > math.MaxUint32 {
			return true
		}
	}
	return false
}

// threadsOf is the number of threads of a workgroup; one that does not fit is
// the largest number.
func threadsOf(block hip.Dim3) uint64 {
	n := uint64(block.X) * uint64(block.Y)
	if block.Z != 0 && n > math.MaxUint64/uint64(block.Z) {
		return math.MaxUint64
	}
	return n * uint64(block.Z)
}

// moduleGrid is grid for a kernel of a module, whose workgroups have limits of
// their own.
func (l *launch) moduleGrid(grid, block hip.Dim3, shared uint64) hip.Error {
	if grid.X > math.MaxInt32 || grid.Y > maxGridYZ || grid.Z > maxGridYZ {
		return hip.ErrorInvalidValue
	}
	return l.grid(grid, block, shared)
}

const maxGridYZ = 1 << 16

// cooperativeGrid is grid for a cooperative launch of a host function, which has
// codes of its own for what comes first.
func (l *launch) cooperativeGrid(grid, block hip.Dim3, shared uint64) hip.Error {
	switch {
	case countless(grid, block), threadsOf(block) > uint64(l.dev.prop.MaxThreadsPerBlock):
		return hip.ErrorInvalidConfiguration
	case shared > l.dev.prop.SharedMemPerBlock:
		return hip.ErrorCooperativeLaunchTooLarge
	}
	return l.grid(grid, block, shared)
}

// global sets the launch's shape in threads; the last workgroup of a dimension
// may be partial, and there may be more workgroups than a grid has otherwise.
func (l *launch) global(size, block hip.Dim3, shared uint64) hip.Error {
	ceil := func(n, d uint32) uint32 {
		if d == 0 {
			return 0
		}
		return uint32((uint64(n) + uint64(d) - 1) / uint64(d))
	}
	if (size.X != 0 && size.Y != 0 && size.Z != 0) && (block.X == 0 || block.Y == 0 || block.Z == 0) {
		return hip.ErrorInvalidConfiguration
	}
	g := hip.Dim3{X: ceil(size.X, block.X), Y: ceil(size.Y, block.Y), Z: ceil(size.Z, block.Z)}
	err := l.shape(g, block, shared)
	if err == hip.Success && (g.X > math.MaxInt32 || partial(size.X, block.X) || partial(size.Y, block.Y) || partial(size.Z, block.Z)) {
		l.GlobalSize = size
	}
	return err
}

// partial says that the last workgroup of a dimension is smaller than the others.
func partial(threads, block uint32) bool { return threads%block != 0 }

// buffer is n bytes for the arguments, zero.
func (l *launch) buffer(n uint32) []byte {
	if uint32(cap(l.room)) < n {
		l.room = make([]byte, max(n, 512))
	}
	b := l.room[:n]
	clear(b)
	return b
}

// params packs the arguments that params point to, one pointer for each.
func (l *launch) params(params unsafe.Pointer) hip.Error {
	k := l.fn.kernel
	if !k.HasMetadata && k.KernargSize > 0 {
		Log("%s: nothing describes its arguments, they must be passed as one buffer", k.Name)
		return hip.ErrorInvalidValue
	}
	b := l.buffer(k.ExplicitSize)
	if len(k.Args) > 0 {
		if params == nil {
			return hip.ErrorInvalidValue
		}
		from := unsafe.Slice((*uintptr)(params), len(k.Args))
		for i := range k.Args {
			a := &k.Args[i]
			if from[i] == 0 {
				return hip.ErrorInvalidValue
			}
			copy(b[a.Offset:a.Offset+a.Size], memory(pointer(from[i]), uint64(a.Size)))
		}
	}
	l.Args = b
	return hip.Success
}

// packed takes the argument segment that the caller has laid out itself.
func (l *launch) packed(p unsafe.Pointer, size uint64) hip.Error {
	k := l.fn.kernel
	if size > maxArgs || p == nil && size > 0 {
		return hip.ErrorInvalidValue
	}
	if k.ExplicitSize > 0 && size == 0 {
		return hip.ErrorInvalidValue
	}
	b := l.buffer(k.ExplicitSize)
	if n := min(uint64(len(b)), size); n > 0 {
		copy(b, memory(p, n))
	}
	l.Args = b
	return hip.Success
}

// args takes a launch's arguments in either of HIP's two forms.
func (l *launch) args(params, extra unsafe.Pointer) hip.Error {
	if extra == nil {
		return l.params(params)
	}
	if params != nil {
		return hip.ErrorInvalidValue
	}
	var buffer, size uintptr
	for i := 0; ; i += 2 {
		if i > 4 {
			return hip.ErrorInvalidValue
		}
		key := *(*uintptr)(unsafe.Add(extra, i*8))
		if key == extraEnd {
			break
		}
		value := *(*uintptr)(unsafe.Add(extra, i*8+8))
		switch key {
		case extraPointer:
			buffer = value
		case extraSize:
			if value == 0 {
				return hip.ErrorInvalidValue
			}
			size = *(*uintptr)(pointer(value))
		default:
			return hip.ErrorInvalidValue
		}
	}
	return l.packed(pointer(buffer), uint64(size))
}

// on sets the stream.
func (l *launch) on(t hip.Thread, stream uint64) (err hip.Error) {
	l.Stream, err = resolveStream(t, hip.Stream(stream))
	return err
}

// cooperative has all workgroups resident at once, which not every grid allows.
func (l *launch) cooperative() hip.Error {
	if l.dev.prop.CooperativeLaunch == 0 {
		return hip.ErrorNotSupported
	}
	l.Flags |= hip.LaunchCooperative
	threads := l.Block.X * l.Block.Y * l.Block.Z
	most := l.fn.blocksPerCU(l.dev, threads, uint64(l.SharedMem)) * uint64(l.dev.prop.MultiProcessorCount)
	if uint64(l.Grid.X)*uint64(l.Grid.Y) > most || uint64(l.Grid.X)*uint64(l.Grid.Y)*uint64(l.Grid.Z) > most {
		return hip.ErrorCooperativeLaunchTooLarge
	}
	return hip.Success
}
