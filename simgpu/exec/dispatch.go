package exec

import "fmt"

// Dispatch is one kernel launch: what an AQL dispatch packet and the kernel's
// descriptor say. All addresses are device addresses.
type Dispatch struct {
	Program     *Program
	Memory      *Memory // a View of the program's; nil is the program's itself
	Kernel      string  // name, for faults
	Entry       uint64  // address of the first instruction
	Desc        Descriptor
	Kernarg     uint64    // kernel argument segment, complete with hidden arguments
	DispatchPtr uint64    // the AQL packet in device memory; needed by kernels that ask for it
	QueuePtr    uint64    // amd_queue_t in device memory; likewise
	DispatchID  uint64    //
	Grid        [3]uint32 // work-items
	Group       [3]uint32 // work-items of a workgroup; the last one of a dimension may be partial
	DynamicLDS  uint32    // bytes in addition to the descriptor's
	// ScratchPerLane is the private segment of a lane in bytes; 0 means what the
	// descriptor says, and more for kernels with a dynamic stack.
	ScratchPerLane uint32
	Cooperative    bool // all workgroups are resident at the same time
	// OnMessage is called for s_sendmsg, from the goroutine that executes the
	// wave; nil ignores messages.
	OnMessage func(msg uint16, m0 uint32)
	// OnStats is told what was executed since the last time, when a workgroup or some
	// short ones have ended and each time a longer one has had its turn; together that is what Run
	// returns, but for Dispatches. The calls do not overlap. What it returns, if it
	// is not nil, waits: the goroutine calls it and goes on when it returns, and has
	// no core meanwhile.
	OnStats func(*Stats) (pause func())
	// Share is what the dispatch may have of the process's cores; nil is one for
	// each goroutine.
	Share *Share
	// Clock is what the kernel takes for the time; nil is the machine's. Run it on one goroutine then.
	Clock *Clock
	// Allocated says whether the n bytes at addr are all of one allocation, at
	// the size that was asked for. Programs that check bounds ask it.
	Allocated func(addr, n uint64) bool
	// OnFinding is told what a checked program's kernel does wrong, from the goroutine
	// that executes the wave. An error ends the kernel.
	OnFinding func(*Finding) error
	// OnTrace is told what one wave does, if that is to be traced; see Program.Watch.
	OnTrace func(*Step)
	Traced  func(workgroup [3]uint32, wave int) bool
}

// Limits of the devices.
const (
	WaveSize         = 64      // lanes of a register; waves of targets of 32 lanes have them in its lower half
	MaxWorkgroupSize = 1024    // work-items
	maxWaveScratch   = 8 << 20 // bytes of the private segments of a wave: COMPUTE_TMPRING_SIZE.WAVESIZE has 13 bits for KiB, on RDNA 15 for a quarter of that
	dynamicStackSize = 16384   // scratch added for kernels whose stack size is not known
)

func (d *Dispatch) fail(format string, args ...any) error {
	return &Fault{Kind: ConfigurationFault, Lane: -1, Kernel: d.Kernel, Detail: fmt.Sprintf(format, args...)}
}

// check says whether the dispatch can run.
func (d *Dispatch) check() error {
	if d.Program == nil {
		return d.fail("no program")
	}
	items := uint64(1)
	for i := range 3 {
		if d.Group[i] == 0 || d.Grid[i] == 0 {
			return d.fail("grid %v of workgroups %v is empty", d.Grid, d.Group)
		}
		if d.Group[i] > MaxWorkgroupSize {
			return d.fail("workgroup %v is larger than %d", d.Group, MaxWorkgroupSize)
		}
		items *= uint64(d.Group[i])
	}
	if items > MaxWorkgroupSize {
		return d.fail("workgroup %v is larger than %d", d.Group, MaxWorkgroupSize)
	}
	if lds := uint64(d.Desc.GroupSegmentSize) + uint64(d.DynamicLDS); lds > uint64(d.Program.arch.LDS()) {
		return d.fail("%d bytes of LDS, a workgroup can have %d", lds, d.Program.arch.LDS())
	}
	if s := d.scratch(); s > d.maxScratch() {
		return d.fail("%d bytes of scratch per lane, at most %d", s, d.maxScratch())
	}
	if d.Desc.Properties&propWave32 != 0 && d.waveSize() != 32 {
		return d.fail("kernel is compiled for waves of 32 lanes")
	}
	if d.Desc.userSGPRs() > 16 {
		return d.fail("%d user SGPRs, at most 16", d.Desc.userSGPRs())
	}
	if m := d.Memory; m != nil && (m.Base != d.Program.mem.Base || m.Size != d.Program.mem.Size) {
		return d.fail("its memory is not the program's")
	}
	if d.Entry&3 != 0 || !d.Program.mem.Contains(d.Entry, 4) {
		return d.fail("entry point %#x is not in device memory", d.Entry)
	}
	return nil
}

// waveSize is how many lanes its waves have, waves how many of them a workgroup of so many work-items is.
func (d *Dispatch) waveSize() int       { return d.Program.arch.WaveSize() }
func (d *Dispatch) waves(items int) int { return (items + d.waveSize() - 1) / d.waveSize() }

// memory is what the dispatch sees.
func (d *Dispatch) memory() *Memory {
	if d.Memory != nil {
		return d.Memory
	}
	return d.Program.mem
}

// maxScratch is the largest private segment that a lane can have, in bytes.
func (d *Dispatch) maxScratch() uint64 { return maxWaveScratch / uint64(d.waveSize()) }

// scratch is the private segment of a lane in bytes, a multiple of 4.
func (d *Dispatch) scratch() uint64 {
	n := uint64(d.ScratchPerLane)
	if n == 0 {
		n = uint64(d.Desc.PrivateSegmentSize)
		if d.Desc.Properties&propDynamicStack != 0 {
			n = min(n+dynamicStackSize, max(n, d.maxScratch()))
		}
	}
	return (n + 15) &^ 15
}

// groups is the number of workgroups of each dimension.
func (d *Dispatch) groups() [3]uint32 {
	var g [3]uint32
	for i := range g {
		g[i] = uint32((uint64(d.Grid[i]) + uint64(d.Group[i]) - 1) / uint64(d.Group[i]))
	}
	return g
}
