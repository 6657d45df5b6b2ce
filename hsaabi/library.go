//go:build linux

package hsaabi

/*
#cgo CFLAGS: -I${SRCDIR}/include
#include "handler.h"
#include "ready.h"
#include "signal.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu"
	"github.com/rocwire/rocwire/smi"
)

// Opener makes the cards of the process when hsa_init wants them: what executes, nil if there are none, and what tells of them, which is closed when it
// has been asked.
type Opener func() (*simgpu.Runtime, Source, error)

// Source tells of the cards.
type Source interface {
	smi.Source
	io.Closer
}

var opener Opener = func() (*simgpu.Runtime, Source, error) { return nil, nil, errors.New("nothing was opened") }

// SetOpener says who makes the cards. Call it before anything else.
func SetOpener(f Opener) { opener = f }

// library is what there is between hsa_init and hsa_shut_down.
type library struct {
	sim   *simgpu.Runtime
	cards []*card
	pools []*pool
	queues
	copies
	loaded
	locked
	allocated
	virtual
	svm
	imaged
	sharedSignals
	events
}

var (
	lifeMu  sync.Mutex
	uses    int // hsa_init less hsa_shut_down
	current atomic.Pointer[library]
)

// say tells the person who runs the program.
func say(format string, args ...any) { fmt.Fprintf(os.Stderr, "rocwire: "+format+"\n", args...) }

// signalRoom is how much memory signals are given at a time.
const signalRoom = 4 << 20

// hsaInit opens the library, or counts one more use.
func hsaInit() status {
	if C.rw_hsa_gone() {
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES
	}
	lifeMu.Lock()
	defer lifeMu.Unlock()
	if uses == 1<<31-1 {
		return HSA_STATUS_ERROR_REFCOUNT_OVERFLOW
	}
	if uses++; uses > 1 {
		return HSA_STATUS_SUCCESS
	}
	l, err := open()
	if err != nil {
		uses = 0
		say("HSA: %v", err)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES
	}
	current.Store(l)
	C.rw_hsa_set_ready(true)
	return HSA_STATUS_SUCCESS
}

// preferred are the addresses of memory: those that a worker's clients offer first, so that what a worker on this library reserves is theirs, too.
var preferred = hip.Span{Base: 0x4000_0000_0000, Size: 1 << 40}

func open() (*library, error) {
	sim, source, err := opener()
	if err != nil {
		return nil, err
	}
	defer source.Close()
	l := &library{sim: sim}
	n := int32(0)
	if sim != nil {
		n, _ = sim.GetDeviceCount()
	}
	if n > 0 {
		_, _ = sim.ReserveRange(preferred, preferred, false) // others will do
	}
	for i := range n {
		c, err := newCard(sim, source, i)
		if err != nil {
			_ = sim.Close()
			return nil, err
		}
		l.cards = append(l.cards, c)
	}
	l.pools = poolsOf(l.cards)
	if n > 0 {
		if err := l.moreSignals(); err != nil {
			_ = sim.Close()
			return nil, err
		}
	}
	return l, nil
}

// moreSignals makes room for signals, in memory that kernels reach.
func (l *library) moreSignals() error {
	p, e := l.sim.HostMalloc(hip.Thread{}, signalRoom, 0)
	if e != hip.Success {
		return fmt.Errorf("no memory for signals: %s", e.Name())
	}
	C.rw_hsa_signal_room(pointer(uint64(p)), signalRoom)
	return nil
}

// hsaShutDown ends a use, with the last one everything that was made.
func hsaShutDown() status {
	lifeMu.Lock()
	defer lifeMu.Unlock()
	if uses--; uses > 0 {
		return HSA_STATUS_SUCCESS
	}
	l := current.Swap(nil)
	C.rw_hsa_set_ready(false)
	C.rw_hsa_handlers_end()
	l.queues.end()
	C.rw_hsa_signal_end_all()
	l.copies.end()
	C.rw_hsa_signal_forget()
	if l.sim != nil {
		_ = l.sim.Close()
	}
	return HSA_STATUS_SUCCESS
}
