package smiabi

import (
	"math"

	"github.com/rocwire/rocwire/smi"
)

// linked is what the card's links do; AMDSMI_STATUS_NOT_SUPPORTED for a card without.
func (c card) linked() (*smi.XGMI, status) {
	x, st := c.xgmi()
	if st == AMDSMI_STATUS_SUCCESS && len(x.Links) == 0 {
		st = AMDSMI_STATUS_NOT_SUPPORTED
	}
	return x, st
}

// amdsmiGetXGMIInfo is the card's place among the cards it is linked to.
func amdsmiGetXGMIInfo(c card, info *xgmiInfo) status {
	x, st := c.xgmi()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	if !x.Hive.Ok() && !x.Node.Ok() && !x.Lanes.Ok() {
		return AMDSMI_STATUS_NOT_SUPPORTED
	}
	*info = xgmiInfo{
		xgmiLanes: in[uint8](x.Lanes, one), xgmiHiveID: x.Hive.Or(math.MaxUint64), xgmiNodeID: x.Node.Or(math.MaxUint64),
	}
	return AMDSMI_STATUS_SUCCESS
}

// amdsmiGetLinkMetrics is what each link carried: rates in Gbit/s, amounts in KiB.
func amdsmiGetLinkMetrics(c card, out *linkMetrics) status {
	x, st := c.linked()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	*out = linkMetrics{numLinks: uint32(min(len(x.Links), len(out.links)))}
	for i := range out.links {
		out.links[i].linkType = AMDSMI_LINK_TYPE_UNKNOWN
		out.links[i].linkStatus = AMDSMI_LINK_STATUS_DISABLED
		out.links[i].bitRate, out.links[i].maxBandwidth = math.MaxUint32, math.MaxUint32
	}
	for i, l := range x.Links[:out.numLinks] {
		out.links[i] = linkMetricsLinks{
			bitRate: in[uint32](l.Rate, giga), maxBandwidth: in[uint32](l.MaxBandwidth, giga), linkType: AMDSMI_LINK_TYPE_XGMI,
			read: in[uint64](l.Read, kibi), write: in[uint64](l.Written, kibi), linkStatus: linkState(l.State),
		}
		if b, ok := l.Peer.Get(); ok {
			out.links[i].bdf = packed(b)
		}
	}
	return AMDSMI_STATUS_SUCCESS
}

func linkState(s string) linkStatus {
	switch s {
	case smi.LinkUp:
		return AMDSMI_LINK_STATUS_ENABLED
	case smi.LinkDown:
		return AMDSMI_LINK_STATUS_INACTIVE
	}
	return AMDSMI_LINK_STATUS_DISABLED
}

// amdsmiGetGPUXGMILinkStatus is which links are up.
func amdsmiGetGPUXGMILinkStatus(c card, out *xgmiLinkStatus) status {
	x, st := c.linked()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	*out = xgmiLinkStatus{totalLinks: uint32(min(len(x.Links), len(out.status)))}
	for i := range out.status {
		out.status[i] = AMDSMI_XGMI_LINK_DISABLE
	}
	for i, l := range x.Links[:out.totalLinks] {
		switch l.State {
		case smi.LinkUp:
			out.status[i] = AMDSMI_XGMI_LINK_UP
		case smi.LinkDown:
			out.status[i] = AMDSMI_XGMI_LINK_DOWN
		}
	}
	return AMDSMI_STATUS_SUCCESS
}

// amdsmiGPUXGMIErrorStatus is whether the links had errors.
func amdsmiGPUXGMIErrorStatus(c card, out *xgmiStatus) status {
	x, st := c.xgmi()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	switch x.Errors {
	case smi.XGMINoErrors:
		*out = AMDSMI_XGMI_STATUS_NO_ERRORS
	case smi.XGMIError:
		*out = AMDSMI_XGMI_STATUS_ERROR
	case smi.XGMIMultipleErrors:
		*out = AMDSMI_XGMI_STATUS_MULTIPLE_ERRORS
	default:
		return AMDSMI_STATUS_NOT_SUPPORTED
	}
	return AMDSMI_STATUS_SUCCESS
}
