//go:build linux

package hsaabi

import (
	"slices"

	"github.com/rocwire/rocwire/hip"
)

// span are addresses [from, to).
type span struct{ from, to uint64 }

func (s span) meets(o span) bool { return s.from < o.to && o.from < s.to }

// svmRun is what was said of pages.
type svmRun struct {
	span
	svmState
}

// apply changes what holds for pages. svmMu is held.
func (v *svm) apply(pages span, change svmChange) {
	var list []svmRun
	at := pages.from
	fill := func(to uint64) { // pages of which nothing was said
		if at < to {
			r := svmRun{span: span{at, to}}
			change(&r.svmState)
			list = append(list, r)
		}
	}
	for _, r := range v.said {
		if !r.meets(pages) {
			if r.from >= pages.to {
				fill(pages.to)
				at = pages.to
			}
			list = append(list, r)
			continue
		}
		if r.from < pages.from {
			list = append(list, svmRun{span{r.from, pages.from}, r.svmState})
		}
		fill(r.from)
		in := svmRun{span{max(r.from, pages.from), min(r.to, pages.to)}, r.svmState}
		change(&in.svmState)
		list = append(list, in)
		at = in.to
		if r.to > pages.to {
			list = append(list, svmRun{span{pages.to, r.to}, r.svmState})
		}
	}
	fill(pages.to)
	v.said = v.said[:0:0]
	for _, r := range list {
		if n := len(v.said); n > 0 && v.said[n-1].to == r.from && v.said[n-1].svmState == r.svmState {
			v.said[n-1].to = r.to
		} else if r.svmState != (svmState{}) {
			v.said = append(v.said, r)
		}
	}
}

// states are the different states of the pages. svmMu is held.
func (v *svm) states(pages span) (list []svmState) {
	at := pages.from
	for _, r := range v.said {
		if !r.meets(pages) {
			continue
		}
		if at < r.from {
			list = append(list, svmState{})
		}
		list = append(list, r.svmState)
		at = r.to
	}
	if at < pages.to {
		list = append(list, svmState{})
	}
	return list
}

// all says whether something is so in all states.
func all(states []svmState, is func(*svmState) bool) bool {
	for i := range states {
		if !is(&states[i]) {
			return false
		}
	}
	return true
}

// same is the value that all states have, or other.
func same(states []svmState, value func(*svmState) uint64, other uint64) uint64 {
	v := value(&states[0])
	if all(states, func(s *svmState) bool { return value(s) == v }) {
		return v
	}
	return other
}

// answer is one attribute of pages that are in these states.
func (l *library) answer(a *amdSVMAttributePair, states []svmState) status {
	yes := func(is func(*svmState) bool) status {
		a.value = 0
		if all(states, is) {
			a.value = 1
		}
		return HSA_STATUS_SUCCESS
	}
	switch a.attribute {
	case HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG:
		a.value = same(states, func(s *svmState) uint64 {
			if s.coarse {
				return HSA_AMD_SVM_GLOBAL_FLAG_COARSE_GRAINED
			}
			return HSA_AMD_SVM_GLOBAL_FLAG_FINE_GRAINED
		}, HSA_AMD_SVM_GLOBAL_FLAG_INDETERMINATE)
	case HSA_AMD_SVM_ATTRIB_READ_ONLY:
		return yes(func(s *svmState) bool { return s.readOnly })
	case HSA_AMD_SVM_ATTRIB_HIVE_LOCAL:
		return yes(func(s *svmState) bool { return s.hiveLocal })
	case HSA_AMD_SVM_ATTRIB_READ_MOSTLY:
		return yes(func(s *svmState) bool { return s.readMostly })
	case HSA_AMD_SVM_ATTRIB_MIGRATION_GRANULARITY: // the least
		a.value = granularityMost
		for _, s := range states {
			v := uint64(granularityUsual)
			if s.granularity > 0 {
				v = s.granularity - 1
			}
			a.value = min(a.value, v)
		}
	case HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION:
		a.value = same(states, func(s *svmState) uint64 { return s.preferred }, 0)
	case HSA_AMD_SVM_ATTRIB_PREFETCH_LOCATION:
		a.value = same(states, func(s *svmState) uint64 { return s.prefetched }, 0)
	case HSA_AMD_SVM_ATTRIB_ACCESS_QUERY:
		if _, st := l.agent(a.value); st != HSA_STATUS_SUCCESS {
			return st
		}
		if a.value == agentBase {
			if all(states, func(s *svmState) bool { return !s.notHost }) {
				a.attribute = HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE
			}
			return HSA_STATUS_SUCCESS
		}
		bit := uint64(1) << (a.value - agentBase - 1)
		switch {
		case all(states, func(s *svmState) bool { return s.reach.inPlace&bit != 0 }):
			a.attribute = HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE
		case all(states, func(s *svmState) bool { return (s.reach.reaches|s.reach.inPlace)&bit != 0 }):
			a.attribute = HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE
		default:
			a.attribute = HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS
		}
	default:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	return HSA_STATUS_SUCCESS
}

// show lets kernels reach pages. Ranges that meet become one, which copies may go over; of memory that
// the program has given back since, only the new range is left. svmMu is held.
func (l *library) show(pages span) status {
	whole := pages
	for _, r := range l.reaches {
		if r.from <= pages.from && pages.to <= r.to && l.register(pages) == hip.Success {
			return HSA_STATUS_SUCCESS // unless the simulated card has forgotten it
		}
		if r.meets(pages) {
			whole = span{min(whole.from, r.from), max(whole.to, r.to)}
		}
	}
	e := l.register(whole)
	if e != hip.Success && whole != pages {
		whole = pages
		e = l.register(pages)
	}
	if e != hip.Success {
		return HSA_STATUS_ERROR
	}
	l.reaches = append(slices.DeleteFunc(l.reaches, whole.meets), whole)
	return HSA_STATUS_SUCCESS
}

func (l *library) register(s span) hip.Error {
	return l.sim.HostRegister(hip.Thread{}, hip.Ptr(s.from), s.to-s.from, 0)
}

// reached says whether kernels reach a range by its attributes.
func (v *svm) reached(addr, size uint64) bool {
	v.svmMu.Lock()
	defer v.svmMu.Unlock()
	return slices.ContainsFunc(v.reaches, func(r span) bool { return r.from <= addr && addr < r.to && size <= r.to-addr })
}
