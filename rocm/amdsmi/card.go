package amdsmi

import (
	"sync"
	"sync/atomic"

	"github.com/rocwire/rocwire/smi"
)

// question is one kind of question about a card.
type question int

const (
	askDevice question = iota
	askInfo
	askMetrics
	askProcesses
	askFirmware
	askECC
	askBadPages
	askXGMI
	askPartitions
	askTopology
	askSet
	numQuestions
)

// card is one GPU, or one partition of it.
type card struct {
	index  int
	handle uint64
	device atomic.Pointer[smi.Device]
	turn   [numQuestions]chan struct{} // full while that question is being answered

	mu     sync.Mutex
	limits map[sensor]limits // of temperatures; they do not change
	last   residencies       // when Metrics was asked last
}

func newCard(index int, handle uint64) *card {
	c := &card{index: index, handle: handle, limits: map[sensor]limits{}}
	c.device.Store(&smi.Device{Index: index, Name: unnamed})
	for i := range c.turn {
		c.turn[i] = make(chan struct{}, 1)
	}
	return c
}

// unnamed is the name of a card that does not tell one.
const unnamed = "AMD GPU"

// maxHandles is how many sockets, and cards of one socket, are looked at.
const maxHandles = 1024

// handles lists the GPUs of all sockets.
func (l *library) handles() ([]uint64, error) {
	m := newMemory()
	defer m.free()
	sockets, err := l.list(m, fnSocketHandles)
	if err != nil {
		return nil, err
	}
	var gpus []uint64
	for _, s := range sockets {
		processors, err := l.list(m, fnProcessorHandles, s)
		if err != nil {
			return nil, err
		}
		for _, p := range processors {
			if l.isGPU(m, p) {
				gpus = append(gpus, p)
			}
		}
	}
	return gpus, nil
}

// list calls a function that fills an array of handles: first for their number.
func (l *library) list(m *memory, fn function, args ...uint64) ([]uint64, error) {
	at, count := m.alloc(4)
	clear(count)
	if status := l.call(fn, append(args, at, 0)...); status != success {
		return nil, l.explain(l.abi.failed(fn, status))
	}
	number := field{0, 4, 1}
	n := count.length(number, maxHandles)
	if n == 0 {
		return nil, nil
	}
	to, array := m.alloc(8 * n)
	if status := l.call(fn, append(args, at, to)...); status != success {
		return nil, l.explain(l.abi.failed(fn, status))
	}
	var list []uint64
	for i := range min(n, count.length(number, maxHandles)) {
		if h, ok := array.raw(field{0, 8, uint32(n)}, i); ok && h != 0 && h != ^uint64(0) {
			list = append(list, h)
		}
	}
	return list, nil
}

// isGPU says whether a processor is an AMD GPU (AMDSMI_PROCESSOR_TYPE_AMD_GPU).
func (l *library) isGPU(m *memory, handle uint64) bool {
	at, kind := m.alloc(4)
	if l.call(fnProcessorType, handle, at) != success {
		return true // only GPUs were asked for
	}
	v, _ := kind.raw(field{0, 4, 1}, 0)
	return v == 1
}
