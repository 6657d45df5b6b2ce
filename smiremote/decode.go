package smiremote

import (
	"time"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/smi"
)

// SessionList is what a worker tells about its sessions.
type SessionList struct {
	Sessions []smi.Session     `json:"sessions" msgpack:"s"`
	Totals   smi.SessionTotals `json:"totals" msgpack:"t"`
}

func bad(format string, args ...any) error {
	return smi.Errorf(smi.ErrBadData, "nonsense in the reply: "+format, args...)
}

// moment checks a time and makes it UTC. JSON cannot carry years above 9999.
func moment(t *time.Time) error {
	if t.IsZero() {
		*t = time.Time{}
		return nil
	}
	if y := t.UTC().Year(); y < 1970 || y > 9999 {
		return bad("the year %d", y)
	}
	*t = t.UTC()
	return nil
}

func decodeDevices(b []byte) ([]smi.Device, error) {
	var ds []smi.Device
	if err := unpack(b, &ds); err != nil {
		return nil, err
	}
	for i := range ds {
		if ds[i].Index != i {
			return nil, bad("card %d has index %d", i, ds[i].Index)
		}
	}
	return ds, nil
}

func decodeInfo(b []byte, index int) (*smi.Info, error) {
	var i smi.Info
	if err := unpack(b, &i); err != nil {
		return nil, err
	}
	return &i, checkInfo(&i, index)
}

func checkInfo(i *smi.Info, index int) error {
	if i.Index != index {
		return bad("information about card %d instead of %d", i.Index, index)
	}
	return nil
}

func decodeMetrics(b []byte, _ int) (*smi.Metrics, error) {
	var m smi.Metrics
	if err := unpack(b, &m); err != nil {
		return nil, err
	}
	return &m, checkMetrics(&m)
}

func checkMetrics(m *smi.Metrics) error {
	if err := age(m.Stale); err != nil {
		return err
	}
	return moment(&m.Time)
}

// age checks how old something is said to be.
func age(a smi.Opt[smi.Duration]) error {
	if a.Or(0) < 0 {
		return bad("an age of %v s", a.Or(0).Seconds())
	}
	return nil
}

func decodeProcesses(b []byte, index int) ([]smi.Process, error) {
	var ps []smi.Process
	if err := unpack(b, &ps); err != nil {
		return nil, err
	}
	return ps, checkProcesses(ps, index)
}

func checkProcesses(ps []smi.Process, index int) error {
	for i := range ps {
		if ps[i].Device != index {
			return bad("a process of card %d instead of %d", ps[i].Device, index)
		}
	}
	return nil
}

func decodeSnapshot(b []byte) (*smi.Snapshot, error) {
	var s smi.Snapshot
	if err := unpack(b, &s); err != nil {
		return nil, err
	}
	return &s, checkSnapshot(&s)
}

func checkSnapshot(s *smi.Snapshot) error {
	if err := moment(&s.Time); err != nil {
		return err
	}
	for i := range s.Devices {
		d := &s.Devices[i]
		if d.Device.Index != i {
			return bad("card %d has index %d", i, d.Device.Index)
		}
		if d.ECC == nil && d.ECCErr == nil {
			d.ECCErr = &smi.Failure{Code: smi.ErrNotSupported, Detail: "the worker is too old: its snapshots have no ECC"}
		}
		if (d.Info == nil) == (d.InfoErr == nil) || (d.Metrics == nil) == (d.MetricsErr == nil) || (d.ECC == nil) == (d.ECCErr == nil) {
			return bad("card %d has a figure and a failure for it, or neither", i)
		}
		for _, f := range []*smi.Failure{d.InfoErr, d.MetricsErr, d.ECCErr, d.ProcessesErr} {
			if f != nil {
				f.Detail = oneLine(f.Detail)
			}
		}
		if d.Info != nil {
			if err := checkInfo(d.Info, i); err != nil {
				return err
			}
		}
		if d.Metrics != nil {
			if err := checkMetrics(d.Metrics); err != nil {
				return err
			}
		}
		if d.ECC != nil {
			if err := age(d.ECC.Stale); err != nil {
				return err
			}
		}
		if err := age(d.ProcessesStale); err != nil {
			return err
		}
		if err := checkProcesses(d.Processes, i); err != nil {
			return err
		}
	}
	return nil
}

func decodeSessions(b []byte) (*SessionList, error) {
	var l SessionList
	if err := unpack(b, &l); err != nil {
		return nil, err
	}
	for i := range l.Sessions {
		if err := moment(&l.Sessions[i].Start); err != nil {
			return nil, err
		}
	}
	return &l, nil
}

func decodeCalls(b []byte) ([]rpcstats.CallTotal, error) {
	var list []callTotal
	if err := unpack(b, &list); err != nil {
		return nil, err
	}
	calls := make([]rpcstats.CallTotal, len(list))
	for i := range list {
		c := &list[i]
		h, err := rpcstats.DecodeHist(c.Hist)
		if err != nil {
			return nil, bad("%w", err)
		}
		if err := moment(&c.Since); err != nil {
			return nil, err
		}
		calls[i] = rpcstats.CallTotal{Call: rpcstats.Call{Op: c.Op, Side: c.Side, Code: c.Code}, Hist: h, Since: c.Since}
	}
	return calls, nil
}
