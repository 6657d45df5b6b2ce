package worker

import (
	"bytes"
	"errors"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/wire"
	"github.com/rocwire/rocwire/worker/hostmem"
)

func (s *session) doLaunchKernel(r *wire.Request) {
	l := &s.launch
	defer func() { l.Args = nil }() // the connection's memory
	dev, ok := hiprpc.DecodeLaunch(r.Fixed, l)
	if !ok {
		s.malformed(r)
		return
	}
	if !s.checked(r, s.device(dev)) || !s.checked(r, s.checkLaunch(l)) {
		return
	}
	t := hip.Thread{Device: dev}
	if s.trace.wantsKernel(r, l) {
		s.launchTraced(r, t, l)
		return
	}
	s.reply(r, s.rt.LaunchKernel(t, l), nil)
}

// elf is how a code object begins. A client takes the one that it needs out of a bundle, and unfolds it: what a few bytes unfold to is its memory, not ours.
var elf = []byte("\x7fELF")

// doModuleLoadData loads one code object: the message's bulk.
func (s *session) doModuleLoadData(r *wire.Request) {
	d := wire.NewDec(r.Fixed)
	t := hip.Thread{Device: d.I32()}
	if !d.Done() || r.BulkLen == 0 || r.BulkLen > hiprpc.MaxImage {
		s.malformed(r)
		return
	}
	if !s.checked(r, s.device(t.Device)) {
		return
	}
	n := uint64(r.BulkLen)
	kept := 2*n + hostmem.Module
	if !s.room(r, hip.HandleModule) || !s.takes(r, n+kept) {
		return
	}
	defer s.mem.Give(n)
	b, err := readImage(r, s.contents != nil)
	if err != nil {
		s.mem.Give(kept)
		if errors.Is(err, unix.ENOMEM) {
			s.reply(r, hip.ErrorOutOfMemory, nil)
		}
		return // or the connection is gone
	}
	defer b.free()
	if s.loadModule(r, t, b.bytes, kept) && b.fd >= 0 {
		s.contents.Keep(b.fd)
	}
}

// loadModule loads a code object and replies. It gives back what was taken for it if that fails.
func (s *session) loadModule(r *wire.Request, t hip.Thread, b []byte, kept uint64) bool {
	m, code := hip.Module(0), hip.Error(hip.ErrorInvalidImage)
	if bytes.HasPrefix(b, elf) {
		m, code = s.rt.ModuleLoadData(t, b)
	}
	if code != hip.Success {
		s.mem.Give(kept)
		s.reply(r, code, nil)
		return false
	}
	s.handles.AddSized(hip.HandleModule, uint64(m), t.Device, kept)
	loaded := hiprpc.Loaded{Module: m}
	if s.functions {
		loaded.Functions = s.functionsOf(t, m, b)
	}
	s.reply(r, code, loaded.Append(nil, s.functions))
	return true
}

// hostFuncs are functions of the client that streams wait for.
type hostFuncs struct {
	mu   sync.Mutex
	open map[uint64]chan struct{}
}

// maxHostFuncs bounds how many a session may have queued.
const maxHostFuncs = 1 << 16

func (h *hostFuncs) init() { h.open = map[uint64]chan struct{}{} }

// doLaunchHostFunc queues a function of the client: when the stream comes to it the client is told, and the stream waits until it has
// answered.
func (s *session) doLaunchHostFunc(r *wire.Request) {
	d := wire.NewDec(r.Fixed)
	t, st, id := hip.Thread{Device: d.I32()}, hip.Stream(d.U64()), d.U64()
	if !d.Done() {
		s.malformed(r)
		return
	}
	if !s.checked(r, s.device(t.Device)) || !s.checked(r, s.handles.check(hip.HandleStream, uint64(st))) {
		return
	}
	h := &s.funcs
	done := make(chan struct{})
	h.mu.Lock()
	_, twice := h.open[id]
	twice = twice || id&ownCall != 0
	full := len(h.open) >= maxHostFuncs
	if !twice && !full {
		h.open[id] = done
	}
	h.mu.Unlock()
	if twice || full {
		s.reply(r, hip.ErrorInvalidValue, nil)
		return
	}
	code := s.rt.LaunchHostFunc(t, st, func() {
		s.printed()
		var e wire.Enc
		e.U64(id)
		s.callClient(hiprpc.NoticeHostFunc, e.B, done)
	})
	if code != hip.Success {
		h.mu.Lock()
		delete(h.open, id)
		h.mu.Unlock()
	}
	s.reply(r, code, nil)
}

// callClient tells the client that a stream has come to a function of its own, and returns when that has run. Where the connection ends instead, be it before
// the client could be told, it returns when nothing is answered any more: what waits for the stream would be told that the function has run.
func (s *session) callClient(notice uint16, payload []byte, done <-chan struct{}) {
	_ = s.conn.Notify(notice, payload)
	select {
	case <-done:
	case <-s.over:
	}
}

// doHostFuncDone lets the stream that waits for a host function go on.
func (s *session) doHostFuncDone(r *wire.Request) {
	d := wire.NewDec(r.Fixed)
	id := d.U64()
	h := &s.funcs
	h.mu.Lock()
	done, ok := h.open[id]
	delete(h.open, id)
	h.mu.Unlock()
	if !d.Done() || !ok {
		s.malformed(r)
		return
	}
	close(done)
	s.reply(r, hip.Success, nil)
}
