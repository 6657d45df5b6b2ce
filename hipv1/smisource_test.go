package hipv1

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
)

// turn is what a worker must be asked, and what it then says.
type turn struct{ ask, say string }

// recorded is a worker that knows its lines.
func recorded(t *testing.T, turns ...turn) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	t.Cleanup(func() { _ = ln.Close(); <-over })
	go func() {
		defer close(over)
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		for i, x := range turns {
			want := unhex(t, x.ask)
			got := make([]byte, len(want))
			if _, err := io.ReadFull(conn, got); err != nil || !bytes.Equal(got, want) {
				t.Errorf("question %d: %x, %v, want %x", i, got, err, want)
				return
			}
			if _, err := conn.Write(unhex(t, x.say)); err != nil {
				t.Error(err)
				return
			}
		}
		_, _ = io.Copy(io.Discard, conn)
	}()
	return ln.Addr().String()
}

// hello is how every conversation begins: SMI_INIT for GPUs, and how many there are: one.
var hello = []turn{
	{"52504948 0001 0008 01000000 08000000 00000000 0200000000000000", "52504948 0001 0008 01000000 04000000 01000000 00000000"},
	{"52504948 0001 0208 02000000 00000000 00000000", "52504948 0001 0208 02000000 08000000 01000000 00000000 01000000"},
}

