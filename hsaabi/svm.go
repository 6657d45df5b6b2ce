//go:build linux

package hsaabi

import (
	"math"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/simgpu/vmem"
)

// svm is what programs say of their own memory: attributes of pages. All of it lies in the machine's memory, where the simulated cards
// reach it once they are told of it; where it should lie is kept for who asks.
type svm struct {
	svmMu   sync.Mutex
	said    []svmRun // by address, what nobody has said anything of left out
	reaches []span   // what kernels reach
}

// svmState is what holds for a page. The zero state is what holds where nothing was said.
type svmState struct {
	notHost, coarse, readOnly, hiveLocal, readMostly, exec bool

	granularity uint64 // the logarithm of a number of pages; 0: nothing was said
	preferred   uint64 // agent; 0: none
	prefetched  uint64
	reach       reach
}

const (
	granularityUsual = 9
	granularityMost  = 18
	cardsMost        = 64
)

// reach is how cards reach a page, a bit of each set for each card.
type reach struct{ reaches, inPlace uint64 }

// svmChange is what a list of attributes changes in a state.
type svmChange func(*svmState)

// changes reads a list of attributes: each at most once, and one for each agent.
func (l *library) changes(list []amdSVMAttributePair) (svmChange, status) {
	var all []svmChange
	seen := map[uint64]bool{}
	once := func(key uint64) bool {
		was := seen[key]
		seen[key] = true
		return !was
	}
	for _, a := range list {
		on := a.value != 0
		var c svmChange
		key := a.attribute
		switch a.attribute {
		case HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG:
			if a.value > HSA_AMD_SVM_GLOBAL_FLAG_COARSE_GRAINED {
				return nil, HSA_STATUS_ERROR_INVALID_ARGUMENT
			}
			c = func(s *svmState) { s.coarse = on }
		case HSA_AMD_SVM_ATTRIB_READ_ONLY:
			c = func(s *svmState) { s.readOnly = on }
		case HSA_AMD_SVM_ATTRIB_HIVE_LOCAL:
			c = func(s *svmState) { s.hiveLocal = on }
		case HSA_AMD_SVM_ATTRIB_READ_MOSTLY:
			c = func(s *svmState) { s.readMostly = on }
		case HSA_AMD_SVM_ATTRIB_GPU_EXEC:
			c = func(s *svmState) { s.exec = on }
		case HSA_AMD_SVM_ATTRIB_MIGRATION_GRANULARITY:
			v := min(a.value, granularityMost)
			c = func(s *svmState) { s.granularity = v + 1 }
		case HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION:
			if _, st := l.agent(a.value); on && st != HSA_STATUS_SUCCESS {
				return nil, st
			}
			c = func(s *svmState) { s.preferred = a.value }
		case HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE, HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE, HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS:
			if _, st := l.agent(a.value); st != HSA_STATUS_SUCCESS {
				return nil, st
			}
			key = a.value // an agent, which is no attribute
			c = func(s *svmState) { s.access(a.value-agentBase, a.attribute) }
		default:
			return nil, HSA_STATUS_ERROR_INVALID_ARGUMENT
		}
		if !once(key) {
			return nil, HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS
		}
		all = append(all, c)
	}
	return func(s *svmState) {
		for _, c := range all {
			c(s)
		}
	}, HSA_STATUS_SUCCESS
}

// access notes what an agent may: the processor, 0, or a card.
func (s *svmState) access(agent, attribute uint64) {
	if agent == 0 {
		s.notHost = attribute == HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS
		return
	}
	bit := uint64(1) << (agent - 1)
	s.reach.reaches &^= bit
	s.reach.inPlace &^= bit
	switch attribute {
	case HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE:
		s.reach.reaches |= bit
	case HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE:
		s.reach.inPlace |= bit
	}
}

// pagesOf are the whole pages that a range lies in.
func pagesOf(ptr unsafe.Pointer, size uint64) (span, bool) {
	at := address(ptr)
	if at == 0 || size == 0 || size > math.MaxInt64 || at > math.MaxInt64-size-pageSize {
		return span{}, false
	}
	return span{at &^ (pageSize - 1), vmem.RoundUp(at + size)}, true
}

// own says whether all pages are the program's own, and there. The kernel takes no attributes of others: neither of what the driver has mapped,
// the cards' memory, the processor's pools and addresses that were reserved, nor of addresses of nothing.
func (l *library) own(pages span) bool {
	if l.sim.Overlaps(pages.from, pages.to) {
		return false
	}
	_, _, e := unix.Syscall(unix.SYS_MSYNC, uintptr(pages.from), uintptr(pages.to-pages.from), unix.MS_ASYNC) // which does nothing but look
	return e == 0
}

// hsaAMDSVMAttributesSet says what holds for the pages of a range, which are the program's own.
func hsaAMDSVMAttributesSet(ptr unsafe.Pointer, size uint64, list *amdSVMAttributePair, n uint64) status {
	l := current.Load()
	pages, ok := pagesOf(ptr, size)
	if !ok || n > 1<<16 || len(l.cards) > cardsMost {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	change, st := l.changes(unsafe.Slice(list, n))
	if st != HSA_STATUS_SUCCESS {
		return st
	}
	if !l.own(pages) {
		return HSA_STATUS_ERROR
	}
	l.svmMu.Lock()
	defer l.svmMu.Unlock()
	var now svmState
	change(&now)
	if now.reach != (reach{}) { // the first of all, which may fail
		if st := l.show(pages); st != HSA_STATUS_SUCCESS {
			return st
		}
	}
	l.apply(pages, change)
	return HSA_STATUS_SUCCESS
}

// hsaAMDSVMAttributesGet is what holds for all pages of a range.
func hsaAMDSVMAttributesGet(ptr unsafe.Pointer, size uint64, list *amdSVMAttributePair, n uint64) status {
	l := current.Load()
	pages, ok := pagesOf(ptr, size)
	if !ok || n > 1<<16 {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	if n > 0 && !l.own(pages) { // who asks for nothing is told nothing
		return HSA_STATUS_ERROR
	}
	l.svmMu.Lock()
	defer l.svmMu.Unlock()
	states := l.states(pages)
	asked := unsafe.Slice(list, n)
	answers := append([]amdSVMAttributePair(nil), asked...)
	for i := range answers {
		if st := l.answer(&answers[i], states); st != HSA_STATUS_SUCCESS {
			return st
		}
	}
	copy(asked, answers)
	return HSA_STATUS_SUCCESS
}

// hsaAMDSVMPrefetchAsync notes where memory is to go when the signals are zero; all agents reach it where it is.
func hsaAMDSVMPrefetchAsync(ptr unsafe.Pointer, size, h uint64, n uint32, deps *uint64, completion uint64) status {
	l := current.Load()
	pages, ok := pagesOf(ptr, size)
	if !ok {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	if _, st := l.agent(h); st != HSA_STATUS_SUCCESS {
		return st
	}
	list, st := dependencies(n, deps)
	if st != HSA_STATUS_SUCCESS {
		return st
	}
	if completion != 0 && signal(completion) == nil {
		return HSA_STATUS_ERROR_INVALID_SIGNAL
	}
	l.svmMu.Lock()
	l.apply(pages, func(s *svmState) { s.prefetched = h }) // who asks is told where it goes, too
	l.svmMu.Unlock()
	l.after(list, completion, func() status { return HSA_STATUS_SUCCESS })
	return HSA_STATUS_SUCCESS
}
