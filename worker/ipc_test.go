package worker_test

import (
	"fmt"
	"testing"
	"time"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/worker"
	"github.com/rocwire/rocwire/worker/simbackend"
)

// TestExporterDies: memory that a session has opened stays, whatever becomes of the one it came from; an event of a process that has died holds
// nobody up; and nobody can open what is gone.
func TestExporterDies(t *testing.T) {
	w := serve(t, simbackend.Options{}, worker.Config{})
	a, b := connect(t, w), connect(t, w)
	th := hip.Thread{ID: 1}
	p, e := a.Malloc(th, 1<<20)
	must(t, "call", e)
	must(t, "call", a.MemsetD32(th, p, 77, 1<<18))
	h, e := a.IpcGetMemHandle(th, p)
	must(t, "call", e)
	q, e := b.IpcOpenMemHandle(th, &h, 1)
	must(t, "call", e)
	v, e := a.EventCreateWithFlags(th, 6)
	must(t, "call", e)
	eh, e := a.IpcGetEventHandle(th, v)
	must(t, "call", e)
	x, e := b.IpcOpenEventHandle(th, &eh)
	must(t, "call", e)
	hold := make(chan struct{})
	t.Cleanup(func() { close(hold) })
	must(t, "call", a.LaunchHostFunc(th, 0, func() { <-hold }))
	must(t, "call", a.EventRecord(th, v, 0))
	eventually(t, "the event is recorded", func() bool { return b.EventQuery(th, x) == hip.ErrorNotReady })
	if err := w.KillSession(fmt.Sprint(a.Session()), "test"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the session is gone", func() bool { return len(w.Sessions()) == 1 })
	done := make(chan hip.Error, 1)
	go func() { done <- b.EventSynchronize(th, x) }()
	select {
	case e := <-done:
		must(t, "call", e)
	case <-time.After(time.Minute):
		t.Fatal("an event of a dead process is waited for")
	}
	must(t, "call", b.MemsetD32(th, q+4, 5, 1))
	got := make([]byte, 8)
	must(t, "call", b.Memcpy(th, hip.Ptr(uintptr(unsafe.Pointer(&got[0]))), q, 8, hip.MemcpyDeviceToHost))
	if got[0] != 77 || got[4] != 5 {
		t.Errorf("the memory holds % x", got)
	}
	c := connect(t, w)
	if _, e := c.IpcOpenMemHandle(th, &h, 1); e != hip.ErrorInvalidDevicePointer {
		t.Errorf("opened what is gone: %v", e)
	}
	must(t, "call", b.IpcCloseMemHandle(th, q))
}
