package hipv1

import (
	"math"

	"github.com/rocwire/rocwire/smi"
)

// Units of this protocol: %, MHz, mV.
const (
	percent = 0.01
	mega    = 1e6
	milli   = 1e-3
)

func gpuMetrics(m *smi.Metrics) *SMIGPUMetricsReply {
	fan := smi.None[smi.RPM]()
	if len(m.Fans) > 0 {
		fan = m.Fans[0].Speed
	}
	throttle := uint32(none32)
	if bits, ok := m.Throttle.Status.Get(); ok {
		throttle = uint32(bits)
	}
	return &SMIGPUMetricsReply{
		TemperatureEdge: celsius(m.Temperature(smi.SensorEdge)), TemperatureHotspot: celsius(m.Temperature(smi.SensorHotspot)), TemperatureMem: celsius(m.Temperature(smi.SensorMem)),
		AverageSocketPower: in(m.Power.Draw(), 1, none16),
		GfxActivity:        in(m.Activity.GFX, percent, none16), UMCActivity: in(m.Activity.UMC, percent, none16), MmActivity: in(m.Activity.MM, percent, none16),
		CurrentGfxclk: in(m.Clock(smi.ClockGFX), mega, none16), CurrentUclk: in(m.Clock(smi.ClockMem), mega, none16), CurrentSocclk: in(m.Clock(smi.ClockSOC), mega, none16),
		VRAMTotal: inBytes(m.VRAM.Total), VRAMUsed: inBytes(m.VRAM.Used),
		FanSpeedRpm: in(fan, 1, none16), PCIeBandwidth: none32, ThrottleStatus: throttle, // nobody says in what unit that bandwidth would be
	}
}

func powerInfo(m *smi.Metrics) *SMIPowerInfoReply {
	return &SMIPowerInfoReply{
		CurrentSocketPower: in(m.Power.Socket, 1, none32), AverageSocketPower: in(m.Power.Average, 1, none32), PowerLimit: in(m.Power.Cap, 1, none32),
		GfxVoltage: in(m.Voltages.GFX, milli, none32), SOCVoltage: in(m.Voltages.SOC, milli, none32), MemVoltage: in(m.Voltages.Mem, milli, none32),
	}
}

// clockTypes are AMD SMI's numbers of clocks.
var clockTypes = [...]struct {
	domain string
	index  int
}{
	{smi.ClockGFX, 0}, {smi.ClockDF, 0}, {smi.ClockDCEF, 0}, {smi.ClockSOC, 0}, {smi.ClockMem, 0}, {smi.ClockPCIe, 0}, {smi.ClockVideo, 0}, {smi.ClockVideo, 1},
	{smi.ClockData, 0}, {smi.ClockData, 1},
}

func clockInfo(m *smi.Metrics, of uint32) (any, error) {
	if uint64(of) >= uint64(len(clockTypes)) {
		return nil, smi.ErrInvalid
	}
	for _, c := range m.Clocks {
		if want := clockTypes[of]; c.Domain == want.domain && c.Index == want.index {
			return &SMIClockInfoReply{
				CurrentClk: in(c.Current, mega, none32), MinClk: in(c.Min, mega, none32), MaxClk: in(c.Max, mega, none32), ClkLocked: yes(c.Locked), ClkDeepSleep: yes(c.DeepSleep),
			}, nil
		}
	}
	return nil, smi.ErrNotSupported
}

func yes(o smi.Opt[bool]) uint8 {
	v, ok := o.Get()
	switch {
	case !ok:
		return math.MaxUint8
	case v:
		return 1
	}
	return 0
}

// sensorTypes are AMD SMI's numbers of sensors.
var sensorTypes = [...]string{smi.SensorEdge, smi.SensorHotspot, smi.SensorMem, "hbm0", "hbm1", "hbm2", "hbm3", smi.SensorPLX}

func temperature(m *smi.Metrics, of uint32) (any, error) {
	if uint64(of) >= uint64(len(sensorTypes)) {
		return nil, smi.ErrInvalid
	}
	v, ok := m.Temperature(sensorTypes[of]).Get()
	if !ok {
		return nil, smi.ErrNotSupported
	}
	return &SMITempMetricReply{Temperature: int32(math.Round(float64(v)))}, nil
}
