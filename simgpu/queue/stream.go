package queue

import (
	"sync"
	"sync/atomic"
)

// Task is one piece of work of a stream.
type Task struct {
	Run    func()
	Then   func()  // called after the fence has passed, and after Run if that ran, before the stream goes on; may be nil
	After  []Fence // in addition to what comes before it in the stream
	Always bool    // also when the queues were aborted
	Size   int     // bytes that it holds besides, for Load
	Apart  bool    // it touches no memory of the devices: it does not pass the gate
}

// Stream is an in-order queue.
type Stream struct {
	q        *Queues
	blocking bool

	tail uint64        // tasks queued; q.mu
	done atomic.Uint64 // tasks that ended

	mu      sync.Mutex
	cond    sync.Cond // done has grown
	tasks   []Task    // queued, not begun: tasks[head:]
	head    int
	running bool // someone executes tasks: the stream's goroutine or a Do
	closed  bool
}

func newStream(q *Queues, blocking bool) *Stream {
	s := &Stream{q: q, blocking: blocking}
	s.cond.L = &s.mu
	return s
}

// Blocking reports whether the stream takes turns with the null stream.
func (s *Stream) Blocking() bool { return s.blocking }

// pending reports whether the stream has not done something yet. q.mu is held.
func (s *Stream) pending() bool { return s.done.Load() < s.tail }

// pendingFence appends a fence for what the stream has not done yet, if any.
// q.mu is held.
func (s *Stream) pendingFence(list []Fence) []Fence {
	if s.pending() {
		list = append(list, Fence{s, s.tail})
	}
	return list
}

// turns appends what a new task of s must wait for by the rules of the null
// stream. q.mu is held.
func (s *Stream) turns(list []Fence) []Fence {
	switch {
	case s == s.q.null:
		for o := range s.q.streams {
			if o.blocking {
				list = o.pendingFence(list)
			}
		}
	case s.blocking:
		list = s.q.null.pendingFence(list)
	}
	return list
}

// waits reports whether a task queued now would have to wait. q.mu is held.
func (s *Stream) waits() bool {
	switch {
	case s.pending():
		return true
	case s == s.q.null:
		for o := range s.q.streams {
			if o.blocking && o.pending() {
				return true
			}
		}
	case s.blocking:
		return s.q.null.pending()
	}
	return false
}

// Add queues a task and returns the fence that passes when it has ended.
func (s *Stream) Add(t Task) Fence {
	q := s.q
	q.mu.Lock()
	t.After = s.turns(t.After)
	s.tail++
	f := Fence{s, s.tail}
	s.mu.Lock()
	s.tasks = append(s.tasks, t)
	q.gate.Load.add(&t)
	start := !s.running
	s.running = true
	s.mu.Unlock()
	q.mu.Unlock()
	if start {
		go s.execute()
	}
	return f
}

// Do queues a task and waits until it has ended. When nothing is in its way it
// runs on the calling goroutine.
func (s *Stream) Do(t Task) {
	q := s.q
	q.mu.Lock()
	t.After = s.turns(t.After)
	s.tail++
	f := Fence{s, s.tail}
	s.mu.Lock()
	inline := !s.running
	s.running = true
	if !inline {
		s.tasks = append(s.tasks, t)
		q.gate.Load.add(&t)
	}
	s.mu.Unlock()
	q.mu.Unlock()
	if !inline {
		f.Wait()
		return
	}
	s.run(&t)
	s.end()
	if t.Then != nil {
		t.Then()
	}
}

// Begin takes the stream for work that the caller does itself, at once, instead of a task: what is queued from now on comes after it. False if
// something is before it, or the queues were aborted: then it must be queued. End must follow.
func (s *Stream) Begin() bool {
	if !s.q.gate.tryEnter() {
		return false
	}
	_, ok := s.begin()
	if !ok {
		s.q.gate.Leave()
	}
	return ok
}

// begin is Begin for what does not pass the gate, with the place it took.
func (s *Stream) begin() (f Fence, ok bool) {
	q := s.q
	q.mu.Lock()
	ok = !s.waits() && !q.aborted.Load()
	if ok {
		s.mu.Lock()
		if ok = !s.running; ok {
			s.running = true
			s.tail++
			f = Fence{s, s.tail}
		}
		s.mu.Unlock()
	}
	q.mu.Unlock()
	return f, ok
}

// Place is a fence for everything queued so far, and what the null stream's
// turns add to it. Unlike Fence it says where that is also if it is done.
func (s *Stream) Place() Fence {
	if f, ok := s.begin(); ok {
		s.end()
		return f
	}
	return s.Add(Task{Always: true})
}

// End ends what Begin began.
func (s *Stream) End() {
	s.q.gate.Leave()
	s.end()
}

func (s *Stream) end() {
	s.mu.Lock()
	s.ended()
	more := s.head < len(s.tasks)
	s.running = more
	s.mu.Unlock()
	if more {
		go s.execute()
	}
}

// execute runs the stream's tasks until there are none.
func (s *Stream) execute() {
	s.mu.Lock()
	for s.head < len(s.tasks) {
		t := s.tasks[s.head]
		s.tasks[s.head] = Task{}
		if s.head++; s.head == len(s.tasks) {
			s.tasks, s.head = s.tasks[:0], 0
		} else if s.head >= 1024 && s.head*2 >= len(s.tasks) {
			n := copy(s.tasks, s.tasks[s.head:])
			clear(s.tasks[n:])
			s.tasks, s.head = s.tasks[:n], 0
		}
		s.mu.Unlock()
		s.run(&t)
		s.mu.Lock()
		s.ended()
		if t.Then != nil {
			s.mu.Unlock()
			t.Then()
			s.mu.Lock()
		}
		s.q.gate.Load.done(&t)
	}
	if cap(s.tasks) > 4096 {
		s.tasks = nil
	}
	s.running = false
	s.mu.Unlock()
}

func (s *Stream) run(t *Task) {
	for _, f := range t.After {
		f.Wait()
	}
	if t.Run == nil {
		return
	}
	if !t.Apart {
		s.q.gate.Enter()
		defer s.q.gate.Leave()
	}
	if t.Always || !s.q.aborted.Load() {
		t.Run()
	}
}

// ended counts a task that ended. mu is held.
func (s *Stream) ended() {
	if s.done.Add(1); s.closed && s.head == len(s.tasks) {
		go s.q.forget(s)
	}
	s.cond.Broadcast()
}

// Fence stands for everything queued on the stream so far. For the null stream
// that includes what its next task would have to wait for.
func (s *Stream) Fence() Fence {
	s.q.mu.Lock()
	defer s.q.mu.Unlock()
	if s.done.Load() >= s.tail {
		return Fence{}
	}
	return Fence{s, s.tail}
}

// Pending is what a task queued now would wait for.
func (s *Stream) Pending() []Fence {
	s.q.mu.Lock()
	defer s.q.mu.Unlock()
	return s.turns(s.pendingFence(nil))
}

// Idle reports whether Pending is empty.
func (s *Stream) Idle() bool {
	s.q.mu.Lock()
	defer s.q.mu.Unlock()
	return !s.waits()
}

// Close says that nothing more will be queued. What is queued still runs.
func (s *Stream) Close() {
	s.mu.Lock()
	s.closed = true
	idle := !s.running && s.head == len(s.tasks)
	s.mu.Unlock()
	if idle {
		s.q.forget(s)
	}
}

// forget removes a closed stream that has nothing left to do.
func (q *Queues) forget(s *Stream) {
	q.mu.Lock()
	if s.done.Load() >= s.tail {
		delete(q.streams, s)
	}
	q.mu.Unlock()
}
