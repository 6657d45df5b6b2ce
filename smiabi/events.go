package smiabi

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/rocwire/rocwire/smi"
)

// eventKinds are the kinds of event that AMD SMI has a number for.
var eventKinds = map[string]evtNotificationType{
	smi.EventVMFault:         AMDSMI_EVT_NOTIF_VMFAULT,
	smi.EventThermalThrottle: AMDSMI_EVT_NOTIF_THERMAL_THROTTLE,
	smi.EventPreReset:        AMDSMI_EVT_NOTIF_GPU_PRE_RESET,
	smi.EventPostReset:       AMDSMI_EVT_NOTIF_GPU_POST_RESET,
	smi.EventMigrateStart:    AMDSMI_EVT_NOTIF_MIGRATE_START,
	smi.EventMigrateEnd:      AMDSMI_EVT_NOTIF_MIGRATE_END,
	smi.EventPageFaultStart:  AMDSMI_EVT_NOTIF_PAGE_FAULT_START,
	smi.EventPageFaultEnd:    AMDSMI_EVT_NOTIF_PAGE_FAULT_END,
	smi.EventQueueEviction:   AMDSMI_EVT_NOTIF_QUEUE_EVICTION,
	smi.EventQueueRestore:    AMDSMI_EVT_NOTIF_QUEUE_RESTORE,
	smi.EventUnmap:           AMDSMI_EVT_NOTIF_UNMAP_FROM_GPU,
	smi.EventProcessStart:    AMDSMI_EVT_NOTIF_PROCESS_START,
	smi.EventProcessEnd:      AMDSMI_EVT_NOTIF_PROCESS_END,
}

const (
	// eventRoom is how many events wait for the program to fetch them; beyond that the
	// oldest are dropped.
	eventRoom = 1024
	// eventRetry is how long after the end of the source's events they are asked for
	// again, and how long an amdsmi_init_gpu_event_notification waits for a refusal.
	eventRetry  = time.Second
	eventRefuse = 300 * time.Millisecond
)

// events are the events that the program listens to. One goroutine reads the source's
// as long as a card is listened to; threads of the program fetch them.
type events struct {
	mu      sync.Mutex
	masks   map[int]uint64 // by card; bit n-1 for the kind n
	waiting []waitingEvent
	came    chan struct{} // closed when something is added or the source refuses
	refused status
	stop    context.CancelFunc
}

type waitingEvent struct {
	card    int
	kind    evtNotificationType
	message string
}

// listen begins to listen to a card, to no kind of event yet.
func (e *events) listen(ctx context.Context, src smi.Source, card int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.masks == nil {
		e.masks = map[int]uint64{}
	}
	if _, on := e.masks[card]; !on {
		e.masks[card] = 0
	}
	if e.stop != nil {
		return
	}
	ctx, e.stop = context.WithCancel(ctx)
	e.refused, e.came = AMDSMI_STATUS_SUCCESS, make(chan struct{})
	go e.read(ctx, src)
}

// read takes the source's events until ctx is done or the source refuses them for
// good. A connection that is lost is asked for again.
func (e *events) read(ctx context.Context, src smi.Source) {
	for ctx.Err() == nil {
		err := src.Events(ctx, e.add)
		if ctx.Err() != nil {
			return
		}
		switch c := smi.CodeOf(err); c {
		case smi.ErrNotSupported, smi.ErrNoPermission:
			e.mu.Lock()
			e.refused = statusOf(err)
			e.wake()
			e.mu.Unlock()
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(eventRetry):
		}
	}
}

// wake ends the waits under way. e.mu is held.
func (e *events) wake() {
	close(e.came)
	e.came = make(chan struct{})
}

