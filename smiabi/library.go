package smiabi

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/rocwire/rocwire/smi"
)

// library is the library between amdsmi_init and the last amdsmi_shut_down.
type library struct {
	src     smi.Source
	devices []smi.Device // as the source listed them when it was opened; their handles follow from their order
	sockets []socket
	ctx     context.Context // ends when the library is shut down
	cancel  context.CancelFunc

	answers
	events events
}

// socket is what is plugged in as one: a card with all of its partitions.
type socket struct {
	name  string // PCI address without the function
	cards []int
}

var (
	current atomic.Pointer[library]

	// opening is held while the library is opened or shut down.
	opening sync.Mutex
	opener  func() (smi.Source, error)
	inits   int // calls of amdsmi_init that amdsmi_shut_down has not taken back
)

// SetOpener says where the source comes from. It is called by the first
// amdsmi_init, and by the first after the last amdsmi_shut_down.
func SetOpener(open func() (smi.Source, error)) {
	opening.Lock()
	defer opening.Unlock()
	opener = open
}

// open makes a library of src. It closes src if it fails.
func open(src smi.Source) (*library, error) {
	ctx, cancel := context.WithCancel(context.Background())
	l := &library{src: src, ctx: ctx, cancel: cancel}
	limited, stop := context.WithTimeout(ctx, patience)
	defer stop()
	devices, err := src.Devices(limited)
	if err != nil {
		l.close()
		return nil, err
	}
	l.devices = devices[:min(len(devices), most)]
	l.plug()
	return l, nil
}

// plug sorts the cards into sockets. A PCI address that comes again is that of a card of another machine.
func (l *library) plug() {
	at, seen := map[string]int{}, map[string]bool{}
	for i, d := range l.devices {
		name := fmt.Sprintf("gpu%d", i)
		if b, ok := d.BDF.Get(); ok {
			name = fmt.Sprintf("%04x:%02x:%02x", b.Domain, b.Bus, b.Device)
		}
		s, ok := at[name]
		card := fmt.Sprint(s, d.BDF)
		if !ok || seen[card] {
			s = len(l.sockets)
			at[name] = s
			l.sockets = append(l.sockets, socket{name: name})
			card = fmt.Sprint(s, d.BDF)
		}
		seen[card] = true
		l.sockets[s].cards = append(l.sockets[s].cards, i)
	}
}

// close ends the calls under way and lets the source go.
func (l *library) close() {
	l.cancel()
	if err := l.src.Close(); err != nil {
		say("amdsmi_shut_down: %v", err)
	}
}
