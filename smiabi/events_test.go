package smiabi

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
)

const everything = 1<<AMDSMI_EVT_NOTIF_LAST - 1

// fetch is an event, which must come.
func fetch(t *testing.T, c call) evtNotificationData {
	t.Helper()
	var d evtNotificationData
	n := uint32(1)
	ok(t, amdsmiGetGPUEventNotification(c, 30_000, &n, &d))
	is(t, "events", n, 1)
	return d
}

func TestEvents(t *testing.T) {
	src := smitest.NewMachine(3, 0)
	c := opened(t, src)
	var d evtNotificationData
	n := uint32(1)
	is(t, "fetched before", amdsmiGetGPUEventNotification(c, 0, &n, &d), AMDSMI_STATUS_INIT_ERROR)
	is(t, "mask before", amdsmiSetGPUEventNotificationMask(c.at(0), everything), AMDSMI_STATUS_INIT_ERROR)
	for i := range 2 {
		ok(t, amdsmiInitGPUEventNotification(c.at(i)))
	}
	ok(t, amdsmiSetGPUEventNotificationMask(c.at(0), everything))
	ok(t, amdsmiSetGPUEventNotificationMask(c.at(1), 1<<(AMDSMI_EVT_NOTIF_GPU_PRE_RESET-1)))
	n = 1
	is(t, "nothing yet", amdsmiGetGPUEventNotification(c, 1, &n, &d), AMDSMI_STATUS_NO_DATA)
	is(t, "events", n, 0)
	n = 0
	is(t, "no room", amdsmiGetGPUEventNotification(c, 1, &n, &d), AMDSMI_STATUS_INVAL)

	// Of these, the third card's are not listened to, the second's only in part, and
	// ring hangs have no number.
	src.Emit(smi.Event{Device: 2, Kind: smi.EventVMFault})
	src.Emit(smi.Event{Device: 1, Kind: smi.EventVMFault})
	src.Emit(smi.Event{Device: 0, Kind: smi.EventRingHang})
	src.Emit(smi.Event{Device: 0, Kind: smi.EventVMFault, PID: 42, Message: "address: 0x1000,\n  read"})
	src.Emit(smi.Event{Device: 1, Kind: smi.EventPreReset})
	d = fetch(t, c)
	is(t, "card", d.processorHandle, c.at(0).handle())
	is(t, "kind", d.event, AMDSMI_EVT_NOTIF_VMFAULT)
	is(t, "message", text(d.message[:]), "pid: 42  message: address - 0x1000, read")
	d = fetch(t, c)
	is(t, "card", d.processorHandle, c.at(1).handle())
	is(t, "kind", d.event, AMDSMI_EVT_NOTIF_GPU_PRE_RESET)
	is(t, "message", text(d.message[:]), "")

	ok(t, amdsmiStopGPUEventNotification(c.at(0)))
	src.Emit(smi.Event{Device: 0, Kind: smi.EventVMFault})
	src.Emit(smi.Event{Device: 1, Kind: smi.EventPreReset})
	d = fetch(t, c)
	is(t, "card that is still listened to", d.processorHandle, c.at(1).handle())
	ok(t, amdsmiStopGPUEventNotification(c.at(1)))
	n = 1
	is(t, "fetched after", amdsmiGetGPUEventNotification(c, 0, &n, &d), AMDSMI_STATUS_INIT_ERROR)
}

// A program that does not fetch loses the oldest.
func TestEventsPileUp(t *testing.T) {
	e := &events{masks: map[int]uint64{0: everything}, came: make(chan struct{})}
	for i := range eventRoom + 5 {
		e.add(smi.Event{Kind: smi.EventVMFault, PID: uint32(i + 1)})
	}
	buf := make([]evtNotificationData, eventRoom+5)
	is(t, "events", e.take(buf), eventRoom)
	is(t, "oldest", text(buf[0].message[:]), "pid: 6")
}

// mute refuses its events; broken fails them at first.
type mute struct{ *smitest.Fake }

func (mute) Events(context.Context, func(smi.Event)) error { return smi.ErrNotSupported }

type broken struct {
	*smitest.Fake
	failed atomic.Bool
}

func (b *broken) Events(ctx context.Context, each func(smi.Event)) error {
	if !b.failed.Swap(true) {
		return smi.ErrUnavailable
	}
	return b.Fake.Events(ctx, each)
}

func TestEventsRefused(t *testing.T) {
	c := opened(t, mute{smitest.NewMachine(1, 0)})
	is(t, "not supported", amdsmiInitGPUEventNotification(c.at(0)), AMDSMI_STATUS_NOT_SUPPORTED)
	is(t, "again", amdsmiInitGPUEventNotification(c.at(0)), AMDSMI_STATUS_NOT_SUPPORTED)

	b := &broken{Fake: smitest.NewMachine(1, 0)}
	c = opened(t, b)
	ok(t, amdsmiInitGPUEventNotification(c.at(0)))
	ok(t, amdsmiSetGPUEventNotificationMask(c.at(0), everything))
	b.Emit(smi.Event{Kind: smi.EventPostReset})
	is(t, "after a lost connection", fetch(t, c).event, AMDSMI_EVT_NOTIF_GPU_POST_RESET)
}

// A wait ends when the library is shut down.
func TestEventsShutDown(t *testing.T) {
	l, err := open(smitest.NewMachine(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	c := call{ctx: t.Context(), lib: l, end: func() {}}
	ok(t, amdsmiInitGPUEventNotification(c.at(0)))
	time.AfterFunc(10*time.Millisecond, l.close)
	var d evtNotificationData
	n := uint32(1)
	is(t, "ended", amdsmiGetGPUEventNotification(c, -1, &n, &d), AMDSMI_STATUS_NOT_INIT)
}
