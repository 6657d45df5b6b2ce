package smiremote

import (
	"math"

	"github.com/rocwire/rocwire/smi"
)

func decodeFirmware(b []byte, _ int) (fs []smi.Firmware, err error) {
	err = unpack(b, &fs)
	return fs, err
}

func decodeECC(b []byte, _ int) (*smi.ECC, error) {
	var e smi.ECC
	if err := unpack(b, &e); err != nil {
		return nil, err
	}
	return &e, age(e.Stale)
}

func decodeBadPages(b []byte, _ int) (ps []smi.BadPage, err error) {
	err = unpack(b, &ps)
	return ps, err
}

func decodeXGMI(b []byte, _ int) (*smi.XGMI, error) {
	var x smi.XGMI
	if err := unpack(b, &x); err != nil {
		return nil, err
	}
	return &x, age(x.Stale)
}

func decodePartitions(b []byte, _ int) (*smi.Partitions, error) {
	var p smi.Partitions
	if err := unpack(b, &p); err != nil {
		return nil, err
	}
	for _, f := range p.Profiles {
		if f.Index < 0 || f.Partitions < 0 {
			return nil, bad("partition profile %d makes %d parts", f.Index, f.Partitions)
		}
		for _, r := range f.Resources {
			if r.Count < 0 || r.SharedBy < 0 {
				return nil, bad("%d engines shared by %d parts", r.Count, r.SharedBy)
			}
		}
	}
	return &p, nil
}

// maxCards bounds the index of a card.
const maxCards = 1 << 12

func decodeTopology(b []byte) (*smi.Topology, error) {
	var t smi.Topology
	if err := unpack(b, &t); err != nil {
		return nil, err
	}
	for _, p := range t.Paths {
		if p.From < 0 || p.From >= maxCards || p.To < 0 || p.To >= maxCards || p.From == p.To {
			return nil, bad("a path from card %d to card %d", p.From, p.To)
		}
	}
	return &t, nil
}

func decodeSubscription(b []byte) (id uint32, err error) {
	err = unpack(b, &id)
	return id, err
}

func decodeEvents(b []byte) ([]smi.Event, error) {
	var es []smi.Event
	if err := unpack(b, &es); err != nil {
		return nil, err
	}
	for i := range es {
		e := &es[i]
		if e.Device < smi.NoCard || e.Device >= maxCards || e.Kind == "" {
			return nil, bad("event %q of card %d", e.Kind, e.Device)
		}
		if err := moment(&e.Time); err != nil {
			return nil, err
		}
		e.Message = oneLine(e.Message)
	}
	return es, nil
}

func decodeServer(b []byte) (*ServerInfo, error) {
	var i ServerInfo
	if err := unpack(b, &i); err != nil {
		return nil, err
	}
	if i.Uptime < 0 {
		return nil, bad("an uptime of %v s", i.Uptime.Seconds())
	}
	return &i, moment(&i.Start)
}

// The worker's side.

func decodeSetting(b []byte) (*smi.Setting, error) {
	var s smi.Setting
	if err := unpack(b, &s); err != nil {
		return nil, request(err)
	}
	if s.PowerCap.Or(0) < 0 || s.Determinism.Or(0) < 0 || s.Fan.Or(0) < 0 || s.Fan.Or(0) > 1 {
		return nil, smi.Errorf(smi.ErrInvalid, "a setting below 0, or a share above 1")
	}
	if c := s.Clock; c != nil && (c.Min.Or(0) < 0 || c.Max.Or(0) < 0 || c.Min.Or(0) > c.Max.Or(math.MaxFloat64)) {
		return nil, smi.Errorf(smi.ErrInvalid, "a clock from %v Hz to %v Hz", c.Min, c.Max)
	}
	return &s, s.Check()
}

func decodeFault(b []byte) (*smi.Fault, error) {
	var f smi.Fault
	if err := unpack(b, &f); err != nil {
		return nil, request(err)
	}
	if f.Width.Or(0) < 0 || f.Speed.Or(0) < 0 {
		return nil, smi.Errorf(smi.ErrInvalid, "a link of %v lanes and %v transfers per second", f.Width, f.Speed)
	}
	return &f, nil
}

// request is the error of a request that could not be read.
func request(err error) error { return smi.Errorf(smi.ErrInvalid, "malformed request: %w", err) }
