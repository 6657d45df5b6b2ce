package worker

import (
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/internal/mono"
	"github.com/rocwire/rocwire/worker/quota"
	"github.com/rocwire/rocwire/worker/quota/joint"
)

// broker is the session process's side of what sessions share (hip.Broker): it asks the parent, which keeps what is published.
type broker struct {
	*asker[shareReply]
	cards   []joint.Card // by device; this and account are set by bound
	account *jointAsker  // nil if the session shares no quota

	spareMu sync.Mutex
	spare   map[int32]spare
}

// spare is what the parent has said of a device.
type spare struct {
	bytes uint64
	at    int64 // as mono.Now
}

// spareTime is for how long that is taken for true, unless the session itself has had others give way: programs ask what is free as often as they like, and the
// parent has many sessions to answer.
const spareTime = int64(time.Second)

var _ hip.Broker = (*broker)(nil)

func newBroker(ctl *control) *broker {
	closing := func(a shareReply) {
		if a.Shared.FD >= 0 {
			_ = unix.Close(a.Shared.FD)
		}
	}
	return &broker{asker: newAsker(ctl, closing), spare: map[int32]spare{}}
}

// share asks the parent.
func (b *broker) share(q shareRequest, fd int) (shareReply, hip.Error) {
	a, ok := b.ask(func(id uint32) []byte { q.ID = id; return q.encode() }, fd)
	if !ok {
		return a, hip.ErrorUnknown
	}
	return a, a.Code
}

// Publish implements hip.Broker.
func (b *broker) Publish(s hip.Shared) (hip.ShareToken, hip.Error) {
	a, code := b.share(shareRequest{Kind: sharePublish, Shared: s}, s.FD)
	return a.Token, code
}

// Fetch implements hip.Broker.
func (b *broker) Fetch(t hip.ShareToken) (hip.Shared, hip.Error) {
	a, code := b.share(shareRequest{Kind: shareFetch, Token: t}, -1)
	if code == hip.Success && a.Shared.FD < 0 {
		code = hip.ErrorUnknown
	}
	return a.Shared, code
}

// bound holds a runtime to the quotas of a start, and has it ask for room and for what the session has together with others.
func (b *broker) bound(q *quota.Runtime, st *start) {
	b.cards = cardsOf(q)
	q.SetRoom(b.Room, b.Spare)
	setLimits(q, b.cards, st.Limits)
	b.account = joinAccount(b.ctl, q, b.cards, st.Joint)
}

// stop is told that nobody reads answers any more.
func (b *broker) stop() {
	close(b.over)
	if b.account != nil {
		close(b.account.over)
	}
}

// Room has sessions whose clients are away give way to an allocation of size bytes on a device, and reports whether any did.
func (b *broker) Room(device int32, size uint64) bool {
	_, code := b.share(shareRequest{Kind: shareRoom, At: busAddress(b.cards[device].At), Shared: hip.Shared{Size: size}}, -1)
	b.spareMu.Lock()
	delete(b.spare, device)
	b.spareMu.Unlock()
	return code == hip.Success
}

// Spare is the memory of a device in bytes that sessions hold whose clients are away, and would give way with.
func (b *broker) Spare(device int32) uint64 {
	b.spareMu.Lock()
	s, ok := b.spare[device]
	b.spareMu.Unlock()
	if now := mono.Now(); !ok || now-s.at > spareTime {
		a, code := b.share(shareRequest{Kind: shareSpare, At: busAddress(b.cards[device].At)}, -1)
		if s = (spare{a.Shared.Size, now}); code == hip.Success {
			b.spareMu.Lock()
			b.spare[device] = s
			b.spareMu.Unlock()
		}
	}
	return s.bytes
}

// Withdraw implements hip.Broker. It waits until the parent has done so: who hears afterwards that the memory was freed must not get it any more.
func (b *broker) Withdraw(t hip.ShareToken) {
	b.share(shareRequest{Kind: shareWithdraw, Token: t}, -1) // or the end of this process does it
}
