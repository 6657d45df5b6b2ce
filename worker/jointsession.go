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
	ctl   *control
	cards []joint.Card // by device

	pressing sync.Mutex // the parent makes room for one call at a time

	mu      sync.Mutex
	last    uint32
	waiting map[uint32]chan jointReply
}

var _ quota.Joint = (*jointAsker)(nil)

// joinAccount has a runtime ask for what its session shares with others; nil if that is nothing.
func joinAccount(ctl *control, q *quota.Runtime, shared uint8) *jointAsker {
	if shared == 0 {
		return nil
	}
	j := &jointAsker{ctl: ctl, waiting: map[uint32]chan jointReply{}}
	for _, p := range devicesOf(q) {
		var c joint.Card
		if p != nil {
			c = joint.Card{At: uint64(busAddressOf(p)), UUID: p.Uuid.Bytes}
		}
		j.cards = append(j.cards, c)
	}
	q.SetJoint(j, shared&jointMemory != 0, shared&jointCompute != 0)
	return j
}

// ask sends a request and waits for its reply; none is all zero.
func (j *jointAsker) ask(kind uint8, device int32, a, b uint64) (reply jointReply, ok bool) {
	c := make(chan jointReply, 1)
	j.mu.Lock()
	j.last++
	q := jointRequest{ID: j.last, Kind: kind, Card: j.cards[device], A: a, B: b}
	j.waiting[q.ID] = c
	j.mu.Unlock()
	t := time.NewTimer(brokerTime)
	defer t.Stop()
	if j.ctl.send(q.encode(), -1) == nil {
		select {
		case reply = <-c:
			return reply, true
		case <-t.C:
		}
	}
	j.mu.Lock()
	delete(j.waiting, q.ID)
	j.mu.Unlock()
	return jointReply{}, false
}

// answer takes a reply of the parent's.
func (j *jointAsker) answer(a jointReply) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if c := j.waiting[a.ID]; c != nil {
		delete(j.waiting, a.ID)
		c <- a // there is room for one
	}
}

// Take implements quota.Joint.
func (j *jointAsker) Take(device int32, size, least uint64) uint64 {
	a, _ := j.ask(jointTake, device, size, least)
	return min(a.A, size)
}

// Add implements quota.Joint.
func (j *jointAsker) Add(device int32, size uint64) { j.ask(jointAdd, device, size, 0) }

// Give implements quota.Joint. It waits for the answer: who hears afterwards that memory was freed can have it.
func (j *jointAsker) Give(device int32, size uint64) { j.ask(jointGive, device, size, 0) }

// Left implements quota.Joint.
func (j *jointAsker) Left(device int32) uint64 {
	if a, ok := j.ask(jointLeft, device, 0, 0); ok {
		return a.A
	}
	return 0
}

// Room implements quota.Joint.
func (j *jointAsker) Room(device int32, size uint64) bool {
	j.pressing.Lock()
	defer j.pressing.Unlock()
	a, _ := j.ask(jointRoom, device, size, 0)
	return a.A != 0
}

// Draw implements quota.Joint. A parent that does not answer is about to end this process.
func (j *jointAsker) Draw(device int32) (granted, later time.Duration) {
	a, ok := j.ask(jointDraw, device, 0, 0)
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
