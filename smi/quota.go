package smi

import (
	"context"
	"math"
)

// Quota is what a worker's session may have of a card. What is not set stays as it is;
// 0 lifts a limit.
type Quota struct {
	Memory  Opt[Bytes] `json:"memory_bytes" msgpack:"m,omitempty"`
	Compute Opt[Ratio] `json:"compute_ratio" msgpack:"c,omitempty"` // of the card's time, 0 … 1
}

// Check says whether there is something to set and whether it is a quota.
func (q *Quota) Check() error {
	if !q.Memory.Ok() && !q.Compute.Ok() {
		return Errorf(ErrInvalid, "a quota limits memory, compute time or both")
	}
	if c, ok := q.Compute.Get(); ok && (math.IsNaN(float64(c)) || c < 0 || c > 1) {
		return Errorf(ErrInvalid, "a share of %v is not within 0 … 1", float64(c))
	}
	return nil
}

// Over is q with what it leaves open as in base.
func (q Quota) Over(base Quota) Quota {
	if !q.Memory.Ok() {
		q.Memory = base.Memory
	}
	if !q.Compute.Ok() {
		q.Compute = base.Compute
	}
	return q
}

// Within is q held to most: the smaller limit of each kind that either has.
func (q Quota) Within(most Quota) Quota {
	if m := most.Memory.Or(0); m > 0 && (q.Memory.Or(0) == 0 || q.Memory.Or(0) > m) {
		q.Memory = most.Memory
	}
	if c := most.Compute.Or(0); c > 0 && (q.Compute.Or(0) == 0 || q.Compute.Or(0) > c) {
		q.Compute = most.Compute
	}
	return q
}

// SessionQuota is the quota of a session on one card. A session has two of a card where it has memory together with others and time for itself, or the
// other way around.
type SessionQuota struct {
	Device int `json:"device" msgpack:"i,omitempty"` // index of the card
	Quota  `msgpack:",inline"`
	// Together names those whose sessions have together what their token says, which is what the session has unless it was given something else for
	// itself; empty: the session has it for itself.
	Together string `json:"together,omitempty" msgpack:"t,omitempty"`
}

// Limiter is a Source that can hold the sessions of a worker to quotas.
type Limiter interface {
	// SetQuota sets what a session may have of a card from now on; session "" means
	// all that are there and all that come. ErrNotFound: no such card or session.
	SetQuota(ctx context.Context, index int, session string, q Quota) error
}

// LimiterOf is the Limiter behind src, found like InjectorOf's; nil if there is none.
func LimiterOf(src Source) Limiter {
	l, _ := behind[Limiter](src)
	return l
}

// behind finds an ability of src: its own, or that of a source that it stands in front
// of and gives by Unwrap.
func behind[T any](src Source) (T, bool) {
	for src != nil {
		if t, ok := src.(T); ok {
			return t, true
		}
		w, ok := src.(interface{ Unwrap() Source })
		if !ok {
			break
		}
		src = w.Unwrap()
	}
	var none T
	return none, false
}
