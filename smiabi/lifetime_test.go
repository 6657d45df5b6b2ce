package smiabi

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
)

// openedBy sets the opener for a test.
func openedBy(t *testing.T, open func() (smi.Source, error)) {
	t.Helper()
	SetOpener(open)
	t.Cleanup(func() {
		SetOpener(nil)
		if _, open := begin(); open {
			t.Error("the library is still open")
		}
	})
}

func TestInitIsCounted(t *testing.T) {
	var opens int
	fake := smitest.NewFake(smitest.Cards()...)
	openedBy(t, func() (smi.Source, error) { opens++; return fake, nil })
	gpus := uint64(AMDSMI_INIT_AMD_GPUS)
	ok(t, amdsmiShutDown()) // nothing to do
	ok(t, amdsmiInit(gpus))
	ok(t, amdsmiInit(gpus))
	ok(t, amdsmiShutDown())
	c, open := begin()
	if !open || opens != 1 {
		t.Fatalf("open: %v, by %d openings", open, opens)
	}
	ok(t, amdsmiShutDown())
	if c.ctx.Err() == nil {
		t.Error("a call under way goes on")
	}
	c.end()
	if _, err := fake.Devices(t.Context()); smi.CodeOf(err) != smi.ErrUnavailable {
		t.Errorf("the source is not closed: %v", err)
	}
	var a asicInfo
	same(t, "a call that was under way", statusNames[amdsmiGetGPUASICInfo(c.at(0), &a)], "AMDSMI_STATUS_IO")

	fake = smitest.NewFake(smitest.Cards()...)
	ok(t, amdsmiInit(gpus))
	same(t, "openings", opens, 2)
	ok(t, amdsmiShutDown())
}

func TestInitFailure(t *testing.T) {
	var fail error
	openedBy(t, func() (smi.Source, error) { return nil, fail })
	for err, want := range map[error]status{
		smi.ErrUnavailable: AMDSMI_STATUS_IO, smi.ErrNoDriver: AMDSMI_STATUS_DRIVER_NOT_LOADED, smi.ErrNoPermission: AMDSMI_STATUS_NO_PERM,
		smi.ErrInvalid: AMDSMI_STATUS_INVAL,
	} {
		fail = err
		same(t, err.Error(), statusNames[amdsmiInit(uint64(AMDSMI_INIT_AMD_GPUS))], statusNames[want])
	}
	broken := smitest.NewFake()
	broken.Fail(smi.ErrIO)
	SetOpener(func() (smi.Source, error) { return broken, nil })
	same(t, "a source that cannot list", statusNames[amdsmiInit(uint64(AMDSMI_INIT_AMD_GPUS))], "AMDSMI_STATUS_IO")
	broken.Fail(nil)
	if _, err := broken.Devices(t.Context()); smi.CodeOf(err) != smi.ErrUnavailable {
		t.Errorf("it is not closed: %v", err)
	}
}

// Flags that name no GPUs open no source.
func TestInitWithoutGPUs(t *testing.T) {
	openedBy(t, func() (smi.Source, error) { t.Error("a source was opened"); return nil, smi.ErrInternal })
	for _, flags := range []uint64{0, uint64(AMDSMI_INIT_AMD_CPUS), uint64(AMDSMI_INIT_AMD_NICS)} {
		ok(t, amdsmiInit(flags))
		c, _ := begin()
		n := uint32(9)
		ok(t, amdsmiGetSocketHandles(c, &n, nil))
		same(t, "sockets", n, 0)
		c.end()
		ok(t, amdsmiShutDown())
	}
}

// ROCm SMI's functions have its statuses.
func TestRSMI(t *testing.T) {
	var may bool
	same(t, "before", rsmiIsP2PAccessible(0, 0, &may), rsmiInitError)
	openedBy(t, func() (smi.Source, error) { return smitest.NewMachine(2, 0), nil })
	same(t, "init", rsmiInit(0), rsmiSuccess)
	same(t, "itself", rsmiIsP2PAccessible(1, 1, &may), rsmiSuccess)
	same(t, "the other", rsmiIsP2PAccessible(0, 1, &may), rsmiSuccess)
	same(t, "none", rsmiIsP2PAccessible(0, 2, &may), rsmiInvalid)
	ok(t, amdsmiShutDown())
}

// Callers at the same moment are answered from one reading.
func TestOneReading(t *testing.T) {
	var m memory[int]
	var asked atomic.Int32
	release := make(chan struct{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			v, err := m.get(0, forever, func() (int, error) {
				<-release
				return int(asked.Add(1)), nil
			})
			if v != 1 || err != nil {
				t.Errorf("%d, %v", v, err)
			}
		})
	}
	close(release)
	wg.Wait()
	same(t, "readings", asked.Load(), 1)
}

// A setting makes the library ask anew.
func TestSetForgets(t *testing.T) {
	c, fake := faked(t)
	i, st := c.at(0).info()
	ok(t, st)
	same(t, "name", i.Name, "AMD Instinct MI300X")
	cards := smitest.Cards()
	cards[0].Info.Name = "renamed"
	fake.SetCards(cards...)
	i, _ = c.at(0).info()
	same(t, "name that is known", i.Name, "AMD Instinct MI300X")
	ok(t, c.at(0).set(smi.Setting{PerfLevel: smi.PerfHigh}))
	i, _ = c.at(0).info()
	same(t, "name after a setting", i.Name, "renamed")
}

func TestKept(t *testing.T) {
	var m memory[int]
	asked := 0
	ask := func() (int, error) { asked++; return asked, nil }
	get := func(age time.Duration) int {
		v, err := m.get(3, age, ask)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	same(t, "first", get(forever), 1)
	same(t, "kept", get(forever), 1)
	same(t, "too old", get(-1), 2)
	if _, err := m.get(3, -1, func() (int, error) { return 7, smi.ErrIO }); err == nil {
		t.Error("an error was swallowed")
	}
	same(t, "an error is not kept", get(forever), 2)
	m.forget(3)
	same(t, "forgotten", get(forever), 3)
}
