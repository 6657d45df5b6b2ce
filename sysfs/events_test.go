package sysfs

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/sysfs/sysfstest"
)

func TestParseKFDEvent(t *testing.T) {
	for line, want := range map[string]smi.Event{
		"1 2f4:python3": {Kind: smi.EventVMFault, PID: 0x2f4, Message: "memory fault in python3"},
		"1 2f4:a:b c":   {Kind: smi.EventVMFault, PID: 0x2f4, Message: "memory fault in a:b c"},
		"2 4:1f":        {Kind: smi.EventThermalThrottle, Message: "clocks lowered, reasons 0x4, 31 times so far"},
		"3 a\n":         {Kind: smi.EventPreReset, Message: "reset 10"},
		"3 a job hang":  {Kind: smi.EventPreReset, Message: "reset 10: job hang"},
		"4 a":           {Kind: smi.EventPostReset, Message: "reset 10"},
		"5 12345678 -900 @7f00(10) 0->9c40 0:0 1": {Kind: smi.EventMigrateStart, PID: 900, Message: "migration @7f00(10) 0->9c40 0:0 1"},
		"6 12345678 -900 @7f00(10) 0->9c40 1 0":   {Kind: smi.EventMigrateEnd, PID: 900, Message: "migration @7f00(10) 0->9c40 1 0"},
		"7 12345678 -900 @7f00(9c40) W":           {Kind: smi.EventPageFaultStart, PID: 900, Message: "page fault @7f00(9c40) W"},
		"8 12345678 -900 @7f00(9c40) M":           {Kind: smi.EventPageFaultEnd, PID: 900, Message: "page fault @7f00(9c40) M"},
		"9 12345678 -900 9c40 0":                  {Kind: smi.EventQueueEviction, PID: 900, Message: "queue 9c40 0"},
		"a 12345678 -900 9c40 0":                  {Kind: smi.EventQueueRestore, PID: 900, Message: "queue 9c40 0"},
		"b 12345678 -900 @7f00(10) 9c40 2":        {Kind: smi.EventUnmap, PID: 900, Message: "memory @7f00(10) 9c40 2"},
		"c 384 rocm-bench":                        {Kind: smi.EventProcessStart, PID: 900, Message: "rocm-bench"},
		"d 384 rocm-bench":                        {Kind: smi.EventProcessEnd, PID: 900, Message: "rocm-bench"},
		"1 in a form of the future":               {Kind: smi.EventVMFault, Message: "in a form of the future"},
		"1 ffffffffffff:x":                        {Kind: smi.EventVMFault, Message: "ffffffffffff:x"},
		"9 12345678 900 9c40 0":                   {Kind: smi.EventQueueEviction, Message: "12345678 900 9c40 0"},
		"1 2f4:\x1b[2Jred":                        {Kind: smi.EventVMFault, PID: 0x2f4, Message: "memory fault in ?[2Jred"},
		"3":                                       {Kind: smi.EventPreReset},
	} {
		if got, ok := parseKFDEvent(line); !ok || got != want {
			t.Errorf("%q: %+v, %v; want %+v", line, got, ok, want)
		}
	}
	for _, line := range []string{"", "\n", "0 x", "e 1 2", "40 x", "x", "-1 2f4:x", "100000001 2f4:x"} {
		if got, ok := parseKFDEvent(line); ok {
			t.Errorf("%q is no event, but gave %+v", line, got)
		}
	}
}

// The number of the ioctl is that of the kernel's header.
func TestIoctlNumber(t *testing.T) { equal(t, "AMDKFD_IOC_SMI_EVENTS", iocSMIEvents, 0xc0084b1f) }

