package collector

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/rocwire/rocwire/smi"
)

func init() {
	register("xgmi", func(*Options) collector { return xgmiCollector{} })
}

var linkLabels = []string{"gpu", "link", "peer", "peer_gpu"}

var (
	xgmiInfo = define(gauge, "gpu_xgmi_info",
		"The GPU's place among those it is linked with: hive is the same for all of them, node its number there.", "gpu", "hive", "node")
	xgmiLanes  = define(gauge, "gpu_xgmi_lanes", "Lanes of one XGMI link.", "gpu")
	xgmiErrors = define(counter, "gpu_xgmi_error_readings_total",
		"Readings, one each 30 s by default, in which the GPU's XGMI links had had errors since the reading before.", "gpu")
	xgmiUp      = define(gauge, "gpu_xgmi_link_up", "1 if the link to the GPU at PCI address peer works, else 0.", linkLabels...)
	xgmiEnabled = define(gauge, "gpu_xgmi_link_enabled", "1 if the link is meant to work, 0 if it is switched off.", linkLabels...)
	xgmiRate    = define(gauge, "gpu_xgmi_link_lane_rate_bytes_per_second", "Rate of one lane of the link now.", linkLabels...)
	xgmiMax     = define(gauge, "gpu_xgmi_link_max_bandwidth_bytes_per_second", "What the link carries at most, one way.", linkLabels...)
	xgmiRead    = define(counter, "gpu_xgmi_link_read_bytes_total", "Read by the GPU over the link since the driver was loaded.", linkLabels...)
	xgmiWritten = define(counter, "gpu_xgmi_link_written_bytes_total", "Written by the GPU over the link since the driver was loaded.", linkLabels...)
)

// xgmiCollector makes the figures of the links between cards.
type xgmiCollector struct{}

func (xgmiCollector) update(v *View, emit *emitter) error {
	peers := map[smi.BDF]string{}
	for i := range v.Cards {
		d := &v.Cards[i].Snap.Device
		if b, ok := d.BDF.Get(); ok {
			peers[b] = strconv.Itoa(d.Index)
		}
	}
	var errs []error
	for i := range v.Cards {
		c := &v.Cards[i]
		gpu := strconv.Itoa(c.Snap.Device.Index)
		detailTimes(emit, gpu, "xgmi", &c.XGMI)
		errs = append(errs, c.XGMI.failure(gpu, "XGMI"))
		if x := c.XGMI.Value; c.Fresh && x != nil {
			cardXGMI(gpu, x, peers, emit)
			if x.Errors != "" {
				emit.counter(xgmiErrors, float64(c.LinkErrors), gpu)
			}
		}
	}
	return errors.Join(errs...)
}

func cardXGMI(gpu string, x *smi.XGMI, peers map[smi.BDF]string, emit *emitter) {
	hive := ""
	if h, ok := x.Hive.Get(); ok {
		hive = fmt.Sprintf("0x%016x", h)
	}
	emit.info(xgmiInfo, gpu, hive, number(x.Node))
	gaugeOpt(emit, xgmiLanes, x.Lanes, gpu)
	for i := range x.Links {
		l := &x.Links[i]
		bdf, ok := l.Peer.Get()
		peer := ""
		if ok {
			peer = peers[bdf]
		}
		ls := makeLabels(xgmiRead, []string{gpu, strconv.Itoa(i), text(l.Peer), peer})
		switch l.State {
		case smi.LinkUp, smi.LinkDown, smi.LinkDisabled:
			emit.put(xgmiUp, truth(l.State == smi.LinkUp), ls)
			emit.put(xgmiEnabled, truth(l.State != smi.LinkDisabled), ls)
		}
		putScaled(emit, xgmiRate, l.Rate, 1./8, ls)
		putScaled(emit, xgmiMax, l.MaxBandwidth, 1./8, ls)
		putOpt(emit, xgmiRead, l.Read, ls)
		putOpt(emit, xgmiWritten, l.Written, ls)
	}
}
