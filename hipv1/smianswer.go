package hipv1

import (
	"context"

	"github.com/rocwire/rocwire/smi"
)

// Cards answers questions about cards: SMI operations, whose index is that of a card in a list.
type Cards struct {
	Source smi.Source
	Only   []int // indices of the cards that the client may see; nil: all
}

// Answer answers one operation with a code and, if that is 0, the struct of its reply, nil for none. payload is the request's, of any length.
func (c *Cards) Answer(ctx context.Context, op Op, payload []byte) (code int32, v any) {
	switch op {
	case OpSMIInit, OpSMIShutdown: // the worker's library is open as long as it runs
		return 0, nil
	}
	if c.Source == nil {
		return SMINotInitialised, nil
	}
	q, _, err := Parse(op, Unknown, uint32(len(payload)), payload)
	if err == ErrOperation {
		return hipNotSupported, nil
	} else if err != nil {
		return SMIBadIndex, nil
	}
	list, err := c.list(ctx)
	if err != nil {
		return int32(smi.CodeOf(err)), nil
	}
	if op == OpSMIGetProcessorCount {
		return 0, &SMIProcessorCountReply{ProcessorCount: uint32(len(list))}
	}
	at := uint32(0)
	switch q := q.(type) {
	case *SMIProcessorRequest:
		at = q.ProcessorIndex
	case *SMIClockInfoRequest:
		at = q.ProcessorIndex
	case *SMITempMetricRequest:
		at = q.ProcessorIndex
	}
	if uint64(at) >= uint64(len(list)) {
		if op == OpSMIGetGPUMetrics {
			return SMIBadMetrics, nil
		}
		return SMIBadIndex, nil
	}
	if v, err = c.about(ctx, list[at], q, op); err != nil {
		return int32(smi.CodeOf(err)), nil
	}
	return 0, v
}

const hipNotSupported = 801

// list is the indices of the cards that there are.
func (c *Cards) list(ctx context.Context) ([]int, error) {
	if c.Only != nil {
		return c.Only, nil
	}
	ds, err := c.Source.Devices(ctx)
	list := make([]int, len(ds))
	for i := range ds {
		list[i] = ds[i].Index
	}
	return list, err
}

// about answers a question about a card.
func (c *Cards) about(ctx context.Context, card int, q any, op Op) (any, error) {
	if op == OpSMIGetASICInfo {
		i, err := c.Source.Info(ctx, card)
		if err != nil {
			return nil, err
		}
		v := &SMIASICInfoReply{
			VendorID: i.ASIC.VendorID.Or(none32), DeviceID: i.ASIC.DeviceID.Or(none32), RevID: i.ASIC.Revision.Or(none32),
			NumComputeUnits: in(i.ASIC.ComputeUnits, 1, none32),
		}
		PutText(v.MarketName[:], i.Name)
		PutText(v.ASICSerial[:], i.ASIC.Serial)
		return v, nil
	}
	m, err := c.Source.Metrics(ctx, card)
	if err != nil {
		return nil, err
	}
	switch q := q.(type) {
	case *SMIClockInfoRequest:
		return clockInfo(m, q.ClockType)
	case *SMITempMetricRequest:
		return temperature(m, q.SensorType)
	}
	switch op {
	case OpSMIGetPowerInfo:
		return powerInfo(m), nil
	case OpSMIGetGPUActivity:
		return &SMIGPUActivityReply{GfxActivity: in(m.Activity.GFX, percent, none32), UMCActivity: in(m.Activity.UMC, percent, none32), MmActivity: in(m.Activity.MM, percent, none32)}, nil
	case OpSMIGetVRAMUsage:
		return &SMIVRAMUsageReply{VRAMTotal: inBytes(m.VRAM.Total), VRAMUsed: inBytes(m.VRAM.Used)}, nil
	case OpSMIGetGPUMetrics:
		return gpuMetrics(m), nil
	}
	return nil, smi.ErrNotSupported
}
