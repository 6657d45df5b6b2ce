package amdsmi

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// A card that fails does so alone, and says why.
func TestCardFails(t *testing.T) {
	eachABI(t, func(t *testing.T, s *stub) {
		src := s.open(t)
		more := uint32(39)
		if s.abi == 25 {
			more = 57
		}
		for status, code := range map[uint32]smi.Code{
			31: smi.ErrUnavailable, 32: smi.ErrUnavailable, 12: smi.ErrIO, 6: smi.ErrIO, 10: smi.ErrNoPermission, 30: smi.ErrBusy, 8: smi.ErrTimeout,
			43: smi.ErrBadData, 16: smi.ErrInternal, 3: smi.ErrNotSupported, 40: smi.ErrNotSupported, 1234: smi.ErrInternal, 0xFFFFFFFF: smi.ErrInternal, more: smi.ErrBadData,
		} {
			s.control(t, "fail 0 * "+strconv.Itoa(int(status)))
			if _, err := src.Metrics(t.Context(), 0); !errors.Is(err, code) {
				t.Errorf("status %d: %v, want %v", status, err, code)
			}
			if _, err := src.Info(t.Context(), 0); !errors.Is(err, code) {
				t.Errorf("status %d: %v, want %v", status, err, code)
			}
			if _, err := src.Metrics(t.Context(), 2); err != nil {
				t.Errorf("another card: %v", err)
			}
		}
		snap, err := smi.TakeSnapshot(t.Context(), src)
		if err != nil || snap.Devices[0].MetricsErr == nil || snap.Devices[1].Metrics == nil || snap.Devices[2].Processes != nil || snap.Devices[2].ProcessesErr != nil {
			t.Errorf("%+v, %v", snap, err)
		}
		// One figure that fails is not available, the others are.
		s.control(t, "fail 0 amdsmi_get_power_info 12")
		m, err := src.Metrics(t.Context(), 0)
		if err != nil || m.Voltages.GFX.Ok() || !m.Activity.GFX.Ok() {
			t.Errorf("%+v, %v", m, err)
		}
		s.control(t)
		if _, err := src.Metrics(t.Context(), 0); err != nil {
			t.Errorf("after all that: %v", err)
		}
	})
}

// A function that the library has not is a figure that is not available.
func TestMissingFunction(t *testing.T) {
	s := newStub(t, 27)
	src := s.open(t)
	src.(*Source).lib.fn[fnLinkMetrics] = nil
	x, err := src.XGMI(t.Context(), 0)
	if err != nil || x.Links != nil || !x.Hive.Ok() {
		t.Errorf("%+v, %v", x, err)
	}
	src.(*Source).lib.fn[fnFirmware] = nil
	if _, err := src.Firmware(t.Context(), 0); !errors.Is(err, smi.ErrNotSupported) {
		t.Error(err)
	}
}

// soon is a context for a question that hangs.
func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}

// A card that hangs delays nothing but the same question about itself.
func TestHang(t *testing.T) {
	s := newStub(t, 27)
	src := s.open(t)
	s.control(t, "hang 0 amdsmi_get_gpu_metrics_info")
	defer s.control(t)
	for range 2 {
		if _, err := src.Metrics(soon(t), 0); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
	}
	if _, err := src.Processes(t.Context(), 0); err != nil {
		t.Error(err)
	}
	if _, err := src.Metrics(t.Context(), 1); err != nil {
		t.Error(err)
	}
	snap, err := smi.TakeSnapshot(soon(t), src)
	if err != nil || snap.Devices[0].Metrics != nil || snap.Devices[1].Metrics == nil || snap.Devices[2].Info == nil {
		t.Errorf("%+v, %v", snap, err)
	}
	s.control(t)
	if _, err := src.Metrics(t.Context(), 0); err != nil {
		t.Errorf("after it came back: %v", err)
	}
}

// Closing waits for no card; the library is shut down when the last call is back.
func TestCloseWhileHanging(t *testing.T) {
	s := newStub(t, 26)
	src := s.open(t)
	s.control(t, "hang 0 amdsmi_get_fw_info")
	asked := make(chan error)
	go func() {
		_, err := src.Firmware(context.Background(), 0)
		asked <- err
	}()
	turn := src.(*Source).cards[0].turn[askFirmware]
	for len(turn) == 0 { // until it has been asked
		time.Sleep(time.Millisecond)
	}
	if err := src.Close(); err != nil {
		t.Error(err)
	}
	if err := <-asked; !errors.Is(err, smi.ErrUnavailable) {
		t.Errorf("the question: %v", err)
	}
	if got := s.log(); len(got) != 1 {
		t.Errorf("shut down under a call: %q", got)
	}
	s.control(t)
	for len(s.log()) < 2 { // the test's own deadline ends this
		time.Sleep(time.Millisecond)
	}
}

// A card that hangs from the beginning is listed, and named once it answers.
func TestHangAtOpen(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a card")
	}
	s := newStub(t, 27)
	s.control(t, "hang 1 amdsmi_get_gpu_device_bdf")
	src := s.open(t)
	devices, err := src.Devices(t.Context())
	if err != nil || len(devices) != 3 || devices[1] != (smi.Device{Index: 1, Name: unnamed}) || devices[2].Name != "AMD Radeon RX 7900 XTX" {
		t.Fatalf("%+v, %v", devices, err)
	}
	s.control(t)
	for devices[1].Name == unnamed { // the test's own deadline ends this
		time.Sleep(time.Millisecond)
		devices, _ = src.Devices(t.Context())
	}
	if i, err := src.Info(t.Context(), 1); err != nil || i.Device != devices[1] || !i.BDF.Ok() {
		t.Errorf("%+v, %v", i, err)
	}
}
