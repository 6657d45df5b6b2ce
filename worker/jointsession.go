package worker

import (
	"math"
	"sync"
	"time"

	"github.com/rocwire/rocwire/worker/quota"
	"github.com/rocwire/rocwire/worker/quota/joint"
)

// Which quotas a session shares with others, as start.Joint says it.
const (
	jointMemory = 1 << iota
	jointCompute
)

// jointAsker is the session process's side of a joint account: it asks the parent, which keeps it.
type jointAsker struct {
	*asker[jointReply]
	cards []joint.Card // by device

	pressing sync.Mutex // the parent makes room for one call at a time
}

var _ quota.Joint = (*jointAsker)(nil)

// joinAccount has a runtime with some cards ask for what its session shares with others; nil if that is nothing.
func joinAccount(ctl *control, q *quota.Runtime, cards []joint.Card, shared uint8) *jointAsker {
	if shared == 0 {
		return nil
	}
	j := &jointAsker{asker: newAsker[jointReply](ctl, nil), cards: cards}
	q.SetJoint(j, shared&jointMemory != 0, shared&jointCompute != 0)
	return j
}

// of asks the parent about a device; no answer is all zero.
func (j *jointAsker) of(device int32, kind uint8, a, b uint64) (reply jointReply, ok bool) {
	return j.ask(func(id uint32) []byte {
		return (&jointRequest{ID: id, Kind: kind, Card: j.cards[device], A: a, B: b}).encode()
	}, -1)
}

// Take implements quota.Joint.
func (j *jointAsker) Take(device int32, size, least uint64) uint64 {
	a, _ := j.of(device, jointTake, size, least)
	return min(a.A, size)
}

// Add implements quota.Joint.
func (j *jointAsker) Add(device int32, size uint64) { j.of(device, jointAdd, size, 0) }

// Give implements quota.Joint. It waits for the answer: who hears afterwards that memory was freed can have it.
func (j *jointAsker) Give(device int32, size uint64) { j.of(device, jointGive, size, 0) }

// Left implements quota.Joint.
func (j *jointAsker) Left(device int32) uint64 {
	if a, ok := j.of(device, jointLeft, 0, 0); ok {
		return a.A
	}
	return 0
}

// Room implements quota.Joint.
func (j *jointAsker) Room(device int32, size uint64) bool {
	j.pressing.Lock()
	defer j.pressing.Unlock()
	a, _ := j.of(device, jointRoom, size, 0)
	return a.A != 0
}

// Draw implements quota.Joint. A parent that does not answer is about to end this process.
func (j *jointAsker) Draw(device int32) (granted, later time.Duration) {
	a, ok := j.of(device, jointDraw, 0, 0)
	if !ok {
		return 0, time.Second
	}
	return time.Duration(min(a.A, math.MaxInt64)), time.Duration(min(a.B, math.MaxInt64))
}

// Spend implements quota.Joint.
func (j *jointAsker) Spend(device int32, ran time.Duration) {
	_ = j.ctl.send((&jointRequest{Kind: jointSpend, Card: j.cards[device], A: uint64(ran)}).encode(), -1) // a parent that is gone counts no more
}

// trim has the runtime give back what it keeps, and says so.
func (j *jointAsker) trim(q *quota.Runtime) {
	q.Trim()
	_ = j.ctl.send((&jointRequest{Kind: jointTrimmed}).encode(), -1)
}
