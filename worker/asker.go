package worker

import (
	"sync"
	"time"
)

// askTime is how long the parent may take to answer.
const askTime = 10 * time.Second

// asker is a session process's side of questions to the parent: each has a number, which its answer has, too. They are answered in any order.
type asker[A any] struct {
	ctl    *control
	unread func(A)       // has an answer that nobody waits for; may be nil
	over   chan struct{} // closed when nobody reads answers any more

	mu      sync.Mutex
	last    uint32
	waiting map[uint32]chan A
}

func newAsker[A any](ctl *control, unread func(A)) *asker[A] {
	return &asker[A]{ctl: ctl, unread: unread, over: make(chan struct{}), waiting: map[uint32]chan A{}}
}

// ask sends a question, and a descriptor unless that is negative, and waits for the answer. There is none if the parent does not answer in its time, or will not.
func (k *asker[A]) ask(question func(id uint32) []byte, fd int) (a A, ok bool) {
	c := make(chan A, 1)
	k.mu.Lock()
	k.last++
	id := k.last
	k.waiting[id] = c
	k.mu.Unlock()
	if k.ctl.send(question(id), fd) == nil {
		t := time.NewTimer(askTime)
		defer t.Stop()
		select {
		case a = <-c:
			return a, true
		case <-t.C:
		case <-k.over:
		}
	}
	k.mu.Lock()
	delete(k.waiting, id)
	k.mu.Unlock()
	select {
	case late := <-c: // it came after all
		k.drop(late)
	default:
	}
	return a, false
}

// answer takes the answer to a question.
func (k *asker[A]) answer(id uint32, a A) {
	k.mu.Lock()
	defer k.mu.Unlock()
	c := k.waiting[id]
	delete(k.waiting, id)
	if c == nil {
		k.drop(a)
		return
	}
	c <- a // there is room for one
}

func (k *asker[A]) drop(a A) {
	if k.unread != nil {
		k.unread(a)
	}
}
