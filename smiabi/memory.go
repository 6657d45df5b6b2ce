package smiabi

import (
	"sync"
	"time"

	"github.com/rocwire/rocwire/smi"
)

const (
	// reading is how long figures count as of now.
	reading = 10 * time.Millisecond
	forever = time.Duration(1<<63 - 1)
)

// memory keeps the last answer of each card. Errors are not kept. What it returns is
// shared: callers only look.
type memory[T any] struct {
	mu    sync.Mutex
	slots map[int]*slot[T]
}

type slot[T any] struct {
	mu    sync.Mutex // held while the source is asked: others wait for its answer
	known bool
	value T
	at    time.Time
}

// get is the answer kept for index if it is not older than age, else what ask says.
func (m *memory[T]) get(index int, age time.Duration, ask func() (T, error)) (T, error) {
	m.mu.Lock()
	s := m.slots[index]
	if s == nil {
		if m.slots == nil {
			m.slots = map[int]*slot[T]{}
		}
		s = &slot[T]{}
		m.slots[index] = s
	}
	m.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known && time.Since(s.at) <= age {
		return s.value, nil
	}
	v, err := ask()
	if err != nil {
		return *new(T), err
	}
	s.known, s.value, s.at = true, v, time.Now()
	return v, nil
}

func (m *memory[T]) forget(index int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.slots, index)
}

// forget drops what is known of a card, and of the ways between cards.
func (l *library) forget(index int) {
	l.infos.forget(index)
	l.metrics.forget(index)
	l.firmware.forget(index)
	l.ecc.forget(index)
	l.xgmi.forget(index)
	l.partitions.forget(index)
	l.topology.forget(0)
}

// answers are what the library keeps of its source's answers.
type answers struct {
	infos      memory[*smi.Info]
	metrics    memory[*smi.Metrics]
	firmware   memory[[]smi.Firmware]
	ecc        memory[*smi.ECC]
	xgmi       memory[*smi.XGMI]
	partitions memory[*smi.Partitions]
	topology   memory[*smi.Topology]
}
