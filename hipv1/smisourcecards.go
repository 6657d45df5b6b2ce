package hipv1

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// Devices implements smi.Source. A card has a number and a name here, and no address: the protocol tells none.
func (s *Source) Devices(ctx context.Context) ([]smi.Device, error) {
	if err := s.Connect(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	n := s.cards
	s.mu.Unlock()
	list := make([]smi.Device, n)
	for i := range list {
		info, err := s.Info(ctx, i)
		if err != nil {
			return nil, err
		}
		list[i] = info.Device
	}
	return list, nil
}

// Info implements smi.Source.
func (s *Source) Info(ctx context.Context, index int) (*smi.Info, error) {
	i := &smi.Info{Device: smi.Device{Index: index}}
	err := s.ask(ctx, index, func(q SMIProcessorRequest) error {
		var a SMIASICInfoReply
		if _, err := s.call(OpSMIGetASICInfo, &q, &a); err != nil {
			return err
		}
		i.Name, i.ASIC.Serial = label(a.MarketName[:]), label(a.ASICSerial[:])
		i.ASIC.VendorID, i.ASIC.DeviceID, i.ASIC.Revision = number(a.VendorID), number(a.DeviceID), number(a.RevID)
		i.ASIC.ComputeUnits = out[int](a.NumComputeUnits, 1)
		var v SMIVRAMUsageReply
		_, err := s.call(OpSMIGetVRAMUsage, &q, &v)
		i.VRAM.Size = outVRAM(v.VRAMTotal, v.VRAMUsed).Total
		return known(err)
	})
	return i, err
}

// label is a text for people, as far as it is one.
func label(b []byte) string {
	b, _, _ = bytes.Cut(b, []byte{0})
	return strings.ToValidUTF8(string(b), "?")
}

// number is an identifier, of which 16 set bits may be one.
func number(v uint32) smi.Opt[uint32] {
	if v == none32 {
		return smi.None[uint32]()
	}
	return smi.Some(v)
}

// known forgives that a worker does not know something.
func known(err error) error {
	if errors.Is(err, smi.ErrNotSupported) {
		return nil
	}
	return err
}

// Metrics implements smi.Source.
func (s *Source) Metrics(ctx context.Context, index int) (*smi.Metrics, error) {
	m := &smi.Metrics{Time: time.Now()}
	err := s.ask(ctx, index, func(q SMIProcessorRequest) error {
		var a SMIGPUMetricsReply
		if _, err := s.call(OpSMIGetGPUMetrics, &q, &a); err != nil {
			return err
		}
		m.Activity = smi.Activity{GFX: out[smi.Ratio](a.GfxActivity, percent), UMC: out[smi.Ratio](a.UMCActivity, percent), MM: out[smi.Ratio](a.MmActivity, percent)}
		m.VRAM = outVRAM(a.VRAMTotal, a.VRAMUsed)
		m.Clocks = []smi.Clock{
			{Domain: smi.ClockGFX, Current: out[smi.Hertz](a.CurrentGfxclk, mega)}, {Domain: smi.ClockMem, Current: out[smi.Hertz](a.CurrentUclk, mega)},
			{Domain: smi.ClockSOC, Current: out[smi.Hertz](a.CurrentSocclk, mega)},
		}
		m.Temperatures = []smi.Temperature{
			{Sensor: smi.SensorEdge, Current: outCelsius(a.TemperatureEdge)}, {Sensor: smi.SensorHotspot, Current: outCelsius(a.TemperatureHotspot)},
			{Sensor: smi.SensorMem, Current: outCelsius(a.TemperatureMem)},
		}
		if rpm := out[smi.RPM](a.FanSpeedRpm, 1); rpm.Ok() {
			m.Fans = []smi.Fan{{Speed: rpm}}
		}
		if bits := number(a.ThrottleStatus); bits.Ok() {
			m.Throttle.Status = smi.Some(uint64(bits.Or(0)))
		}
		m.Power.Average = out[smi.Watts](a.AverageSocketPower, 1)
		var p SMIPowerInfoReply
		if _, err := s.call(OpSMIGetPowerInfo, &q, &p); err != nil {
			return known(err)
		}
		if avg := out[smi.Watts](p.AverageSocketPower, 1); avg.Ok() || p.CurrentSocketPower != 0 {
			m.Power.Average = avg
		}
		m.Power.Socket, m.Power.Cap = out[smi.Watts](p.CurrentSocketPower, 1), out[smi.Watts](p.PowerLimit, 1)
		m.Voltages = smi.Voltages{GFX: out[smi.Volts](p.GfxVoltage, milli), SOC: out[smi.Volts](p.SOCVoltage, milli), Mem: out[smi.Volts](p.MemVoltage, milli)}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}