// A worker of theirs has memory in MiB where bytes belong, and all ones for what its library does not know. It is understood.
func TestRecordedWorker(t *testing.T) {
	const zeros = "0000000000000000000000000000000000000000000000000000000000000000"
	name := "414d4420496e7374696e6374204d4933303058" // AMD Instinct MI300X
	for len(name) < 512 {
		name += "00"
	}
	s := NewSource(recorded(t, append(hello,
		turn{ // metrics: edge not known, hotspot 45, memory 38, 170 W, 37 %, 12 %, none, 2100, 1300 and no MHz, 196592 MiB of which 1024, no fan
			"52504948 0001 2008 03000000 04000000 00000000 00000000",
			"52504948 0001 2008 03000000 4c000000 01000000 00000000 ffff0000 2d000000 26000000 aa000000 25000000 0c000000 ffff0000 34080000 14050000 ffff0000" +
				"f0ff020000000000 0004000000000000 ffff0000 00000000 00000000 00000000",
		},
		turn{ // power: 171 W now, 65535, no voltages, at most 750 W
			"52504948 0001 2108 04000000 04000000 00000000 00000000",
			"52504948 0001 2108 04000000 1c000000 01000000 00000000 ab000000 ffff0000 ffffffff ffffffff ffffffff ee020000",
		},
		turn{
			"52504948 0001 3008 05000000 04000000 00000000 00000000",
			"52504948 0001 3008 05000000 54010000 01000000 00000000" + name + "02100000 a1740000 00000000 30010000" + "34373131" + "00000000" + zeros + zeros[:48],
		},
		turn{
			"52504948 0001 2508 06000000 04000000 00000000 00000000",
			"52504948 0001 2508 06000000 14000000 01000000 00000000 f0ff020000000000 0004000000000000",
		},
		turn{ // a card that has gone
			"52504948 0001 2008 07000000 04000000 00000000 00000000",
			"52504948 0001 2008 07000000 4c000000 01000000 fdffffff" + zeros + zeros + "0000000000000000",
		},
	)...), time.Minute)
	defer s.Close()
	m, err := s.Metrics(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if m.Temperature(smi.SensorEdge).Ok() || m.Temperature(smi.SensorHotspot).Or(0) != 45 || m.Temperature(smi.SensorMem).Or(0) != 38 || m.Activity.MM.Ok() ||
		m.Activity.GFX.Or(0) != 0.37 || m.Clock(smi.ClockGFX).Or(0) != 2100e6 || m.Clock(smi.ClockSOC).Ok() || len(m.Fans) != 0 ||
		m.Power.Socket.Or(0) != 171 || m.Power.Average.Ok() || m.Power.Cap.Or(0) != 750 || m.Voltages.GFX.Ok() {
		t.Errorf("%+v", m)
	}
	if m.VRAM.Total.Or(0) != 196592<<20 || m.VRAM.Used.Or(0) != 1<<30 {
		t.Errorf("%+v", m.VRAM)
	}
	i, err := s.Info(t.Context(), 0)
	if err != nil || i.Name != "AMD Instinct MI300X" || i.ASIC.VendorID.Or(0) != 0x1002 || i.ASIC.ComputeUnits.Or(0) != 304 || i.ASIC.Serial != "4711" || i.VRAM.Size.Or(0) != 196592<<20 {
		t.Errorf("%+v, %v", i, err)
	}
	if _, err := s.Metrics(t.Context(), 0); !errors.Is(err, smi.ErrNotFound) {
		t.Errorf("a card that has gone: %v", err)
	}
	if _, err := s.Metrics(t.Context(), 1); !errors.Is(err, smi.ErrNotFound) {
		t.Errorf("a card that never was: %v", err)
	}
}

// What is no answer is an error, whatever a worker says.
func TestBadWorker(t *testing.T) {
	ask := "52504948 0001 2008 03000000 04000000 00000000 00000000"
	for name, say := range map[string]string{
		"another question's":  "52504948 0001 2108 03000000 1c000000 01000000 00000000" + "000000000000000000000000000000000000000000000000",
		"another request's":   "52504948 0001 2008 04000000 04000000 01000000 00000000",
		"no response":         "52504948 0001 2008 03000000 04000000 00000000 00000000",
		"no code":             "52504948 0001 2008 03000000 02000000 01000000 0000",
		"too short":           "52504948 0001 2008 03000000 08000000 01000000 00000000 00000000",
		"two GiB":             "52504948 0001 2008 03000000 00000080 01000000 00000000",
		"something else":      "485454502f312e31203430302042616420526571756573740d0a",
		"a worker of rocwire": "52504948 0002 2008 03000000 04000000 01000000 00000000",
	} {
		s := NewSource(recorded(t, append(hello, turn{ask, say})...), time.Minute)
		if m, err := s.Metrics(t.Context(), 0); !errors.Is(err, smi.ErrUnavailable) {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
		_ = s.Close()
	}
	many := append(hello[:1:1], turn{hello[1].ask, "52504948 0001 0208 02000000 08000000 01000000 00000000 ffffff7f"})
	s := NewSource(recorded(t, many...), time.Minute)
	defer s.Close()
	if _, err := s.Devices(t.Context()); !errors.Is(err, smi.ErrBadData) {
		t.Errorf("two thousand million cards: %v", err)
	}
}

// Both ends agree on every figure that the protocol has.
func TestThereAndBack(t *testing.T) {
	machine := smitest.NewMachine(3, 2)
	c := Cards{Source: machine}
	for i := range 3 {
		want, err := machine.Metrics(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		code, v := c.Answer(t.Context(), OpSMIGetGPUMetrics, []byte{byte(i), 0, 0, 0})
		m, ok := v.(*SMIGPUMetricsReply)
		if code != 0 || !ok {
			t.Fatalf("code %d", code)
		}
		if got := outVRAM(m.VRAMTotal, m.VRAMUsed); got != want.VRAM {
			t.Errorf("%+v, want %+v", got, want.VRAM)
		}
		if got := out[smi.Ratio](m.GfxActivity, percent); got.Or(-1)-want.Activity.GFX.Or(-1) > 0.006 || got.Or(-1)-want.Activity.GFX.Or(-1) < -0.006 {
			t.Errorf("%v, want %v", got, want.Activity.GFX)
		}
		if got := outCelsius(m.TemperatureEdge); got.Ok() != want.Temperature(smi.SensorEdge).Ok() {
			t.Errorf("%v, want %v", got, want.Temperature(smi.SensorEdge))
		}
	}
	for _, q := range []struct {
		op      Op
		payload []byte
		want    int32
	}{
		{OpSMIInit, nil, 0}, {OpSMIShutdown, nil, 0}, {OpSMIGetClockInfo, make([]byte, 8), 0}, {OpSMIGetTempMetric, []byte{0, 0, 0, 0, 1, 0, 0, 0}, 0},
		{OpSMIGetClockInfo, []byte{0, 0, 0, 0, 200, 0, 0, 0}, int32(smi.ErrInvalid)}, {OpSMIGetTempMetric, []byte{0, 0, 0, 0, 255, 255, 255, 255}, int32(smi.ErrInvalid)},
		{OpSMIGetPowerInfo, make([]byte, 4), 0}, {OpSMIGetGPUActivity, make([]byte, 4), 0}, {OpSMIGetVRAMUsage, make([]byte, 4), 0}, {OpSMIGetASICInfo, make([]byte, 4), 0},
		{OpSMIGetVRAMUsage, []byte{255, 255, 255, 255}, SMIBadIndex}, {OpSMIGetGPUMetrics, []byte{3, 0, 0, 0}, SMIBadMetrics}, {0x08ff, nil, 801},
	} {
		if code, _ := c.Answer(t.Context(), q.op, q.payload); code != q.want {
			t.Errorf("%v %x: code %d, want %d", q.op, q.payload, code, q.want)
		}
	}
	only := Cards{Source: machine, Only: []int{2}}
	if _, v := only.Answer(t.Context(), OpSMIGetProcessorCount, nil); v.(*SMIProcessorCountReply).ProcessorCount != 1 {
		t.Errorf("%+v", v)
	}
	if code, _ := (&Cards{}).Answer(context.Background(), OpSMIGetProcessorCount, nil); code != SMINotInitialised {
		t.Errorf("no source: code %d", code)
	}
}
