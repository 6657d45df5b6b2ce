package smiabi

import (
	"testing"
	"unsafe"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
)

// partitioned are two parts of one card, and another card.
func partitioned() *smitest.Fake {
	var cards []smi.DeviceSnapshot
	for i, b := range []smi.BDF{{Bus: 0xc1}, {Bus: 0xc1, Function: 1}, {Domain: 1, Bus: 3, Device: 2}} {
		d := smi.Device{Index: i, BDF: smi.Some(b), Name: "card"}
		cards = append(cards, smi.DeviceSnapshot{Device: d, Info: &smi.Info{Device: d, IDs: smi.IDs{Partition: smi.Some(uint32(i % 2))}}})
	}
	return smitest.NewFake(cards...)
}

// TestSocketsOfTwoMachines: cards of two machines may have the same PCI address.
func TestSocketsOfTwoMachines(t *testing.T) {
	c := opened(t, smi.Join(partitioned(), partitioned()))
	var n uint32
	ok(t, amdsmiGetSocketHandles(c, &n, nil))
	sockets := make([]handle, n)
	ok(t, amdsmiGetSocketHandles(c, &n, &sockets[0]))
	var got []handle
	for _, s := range sockets {
		var cards [8]handle
		k := uint32(8)
		ok(t, amdsmiGetProcessorHandles(c, s, &k, &cards[0]))
		got = append(got, cards[:k]...)
	}
	for i, h := range got {
		if h != processorHandle(i) {
			t.Errorf("card %d of %d is not in its turn", i, len(got))
		}
	}
	if n != 4 || len(got) == 0 {
		t.Errorf("%d sockets, %d cards", n, len(got))
	}
}

func TestSockets(t *testing.T) {
	c := opened(t, partitioned())
	var n uint32
	ok(t, amdsmiGetSocketHandles(c, &n, nil))
	if n != 2 {
		t.Fatalf("%d sockets", n)
	}
	n = 9 // more room than there is
	sockets := make([]handle, n)
	ok(t, amdsmiGetSocketHandles(c, &n, &sockets[0]))
	if n != 2 || sockets[0] == 0 || sockets[1] == 0 || sockets[2] != 0 {
		t.Fatalf("%d sockets: %v", n, sockets)
	}
	n = 1 // less
	sockets[1] = 0
	ok(t, amdsmiGetSocketHandles(c, &n, &sockets[0]))
	if n != 1 || sockets[1] != 0 {
		t.Fatalf("%d sockets: %v", n, sockets)
	}
	name := make([]byte, 11)
	ok(t, amdsmiGetSocketInfo(c, sockets[0], 11, &name[0]))
	if got := text(name); got != "0000:c1:00" {
		t.Errorf("the first is %q", got)
	}
	ok(t, amdsmiGetSocketInfo(c, sockets[0], 5, &name[0]))
	if got := text(name); got != "0000" {
		t.Errorf("cut to %q", got)
	}
	var cards [4]handle
	n = 4
	ok(t, amdsmiGetProcessorHandles(c, sockets[0], &n, &cards[0]))
	if n != 2 || cards[0] != processorHandle(0) || cards[1] != processorHandle(1) {
		t.Errorf("%d cards: %v", n, cards)
	}
	for kind, want := range map[processorType]uint32{
		AMDSMI_PROCESSOR_TYPE_AMD_GPU: 2, AMDSMI_PROCESSOR_TYPE_AMD_NIC: 0, AMDSMI_PROCESSOR_TYPE_BRCM_SWITCH: 0, AMDSMI_PROCESSOR_TYPE_AMD_CPU: 0,
	} {
		n = 4
		ok(t, amdsmiGetProcessorHandlesByType(c, sockets[0], kind, &cards[0], &n))
		if n != want {
			t.Errorf("%d processors of kind %d, want %d", n, kind, want)
		}
	}
}

// What is no handle is refused, whatever it is.
func TestHandles(t *testing.T) {
	c := opened(t, partitioned())
	outside := handle(unsafe.Pointer(t))
	for _, h := range []handle{1, outside, processorHandle(3), socketHandle(0), processorHandle(0) - 1, ^handle(0)} {
		if _, st := c.card(h); st != AMDSMI_STATUS_NOT_FOUND {
			t.Errorf("processor %#x: %s", h, statusNames[st])
		}
	}
	for _, h := range []handle{1, outside, socketHandle(2), processorHandle(0), ^handle(0)} {
		if _, st := c.socket(h); st != AMDSMI_STATUS_NOT_FOUND {
			t.Errorf("socket %#x: %s", h, statusNames[st])
		}
	}
	if _, st := c.card(0); st != AMDSMI_STATUS_INVAL {
		t.Errorf("no processor: %s", statusNames[st])
	}
	if _, st := c.socket(0); st != AMDSMI_STATUS_INVAL {
		t.Errorf("no socket: %s", statusNames[st])
	}
}

func TestBDF(t *testing.T) {
	c := opened(t, partitioned())
	var b bdf
	ok(t, amdsmiGetGPUDeviceBDF(c.at(2), &b))
	if b != 1<<16|3<<8|2<<3 {
		t.Errorf("%#x", b)
	}
	var h handle
	ok(t, amdsmiGetProcessorHandleFromBDF(c, b, &h))
	if h != processorHandle(2) {
		t.Errorf("found %#x", h)
	}
	if st := amdsmiGetProcessorHandleFromBDF(c, b+1, &h); st != AMDSMI_STATUS_NOT_FOUND {
		t.Errorf("another address: %s", statusNames[st])
	}
	var id uint64
	ok(t, amdsmiGetGPUBDFID(c.at(1), &id))
	if id != 1<<28|0xc1<<8|1 {
		t.Errorf("%#x", id)
	}
	f := smitest.NewFake(smi.DeviceSnapshot{Device: smi.Device{Name: "no address"}})
	if st := amdsmiGetGPUDeviceBDF(opened(t, f).at(0), &b); st != AMDSMI_STATUS_NOT_SUPPORTED {
		t.Errorf("a card without an address: %s", statusNames[st])
	}
}

func TestProcessorCount(t *testing.T) {
	c := opened(t, partitioned())
	hs := []handle{processorHandle(0), processorHandle(2)}
	n, sockets, cores, gpus := uint32(2), uint32(7), uint32(7), uint32(7)
	ok(t, amdsmiGetProcessorCountFromHandles(c, &hs[0], &n, &sockets, &cores, &gpus))
	if sockets != 0 || cores != 0 || gpus != 2 {
		t.Errorf("%d, %d, %d", sockets, cores, gpus)
	}
	hs[1]--
	if st := amdsmiGetProcessorCountFromHandles(c, &hs[0], &n, &sockets, &cores, &gpus); st != AMDSMI_STATUS_SUCCESS {
		t.Errorf("card 1: %s", statusNames[st])
	}
	hs[1] = 5
	if st := amdsmiGetProcessorCountFromHandles(c, &hs[0], &n, &sockets, &cores, &gpus); st != AMDSMI_STATUS_NOT_FOUND {
		t.Errorf("a number: %s", statusNames[st])
	}
}
