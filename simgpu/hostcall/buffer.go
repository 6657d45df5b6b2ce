package hostcall

import (
	"encoding/binary"
	"math/bits"
	"sync"
	"sync/atomic"
	"unsafe"
)

// The layout that the device library knows, in bytes.
const (
	atHeaders   = 0 // u64 address of the headers
	atPayloads  = 8
	atDoorbell  = 16
	atFree      = 24 // the stacks hold packet numbers with a tag above them that makes each pop unlike the others
	atReady     = 32
	atIndexMask = 40

	signalAt      = 64 // amd_signal_t, 64 bytes
	signalKind    = 0
	signalMailbox = 16
	signalID      = 24
	mailboxAt     = 128
	headersAt     = 192

	headerSize    = 24 // u64 next, u64 active lanes, u32 service, u32 control
	headerLanes   = 8
	headerService = 16
	headerControl = 20
	payloadSize   = 64 * slotSize
	slotSize      = 64 // eight words of a lane

	ready = 1 // in control
)

// Services that kernels ask for.
const (
	serviceCall   = 1 // a host function by its address: never
	servicePrintf = 2
	serviceMemory = 3 // word 0: address to free, or 0 and word 1: bytes to allocate
)

// Host is what a Buffer serves requests with. Calls do not overlap.
type Host interface {
	// Output takes text for the program's standard output or standard error.
	Output(stderr bool, text []byte)
	// Allocate finds device memory; 0: there is none.
	Allocate(size uint64) (addr uint64)
	// Free ends what Allocate began; other addresses are nothing.
	Free(addr uint64)
}

// Buffer is the requests of one device's kernels.
type Buffer struct {
	mem      []byte // device memory
	base     uint64 // its address
	packets  uint64 // a power of two
	payloads uint64 // offset

	mu       sync.Mutex
	messages Messages
}

// Size is the memory that a buffer of so many packets needs.
func Size(packets uint64) uint64 { return payloadsAt(packets) + packets*payloadSize }

func payloadsAt(packets uint64) uint64 { return (headersAt + packets*headerSize + 63) &^ 63 }

// NewBuffer prepares zeroed device memory of Size bytes at an address that
// kernels know it by. packets is a power of two, at least 2, and not less than
// the waves that run at a time: the device library does not look whether there is a packet left.
func NewBuffer(mem []byte, base, packets uint64) *Buffer {
	b := &Buffer{mem: mem, base: base, packets: packets, payloads: payloadsAt(packets)}
	le := binary.LittleEndian
	le.PutUint64(mem[atHeaders:], base+headersAt)
	le.PutUint64(mem[atPayloads:], base+b.payloads)
	le.PutUint64(mem[atDoorbell:], base+signalAt)
	le.PutUint64(mem[atIndexMask:], packets-1)
	le.PutUint64(mem[signalAt+signalKind:], 1)                 // AMD_SIGNAL_KIND_USER
	le.PutUint64(mem[signalAt+signalMailbox:], base+mailboxAt) // who adds to the value sends an interrupt, too
	le.PutUint32(mem[signalAt+signalID:], 1)
	// All packets are free. Number 0 has a tag, for 0 is no packet.
	next := packets
	for i := uint64(1); i < packets; i++ {
		le.PutUint64(mem[headersAt+i*headerSize:], next)
		next = i
	}
	le.PutUint64(mem[atFree:], next)
	return b
}

// Address is what kernels get as hidden_hostcall_buffer.
func (b *Buffer) Address() uint64 { return b.base }

// Memory and Packets are what the buffer was made with.
func (b *Buffer) Memory() []byte { return b.mem }

// Packets: see Memory.
func (b *Buffer) Packets() uint64 { return b.packets }

// Waiting reports whether there are requests.
func (b *Buffer) Waiting() bool { return atomic.LoadUint64(b.u64(atReady)) != 0 }

func (b *Buffer) u64(at uint64) *uint64 { return (*uint64)(unsafe.Pointer(&b.mem[at])) }
func (b *Buffer) u32(at uint64) *uint32 { return (*uint32)(unsafe.Pointer(&b.mem[at])) }

// Serve answers the requests that there are.
func (b *Buffer) Serve(h Host) {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := atomic.SwapUint64(b.u64(atReady), 0)
	for range b.packets { // a kernel may have made it a circle
		if at == 0 {
			return
		}
		n := at & (b.packets - 1)
		header := headersAt + n*headerSize
		at = atomic.LoadUint64(b.u64(header))
		lanes, service := atomic.LoadUint64(b.u64(header+headerLanes)), atomic.LoadUint32(b.u32(header+headerService))
		for ; lanes != 0; lanes &= lanes - 1 {
			slot := b.payloads + n*payloadSize + uint64(bits.TrailingZeros64(lanes))*slotSize
			var words [8]uint64
			for i := range words {
				words[i] = atomic.LoadUint64(b.u64(slot + 8*uint64(i)))
			}
			x, y := b.serve(h, service, &words)
			atomic.StoreUint64(b.u64(slot), x)
			atomic.StoreUint64(b.u64(slot+8), y)
		}
		control := b.u32(header + headerControl)
		atomic.StoreUint32(control, atomic.LoadUint32(control)&^ready)
	}
}

// serve answers one lane.
func (b *Buffer) serve(h Host, service uint32, words *[8]uint64) (x, y uint64) {
	switch service {
	case servicePrintf:
		return b.messages.add(words, h.Output), words[1]
	case serviceMemory:
		if words[0] != 0 {
			h.Free(words[0])
			return words[0], words[1]
		}
		return h.Allocate(words[1]), words[1]
	case serviceCall: // the address would be one of ours
		return 0, 0
	}
	return words[0], words[1]
}

// Forget drops messages that were not completed. No kernel that uses the buffer runs.
func (b *Buffer) Forget() {
	b.mu.Lock()
	b.messages = Messages{}
	b.mu.Unlock()
}
