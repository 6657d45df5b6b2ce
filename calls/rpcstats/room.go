package rpcstats

import "time"

// forget drops the totals that nobody has counted in for long.
func (r *Totals) forget() {
	now := r.now()
	for c, t := range r.series {
		if t.owners == 0 && !t.kept && now.Sub(t.left) >= lasting {
			r.drop(c)
		}
	}
}

// room makes room for one more total of a reporter's: first goes what has been nobody's for longest, then one that only the reporter counts in
// that has most of those, unless by has as many. It is false if there is none.
func (r *Totals) room(by *Reporter) bool {
	if len(r.series) < maxCalls {
		return true
	}
	if by == nil || r.now().Sub(by.refused) < searchEvery { // or a report full of names would search for each
		return false
	}
	if r.vacate(by) {
		return true
	}
	by.refused = r.now()
	return false
}

// searchEvery is how often room is searched for one reporter in vain.
const searchEvery = time.Second

func (r *Totals) vacate(by *Reporter) bool {
	r.forget()
	if len(r.series) < maxCalls {
		return true
	}
	var oldest Call
	var found *total
	for c, t := range r.series {
		if t.owners == 0 && !t.kept && (found == nil || t.left.Before(found.left)) {
			oldest, found = c, t
		}
	}
	if found != nil {
		r.drop(oldest)
		return true
	}
	greedy := by
	for p := range r.reporters {
		if len(p.calls) > len(greedy.calls) {
			greedy = p
		}
	}
	if len(greedy.calls) <= len(by.calls)+1 {
		return false
	}
	for c, t := range greedy.calls {
		if t.owners == 1 && !t.kept && c != rest(c.Side) {
			delete(greedy.calls, c)
			r.drop(c)
			return true
		}
	}
	return false
}

func (r *Totals) drop(c Call) {
	delete(r.series, c)
	r.changed = true
}
