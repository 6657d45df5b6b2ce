package worker

import (
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/internal/mono"
	"github.com/rocwire/rocwire/worker/quota"
)

// broker is the session process's side of what sessions share (hip.Broker): it asks the parent, which keeps what is published.
type broker struct {
	ctl    *control
	places []busAddress // by device; set before Room and Spare are called

	over chan struct{} // closed when nobody reads answers any more

	mu      sync.Mutex
	last    uint32
	waiting map[uint32]chan shareReply
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

// brokerTime is how long the parent may take to answer.
const brokerTime = 10 * time.Second

func newBroker(ctl *control) *broker {
	return &broker{ctl: ctl, over: make(chan struct{}), waiting: map[uint32]chan shareReply{}, spare: map[int32]spare{}}
}

// ask sends a request and waits for its reply.
func (b *broker) ask(q shareRequest, fd int) (shareReply, hip.Error) {
	c := make(chan shareReply, 1)
	b.mu.Lock()
	b.last++
	q.ID = b.last
	b.waiting[q.ID] = c
	b.mu.Unlock()
	err := b.ctl.send(q.encode(), fd)
	t := time.NewTimer(brokerTime)
	defer t.Stop()
	if err == nil {
		select {
		case a := <-c:
			return a, a.Code
		case <-t.C:
		case <-b.over:
		}
	}
	b.mu.Lock()
	delete(b.waiting, q.ID)
	b.mu.Unlock()
	select {
	case a := <-c: // it came after all
		if a.Shared.FD >= 0 {
			_ = unix.Close(a.Shared.FD)
		}
	default:
	}
	return shareReply{}, hip.ErrorUnknown
}

// answer takes a reply of the parent's, and the descriptor.
func (b *broker) answer(a shareReply) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.waiting[a.ID]
	delete(b.waiting, a.ID)
	if c != nil {
		c <- a // there is room for one
	} else if a.Shared.FD >= 0 {
		_ = unix.Close(a.Shared.FD)
	}
}

// Publish implements hip.Broker.
func (b *broker) Publish(s hip.Shared) (hip.ShareToken, hip.Error) {
	a, code := b.ask(shareRequest{Kind: sharePublish, Shared: s}, s.FD)
	return a.Token, code
}

// Fetch implements hip.Broker.
func (b *broker) Fetch(t hip.ShareToken) (hip.Shared, hip.Error) {
	a, code := b.ask(shareRequest{Kind: shareFetch, Token: t}, -1)
	if code == hip.Success && a.Shared.FD < 0 {
		code = hip.ErrorUnknown
	}
	return a.Shared, code
}

// giveRoom has a runtime ask for room.
func (b *broker) giveRoom(q *quota.Runtime) {
	for _, p := range devicesOf(q) {
		at := nowhere
		if p != nil {
			at = busAddressOf(p)
		}
		b.places = append(b.places, at)
	}
	q.SetRoom(b.Room, b.Spare)
}

// Room has sessions whose clients are away give way to an allocation of size bytes on a device, and reports whether any did.
func (b *broker) Room(device int32, size uint64) bool {
	_, code := b.ask(shareRequest{Kind: shareRoom, At: b.places[device], Shared: hip.Shared{Size: size}}, -1)
	b.mu.Lock()
	delete(b.spare, device)
	b.mu.Unlock()
	return code == hip.Success
}

// Spare is the memory of a device in bytes that sessions hold whose clients are away, and would give way with.
func (b *broker) Spare(device int32) uint64 {
	b.mu.Lock()
	s, ok := b.spare[device]
	b.mu.Unlock()
	if now := mono.Now(); !ok || now-s.at > spareTime {
		a, code := b.ask(shareRequest{Kind: shareSpare, At: b.places[device]}, -1)
		if s = (spare{a.Shared.Size, now}); code == hip.Success {
			b.mu.Lock()
			b.spare[device] = s
			b.mu.Unlock()
		}
	}
	return s.bytes
}

// Withdraw implements hip.Broker. It waits until the parent has done so: who hears afterwards that the memory was freed must not get it any more.
func (b *broker) Withdraw(t hip.ShareToken) {
	b.ask(shareRequest{Kind: shareWithdraw, Token: t}, -1) // or the end of this process does it
}