// collect reads events until enough says so.
func collect(t *testing.T, s *source, started func(), enough func([]smi.Event) bool) []smi.Event {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var got []smi.Event
	go started()
	err := s.Events(ctx, func(e smi.Event) {
		got = append(got, e)
		if enough(got) {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the end of the events: %v after %+v", err, got)
	}
	return got
}

func TestKFDEvents(t *testing.T) {
	tree := sysfstest.MI300X(t, 2)
	s := openTree(t, tree)
	s.watchEvery = time.Hour
	var mu sync.Mutex
	writers := map[uint64]*io.PipeWriter{}
	closed := 0
	s.openEvents = func(gpu uint64) (io.ReadCloser, error) {
		r, w := io.Pipe()
		mu.Lock()
		defer mu.Unlock()
		writers[gpu] = w
		return closer{r, func() { mu.Lock(); closed++; mu.Unlock() }}, nil
	}
	got := collect(t, s, func() {
		for {
			mu.Lock()
			n := len(writers)
			mu.Unlock()
			if n == 2 {
				break
			}
			time.Sleep(time.Millisecond)
		}
		io.WriteString(writers[tree.Cards[1].GPUID], "1 2f4:train\nnonsense\n2 1:")
		io.WriteString(writers[tree.Cards[1].GPUID], "2\n")
	}, func(es []smi.Event) bool { return len(es) == 2 })
	for i := range got {
		if got[i].Time.IsZero() {
			t.Error("an event without a time")
		}
		got[i].Time = time.Time{}
	}
	equal(t, "events", got, []smi.Event{
		{Device: 1, Kind: smi.EventVMFault, PID: 0x2f4, Message: "memory fault in train"},
		{Device: 1, Kind: smi.EventThermalThrottle, Message: "clocks lowered, reasons 0x1, 2 times so far"},
	})
	equal(t, "streams closed", closed, 2)
}

type closer struct {
	io.Reader
	close func()
}

func (c closer) Close() error { c.close(); return nil }

// Without the compute driver's events (there is no /dev/kfd in a tree) the cards are
// looked at.
func TestWatch(t *testing.T) {
	tree := sysfstest.MI300X(t, 1)
	tree.Set(0, "gpu_metrics", "") // the link is PCI's
	s := openTree(t, tree)
	s.watchEvery = time.Millisecond
	// A look ends with the bad pages; when they are read for the second time, the first
	// look is over.
	var looks atomic.Int32
	s.cards[0].tree.open = func(path string, flags int, mode uint32) (int, error) {
		if strings.HasSuffix(path, "gpu_vram_bad_pages") {
			looks.Add(1)
		}
		return unix.Open(path, flags, mode)
	}
	twice := func() {
		for start := looks.Load(); looks.Load() < start+2; {
			time.Sleep(time.Millisecond)
		}
	}
	// Each step is taken when the one before was told.
	steps := []func(){
		func() {
			tree.Set(0, "ras/umc_err_count", "") // cannot be read for a while
			twice()
			tree.Set(0, "ras/umc_err_count", "ue: 1\nce: 7\nde: 1\n")
		},
		func() {
			tree.Set(0, "ras/gpu_vram_bad_pages", "0x1 : 0x1000 : R\n0x2 : 0x1000 : R\n0x3 : 0x1000 : P\n")
		},
		func() { tree.Move(tree.Cards[0].Dir, "away") },
		func() { tree.Move("away", tree.Cards[0].Dir) },
	}
	got := collect(t, s, func() {
		twice()
		tree.Set(0, "current_link_width", "8\n")
	}, func(es []smi.Event) bool {
		if len(es) <= len(steps) {
			steps[len(es)-1]()
			return false
		}
		return true
	})
	var kinds []string
	for _, e := range got {
		kinds = append(kinds, e.Kind+" "+e.Message)
	}
	want := []string{
		"link_change PCIe link from 16 lanes at 32 GT/s to 8 lanes at 32 GT/s",
		"ecc umc: 1 uncorrectable, umc: 7 correctable",
		"ecc 1 bad pages more, 3 in all",
		"device_lost 0000:05:00.0 does not answer any more",
		"device_found 0000:05:00.0 is back",
	}
	if !slices.Equal(kinds, want) {
		t.Errorf("events\n%q\nwant\n%q", kinds, want)
	}
}

// A /dev/kfd that does not know the ioctl is no reason to fail.
func TestForeignDevice(t *testing.T) {
	tree := sysfstest.RX7900XTX(t)
	tree.Write("dev/kfd", "")
	if _, err := openTree(t, tree).openKFDEvents(1); !errors.Is(err, smi.ErrNotSupported) || !strings.Contains(err.Error(), "dev/kfd") {
		t.Errorf("events of a file that is no device: %v", err)
	}
}

func TestEventsOfAClosedSource(t *testing.T) {
	s := openTree(t, sysfstest.RX7900XTX(t))
	done := make(chan error)
	go func() { done <- s.Events(context.Background(), func(smi.Event) {}) }()
	s.Close()
	if err := <-done; !errors.Is(err, smi.ErrUnavailable) {
		t.Errorf("events of a source that was closed: %v", err)
	}
}
