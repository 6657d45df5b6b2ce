package worker

import (
	"crypto/rand"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/hip"
)

// maxSessionShares bounds what one session publishes: each entry is a descriptor of the parent's. A session has an eighth of all at most.
const maxSessionShares = 2048

// shares is what sessions have published for each other: memory files, by tokens that cannot be guessed. The memory is no business of the
// parent's: it passes descriptors on, and forgets them when their publisher withdraws them or is gone. Who has fetched one keeps it.
type shares struct {
	most int // of all
	mu   sync.Mutex
	all  map[hip.ShareToken]share
	held map[*proc]int

	modules *moduleCache // goes the same way

	room  func(p *proc, at busAddress, size uint64) bool // makes some for a session's allocation
	spare func(p *proc, at busAddress) uint64            // how much that could be
}

type share struct {
	hip.Shared
	by *proc
}

// shareable says whether a descriptor is what sessions may pass on: a memory file, as large as it is said to be, that cannot shrink, or memory
// of a card, which the driver looks after.
func shareable(s hip.Shared) bool {
	var st unix.Stat_t
	var fs unix.Statfs_t
	if unix.Fstatfs(s.FD, &fs) == nil && fs.Type == unix.DMA_BUF_MAGIC {
		return s.Size != 0
	}
	seals, err := unix.FcntlInt(uintptr(s.FD), unix.F_GET_SEALS, 0)
	return err == nil && seals&unix.F_SEAL_SHRINK != 0 && unix.Fstat(s.FD, &st) == nil && st.Size >= 0 && s.Size != 0 && s.Size <= uint64(st.Size)
}

// publish keeps s, and takes its descriptor in any case.
func (h *shares) publish(by *proc, s hip.Shared) (t hip.ShareToken, code hip.Error) {
	code = hip.ErrorInvalidValue
	if s.FD >= 0 && shareable(s) {
		h.mu.Lock()
		defer h.mu.Unlock()
		code = hip.ErrorOutOfMemory
		if len(h.all) < h.most && h.held[by] < min(maxSessionShares, max(1, h.most/8)) {
			if h.all == nil {
				h.all, h.held = map[hip.ShareToken]share{}, map[*proc]int{}
			}
			_, _ = rand.Read(t[:]) // it never fails
			h.all[t] = share{s, by}
			h.held[by]++
			return t, hip.Success
		}
	}
	if s.FD >= 0 {
		_ = unix.Close(s.FD)
	}
	return t, code
}

// fetch is what is published under a token, with a descriptor of the caller's own.
func (h *shares) fetch(t hip.ShareToken) (hip.Shared, hip.Error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s, ok := h.all[t]
	if !ok {
		return hip.Shared{FD: -1}, hip.ErrorInvalidValue
	}
	fd, err := unix.FcntlInt(uintptr(s.FD), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return hip.Shared{FD: -1}, hip.ErrorOutOfMemory
	}
	own := s.Shared
	own.FD = fd
	return own, hip.Success
}

// withdraw forgets what by has published under a token.
func (h *shares) withdraw(by *proc, t hip.ShareToken) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s, ok := h.all[t]; ok && s.by == by {
		h.drop(t, s)
	}
}

// forget drops everything that a process has published: it is gone.
func (h *shares) forget(by *proc) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.held[by] == 0 {
		return
	}
	for t, s := range h.all {
		if s.by == by {
			h.drop(t, s)
		}
	}
}

// drop ends an entry. mu is held.
func (h *shares) drop(t hip.ShareToken, s share) {
	_ = unix.Close(s.FD)
	delete(h.all, t)
	if h.held[s.by]--; h.held[s.by] == 0 {
		delete(h.held, s.by)
	}
}

// serve does what a session process asks for. The descriptor that came along, -1 for none, is taken.
func (h *shares) serve(p *proc, msg []byte, fd int) error {
	var q shareRequest
	if err := q.decode(msg[1:]); err != nil {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
		return err
	}
	if q.Kind != sharePublish && q.Kind != shareKeep && fd >= 0 {
		_ = unix.Close(fd)
		fd = -1
	}
	a := shareReply{ID: q.ID, Shared: hip.Shared{FD: -1}}
	switch q.Kind {
	case sharePublish:
		q.Shared.FD = fd
		a.Token, a.Code = h.publish(p, q.Shared)
	case shareFetch:
		a.Shared, a.Code = h.fetch(q.Token)
		if a.Shared.FD >= 0 {
			defer func() { _ = unix.Close(a.Shared.FD) }()
		}
	case shareWithdraw:
		h.withdraw(p, q.Token)
	case shareFind:
		a.Shared.FD = h.modules.find(p.record().owner(), q.Token, q.Shared.Size)
		if a.Shared.FD >= 0 {
			defer func() { _ = unix.Close(a.Shared.FD) }()
		}
	case shareKeep:
		if fd >= 0 {
			h.modules.keep(p.record().owner(), fd)
		}
		return nil
	case shareSpare:
		a.Shared.Size = h.spare(p, q.At)
	case shareRoom:
		a.Code = hip.ErrorOutOfMemory
		if p.pressed.Swap(true) {
			break // one at a time
		}
		go func() { // which ends sessions; the process goes on being listened to
			if h.room(p, q.At, q.Shared.Size) {
				a.Code = hip.Success
			}
			p.pressed.Store(false)
			_ = p.ctl.order(a.encode()) // a process that is gone needs no room
		}()
		return nil
	}
	return p.ctl.orderFD(a.encode(), a.Shared.FD)
}
