package simgpu

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/card"
	"github.com/rocwire/rocwire/simgpu/exec"
)

// DefaultArch is the architecture of cards when none is asked for.
const DefaultArch = "gfx942"

// MaxCards is the largest number of cards.
const MaxCards = card.MaxCards

// DefaultSessions is the number of sessions a Segment of CreateSegment has room for, those that wait for a client among them.
const DefaultSessions = card.MaxSessions

// ErrOptions is matched by errors about Options that cannot be had.
var ErrOptions = errors.New("simgpu: impossible options")

// Options say what the cards are like. The zero value is one card.
type Options struct {
	Arch        string // "gfx90a" (MI210), "gfx942" (MI300X) or "gfx950" (MI350X); "" is DefaultArch
	MemoryBytes uint64 // memory of each card; 0 is a quarter of the machine's
	Cards       int    // 0 is one
	Workers     int    // goroutines that execute kernels, at most, for all cards; 0 is one per processor

	// Segment is what the session shares with others; nil makes one of its own.
	// Its cards and capacity then count, not those above.
	Segment *Segment
	// Visible are the cards that the runtime uses, in the order in which it
	// numbers them; nil is all.
	Visible []int
	// Session is the seat that the parent of this process has given it. The cards are
	// those of its segment then, and Segment is nil.
	Session *card.Session
	// PID is what the session is shown as where the segment is this process's; 0 is this process.
	PID int

	// Broker passes shared memory to and from other processes; nil knows those
	// that have none either, of the same user in the same container.
	Broker hip.Broker

	Check      exec.Checks // what is looked for in kernels; none: nothing
	CheckFatal bool        // what is found first ends the context, as a fault does
	Trace      Trace       // whose instructions are told of

	// Profile has the runtime tell, through Logf, what kernels take their time for.
	Profile bool

	// Deterministic makes programs that use one stream have the same bits every time:
	// kernels execute on one goroutine, one after the other, and the time that they
	// and events see follows from their instructions.
	Deterministic bool
	clock         *exec.Clock

	// Logf receives one line for each fault and refused module; nil discards.
	Logf func(format string, args ...any)
	// OnAsyncError is called once when a kernel's fault ends a device's context,
	// from the goroutine that executed it and before any call answers with the
	// error. It must not wait for the device.
	OnAsyncError func(device int32, stream hip.Stream, err hip.Error, detail string)
	// OnOutput takes what kernels print, for standard output or standard error,
	// before anybody learns that the kernel has ended. Calls may overlap; while one
	// waits, the kernel does. nil writes to this process's own.
	OnOutput func(stderr bool, text []byte)
}

// Segment is the shared state of the cards of one worker. See package card.
type Segment = card.Segment

// CreateSegment makes the segment of a worker.
func CreateSegment(o Options) (*Segment, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	capacity := make([]uint64, o.Cards)
	for i := range capacity {
		capacity[i] = o.MemoryBytes
	}
	return card.Create(capacity, DefaultSessions)
}

// Archs are the architectures that can be simulated.
func Archs() []string { return slices.Sorted(maps.Keys(products)) }

// complete checks o and fills in what is left to choose.
func (o *Options) complete() error {
	if o.Arch == "" {
		o.Arch = DefaultArch
	}
	if products[o.Arch] == nil {
		return fmt.Errorf("%w: architecture %q, there are %s", ErrOptions, o.Arch, strings.Join(Archs(), ", "))
	}
	if o.Cards == 0 {
		o.Cards = 1
	}
	if o.Cards < 0 || o.Cards > MaxCards {
		return fmt.Errorf("%w: %d cards, at most %d", ErrOptions, o.Cards, MaxCards)
	}
	if o.MemoryBytes == 0 {
		o.MemoryBytes = defaultMemory()
	}
	o.MemoryBytes &^= hip.Granule - 1
	if o.MemoryBytes < 1<<20 || o.MemoryBytes > 1<<44 {
		return fmt.Errorf("%w: %d bytes of card memory", ErrOptions, o.MemoryBytes)
	}
	if o.Visible == nil {
		for i := range o.Cards {
			o.Visible = append(o.Visible, i)
		}
	}
	seen := map[int]bool{}
	for _, i := range o.Visible {
		if i < 0 || i >= o.Cards || seen[i] {
			return fmt.Errorf("%w: card %d of %d is to be visible, or twice so", ErrOptions, i, o.Cards)
		}
		seen[i] = true
	}
	if o.Deterministic {
		o.Workers, o.clock = 1, &exec.Clock{}
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.PID == 0 {
		o.PID = os.Getpid()
	}
	if o.Broker == nil {
		o.Broker = &own
	}
	if o.Logf == nil {
		o.Logf = func(string, ...any) {}
	}
	if o.OnAsyncError == nil {
		o.OnAsyncError = func(int32, hip.Stream, hip.Error, string) {}
	}
	if o.OnOutput == nil {
		o.OnOutput = func(stderr bool, text []byte) {
			f := os.Stdout
			if stderr {
				f = os.Stderr
			}
			_, _ = f.Write(text) // a program that has closed it does not want it
		}
	}
	return nil
}

// defaultMemory is a quarter of the machine's memory, in whole MiB.
func defaultMemory() uint64 {
	var si unix.Sysinfo_t
	if err := unix.Sysinfo(&si); err != nil {
		return 1 << 30
	}
	return max(uint64(si.Totalram)*uint64(si.Unit)/4, 16<<20) &^ (1<<20 - 1)
}