// add keeps an event if the program listens to it.
func (e *events) add(ev smi.Event) {
	kind, ok := eventKinds[ev.Kind]
	if !ok {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.masks[ev.Device]&(1<<(kind-1)) == 0 {
		return
	}
	if len(e.waiting) == eventRoom {
		e.waiting = append(e.waiting[:0], e.waiting[1:]...)
	}
	e.waiting = append(e.waiting, waitingEvent{ev.Device, kind, message(&ev)})
	e.wake()
}

// message is an event's text as amd-smi takes it apart: "name: value", two spaces
// between two of them.
func message(ev *smi.Event) string {
	text := strings.ReplaceAll(strings.Join(strings.Fields(ev.Message), " "), ": ", " - ")
	var parts []string
	if ev.PID != 0 {
		parts = append(parts, fmt.Sprintf("pid: %d", ev.PID))
	}
	if text != "" {
		parts = append(parts, "message: "+text)
	}
	return strings.Join(parts, "  ")
}

// amdsmiInitGPUEventNotification begins to listen to a card's events.
func amdsmiInitGPUEventNotification(c card) status {
	e := &c.lib.events
	e.listen(c.lib.ctx, c.source(), c.index)
	e.mu.Lock()
	refused, came := e.refused, e.came
	e.mu.Unlock()
	if refused == AMDSMI_STATUS_SUCCESS {
		select {
		case <-came:
		case <-time.After(eventRefuse):
		}
		e.mu.Lock()
		refused = e.refused
		e.mu.Unlock()
	}
	if refused != AMDSMI_STATUS_SUCCESS {
		amdsmiStopGPUEventNotification(c)
	}
	return refused
}

// amdsmiSetGPUEventNotificationMask says which kinds of event are wanted.
func amdsmiSetGPUEventNotificationMask(c card, mask uint64) status {
	e := &c.lib.events
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, on := e.masks[c.index]; !on {
		return AMDSMI_STATUS_INIT_ERROR
	}
	e.masks[c.index] = mask
	return AMDSMI_STATUS_SUCCESS
}

// amdsmiStopGPUEventNotification ends listening to a card.
func amdsmiStopGPUEventNotification(c card) status {
	e := &c.lib.events
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.masks, c.index)
	if len(e.masks) == 0 && e.stop != nil {
		e.stop()
		e.stop, e.waiting = nil, nil
	}
	return AMDSMI_STATUS_SUCCESS
}

// take moves up to len(dst) events of the cards listened to into dst.
func (e *events) take(dst []evtNotificationData) int {
	n := min(len(dst), len(e.waiting))
	for i := range n {
		w := &e.waiting[i]
		dst[i] = evtNotificationData{processorHandle: processorHandle(w.card), event: w.kind}
		putText(dst[i].message[:], w.message)
	}
	e.waiting = append(e.waiting[:0], e.waiting[n:]...)
	return n
}

// amdsmiGetGPUEventNotification waits up to timeout milliseconds, for ever if negative,
// for events of all cards listened to; AMDSMI_STATUS_NO_DATA if there was none.
func amdsmiGetGPUEventNotification(c call, timeout int32, n *uint32, data *evtNotificationData) status {
	if *n == 0 || *n > 1<<16 {
		return AMDSMI_STATUS_INVAL
	}
	dst := unsafe.Slice(data, *n)
	*n = 0
	e := &c.lib.events
	var over <-chan time.Time
	if timeout >= 0 {
		t := time.NewTimer(time.Duration(timeout) * time.Millisecond)
		defer t.Stop()
		over = t.C
	}
	for {
		e.mu.Lock()
		if e.stop == nil {
			e.mu.Unlock()
			return AMDSMI_STATUS_INIT_ERROR
		}
		got, came := e.take(dst), e.came
		e.mu.Unlock()
		if got > 0 {
			*n = uint32(got)
			return AMDSMI_STATUS_SUCCESS
		}
		select {
		case <-came:
		case <-over:
			return AMDSMI_STATUS_NO_DATA
		case <-c.lib.ctx.Done():
			return AMDSMI_STATUS_NOT_INIT
		}
	}
}
