package worker_test

import (
	"context"
	"errors"
	"testing"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/worker"
	"github.com/rocwire/rocwire/worker/simbackend"
)

// trouble starts a worker whose simulated cards can be made to fail.
func trouble(t *testing.T, o simbackend.Options) (*worker.Server, func(index int, f smi.Fault)) {
	t.Helper()
	var src smi.Source
	w := serveWith(t, o, config(), func(b *worker.Backend) { src = b.Source })
	return w, func(index int, f smi.Fault) {
		t.Helper()
		if err := src.(smi.Injector).Inject(context.Background(), index, f); err != nil {
			t.Fatal(err)
		}
	}
}

// TestHungCard: the kernels of clients stand still while their card hangs; copies
// beside them and clients of other cards get on, and so does all when it is over.
func TestHungCard(t *testing.T) {
	w, inject := trouble(t, cards(2))
	c := connect(t, w)
	f := kernel(t, c, "saxpy", "saxpy")
	x, e := c.Malloc(main0, 4096)
	must(t, "Malloc", e)
	must(t, "DeviceSynchronize", c.DeviceSynchronize(main0))
	inject(0, smi.Fault{Kind: smi.FaultHang})
	must(t, "launch", saxpy(c, f, 0, 64, 2, x, x+1024))
	for range 20 {
		if e := c.StreamQuery(main0, 0); e != hip.ErrorNotReady {
			t.Fatalf("a kernel on a hung card: %v", e)
		}
	}
	other := hip.Thread{ID: 2, Device: 1}
	p, e := c.Malloc(other, 4096)
	must(t, "Malloc on the other card", e)
	must(t, "Memset on the other card", c.Memset(other, p, 1, 4096))
	inject(0, smi.Fault{Kind: smi.FaultHang, Clear: true})
	must(t, "DeviceSynchronize", c.DeviceSynchronize(main0))
}

// TestResetCard: a reset ends what clients have on their card, with an error they
// hear of, until they reset the device themselves; a client that comes afterwards
// notices nothing.
func TestResetCard(t *testing.T) {
	w, inject := trouble(t, cards(1))
	c := connect(t, w)
	f := kernel(t, c, "saxpy", "saxpy")
	x, e := c.Malloc(main0, 4096)
	must(t, "Malloc", e)
	inject(0, smi.Fault{Kind: smi.FaultHang})
	must(t, "launch", saxpy(c, f, 0, 64, 2, x, x+1024))
	inject(0, smi.Fault{Kind: smi.FaultReset})
	if e := c.DeviceSynchronize(main0); e != hip.ErrorLaunchFailure {
		t.Errorf("DeviceSynchronize after the reset: %v", e)
	}
	if e := c.Memset(main0, x, 0, 16); e != hip.ErrorLaunchFailure {
		t.Errorf("Memset after the reset: %v", e)
	}
	must(t, "DeviceReset", c.DeviceReset(main0))
	x, e = c.Malloc(main0, 4096)
	must(t, "Malloc after DeviceReset", e)
	must(t, "Memset after DeviceReset", c.Memset(main0, x, 0, 16))
	late := connect(t, w)
	y, e := late.Malloc(main0, 4096)
	must(t, "Malloc of a late client", e)
	must(t, "Memset of a late client", late.Memset(main0, y, 0, 16))
}

// TestLostCard: a card that is gone fails what uses it, is not there for new clients,
// and leaves the other card alone.
func TestLostCard(t *testing.T) {
	w, inject := trouble(t, cards(2))
	c := connect(t, w)
	x, e := c.Malloc(main0, 4096)
	must(t, "Malloc", e)
	must(t, "Memset", c.Memset(main0, x, 0, 16))
	inject(0, smi.Fault{Kind: smi.FaultGone})
	if e := c.Memset(main0, x+1, 0, 15); e != hip.ErrorNoDevice { // one that is waited for
		t.Errorf("Memset on a card that is gone: %v", e)
	}
	late := connect(t, w)
	if n, e := late.GetDeviceCount(); n != 1 || e != hip.Success {
		t.Errorf("a client that comes now sees %d cards, %v", n, e)
	}
	if _, err := w.Source().Metrics(context.Background(), 0); !errors.Is(err, smi.ErrUnavailable) {
		t.Errorf("Metrics: %v", err)
	}
	if _, err := w.Source().Metrics(context.Background(), 1); err != nil {
		t.Errorf("Metrics of the other card: %v", err)
	}
	inject(1, smi.Fault{Kind: smi.FaultGone})
	last := connect(t, w)
	if n, e := last.GetDeviceCount(); n != 0 || e != hip.ErrorNoDevice {
		t.Errorf("without any card a client sees %d, %v", n, e)
	}
}
