package smiabi

import (
	"context"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// patience is how long a call may wait for the source.
const patience = 10 * time.Second

// call is one call of an export, from its beginning to its end.
type call struct {
	ctx context.Context // ends with the call's patience, or when the library is shut down
	lib *library
	end context.CancelFunc
}

// begin is a call of the library as it is open now; false if it is not.
func begin() (call, bool) {
	l := current.Load()
	if l == nil {
		return call{}, false
	}
	ctx, cancel := context.WithTimeout(l.ctx, patience)
	return call{ctx: ctx, lib: l, end: cancel}, true
}

// card is the card that a call is about.
type card struct {
	call
	index int
}

// card is the card that a processor handle stands for: AMDSMI_STATUS_INVAL for
// none, AMDSMI_STATUS_NOT_FOUND for what is no handle.
func (c call) card(h handle) (card, status) {
	if h == 0 {
		return card{}, AMDSMI_STATUS_INVAL
	}
	i, ok := indexIn(h, processorHandle(0), len(c.lib.devices))
	if !ok {
		return card{}, AMDSMI_STATUS_NOT_FOUND
	}
	return card{c, i}, AMDSMI_STATUS_SUCCESS
}

// at is the card of an index 0 … len(c.lib.devices)-1.
func (c call) at(index int) card { return card{c, index} }

// handle is the handle that stands for the card.
func (c card) handle() handle { return processorHandle(c.index) }

// device is what was known of the card when the library was opened.
func (c card) device() smi.Device { return c.lib.devices[c.index] }

// source is who is asked.
func (c call) source() smi.Source { return c.lib.src }

// info is what does not change about the card; it is asked for once.
func (c card) info() (*smi.Info, status) {
	v, err := c.lib.infos.get(c.index, forever, func() (*smi.Info, error) { return c.lib.src.Info(c.ctx, c.index) })
	return v, statusOf(err)
}

// metrics is what the card measures now. Programs fetch figure by figure; figures
// that are fetched within a few milliseconds are of one reading, so that they fit
// each other and a slow card is not asked a hundred times.
func (c card) metrics() (*smi.Metrics, status) {
	v, err := c.lib.metrics.get(c.index, reading, func() (*smi.Metrics, error) { return c.lib.src.Metrics(c.ctx, c.index) })
	return v, statusOf(err)
}

// firmware lists the card's firmware.
func (c card) firmware() ([]smi.Firmware, status) {
	v, err := c.lib.firmware.get(c.index, forever, func() ([]smi.Firmware, error) { return c.lib.src.Firmware(c.ctx, c.index) })
	return v, statusOf(err)
}

// ecc is the card's error counts.
func (c card) ecc() (*smi.ECC, status) {
	v, err := c.lib.ecc.get(c.index, reading, func() (*smi.ECC, error) { return c.lib.src.ECC(c.ctx, c.index) })
	return v, statusOf(err)
}

// xgmi is what the card's links do.
func (c card) xgmi() (*smi.XGMI, status) {
	v, err := c.lib.xgmi.get(c.index, reading, func() (*smi.XGMI, error) { return c.lib.src.XGMI(c.ctx, c.index) })
	return v, statusOf(err)
}

// partitions is how the card is divided.
func (c card) partitions() (*smi.Partitions, status) {
	v, err := c.lib.partitions.get(c.index, reading, func() (*smi.Partitions, error) { return c.lib.src.Partitions(c.ctx, c.index) })
	return v, statusOf(err)
}

// processes lists who uses the card.
func (c card) processes() ([]smi.Process, status) {
	v, err := c.lib.src.Processes(c.ctx, c.index)
	return v, statusOf(err)
}

// badPages lists the pages out of use.
func (c card) badPages() ([]smi.BadPage, status) {
	v, err := c.lib.src.BadPages(c.ctx, c.index)
	return v, statusOf(err)
}

// topology is how the cards reach each other.
func (c call) topology() (*smi.Topology, status) {
	v, err := c.lib.topology.get(0, reading, func() (*smi.Topology, error) { return c.lib.src.Topology(c.ctx) })
	return v, statusOf(err)
}

// set changes the card. What was known of it is asked for anew afterwards.
func (c card) set(s smi.Setting) status {
	err := c.lib.src.Set(c.ctx, c.index, s)
	c.lib.forget(c.index)
	return statusOf(err)
}
