package smi

import (
	"context"
	"time"
)

// Snapshot is everything a source can tell, read in one go.
type Snapshot struct {
	Time    time.Time        `json:"time" msgpack:"t"` // when it was complete
	Devices []DeviceSnapshot `json:"devices" msgpack:"d"`
}

// DeviceSnapshot is one card. What could not be read is nil, and the reason is in
// the error beside it; one card's failure never hides another card.
type DeviceSnapshot struct {
	Device    Device    `json:"device" msgpack:"d"`
	Info      *Info     `json:"info" msgpack:"i,omitempty"`
	Metrics   *Metrics  `json:"metrics" msgpack:"m,omitempty"`
	ECC       *ECC      `json:"ecc" msgpack:"e,omitempty"`
	Processes []Process `json:"processes" msgpack:"p,omitempty"`
	// Owners is whom the card was given to, as far as the source or one behind it is an Owners.
	Owners []Owner `json:"owners,omitempty" msgpack:"o,omitempty"`

	// ProcessesStale, when it is there, is how old the list of processes is: the card
	// did not answer in time, and it is the last that it told.
	ProcessesStale Opt[Duration] `json:"processes_stale_seconds" msgpack:"ps,omitempty"`

	InfoErr      *Failure `json:"info_error,omitempty" msgpack:"ie,omitempty"`
	MetricsErr   *Failure `json:"metrics_error,omitempty" msgpack:"me,omitempty"`
	ECCErr       *Failure `json:"ecc_error,omitempty" msgpack:"ee,omitempty"`
	ProcessesErr *Failure `json:"processes_error,omitempty" msgpack:"pe,omitempty"`
}

// Failure is an error as it travels in a snapshot.
type Failure struct {
	Code   Code   `json:"code" msgpack:"c"`
	Detail string `json:"detail" msgpack:"d"`
}

// FailureOf is err as a Failure; nil for nil.
func FailureOf(err error) *Failure {
	if err == nil {
		return nil
	}
	return &Failure{Code: CodeOf(err), Detail: err.Error()}
}

// Err is the failure as an error; nil for nil.
func (f *Failure) Err() error {
	if f == nil {
		return nil
	}
	return &Error{Code: f.Code, Detail: f.Detail}
}

// TakeSnapshot reads everything src can tell: in one go where src can, otherwise
// all cards side by side. Only a failure to list the cards fails it as a whole; of a
// card that has not answered when ctx is done, the failure is ErrTimeout.
func TakeSnapshot(ctx context.Context, src Source) (*Snapshot, error) {
	if s, ok := src.(Snapshotter); ok {
		return s.Snapshot(ctx)
	}
	devices, err := src.Devices(ctx)
	if err != nil {
		return nil, err
	}
	type part struct {
		at int
		d  DeviceSnapshot
	}
	parts := make(chan part, len(devices)) // a late one finds room and is dropped
	snap := &Snapshot{Devices: make([]DeviceSnapshot, len(devices))}
	for i, d := range devices {
		late := &Failure{Code: ErrTimeout, Detail: "no answer in time"}
		snap.Devices[i] = DeviceSnapshot{Device: d, InfoErr: late, MetricsErr: late, ECCErr: late, ProcessesErr: late}
		go func() { parts <- part{i, ReadDevice(ctx, src, d)} }()
	}
	done, over := ctx.Done(), (<-chan time.Time)(nil)
	for left := len(devices); left > 0; {
		select {
		case p := <-parts:
			snap.Devices[p.at] = p.d
			left--
			continue
		case <-done:
			// Sources that heed ctx still say what they have.
			done = nil
			over = time.After(grace)
			continue
		case <-over:
		}
		break
	}
	snap.Time = time.Now()
	return snap, nil
}

// grace is how long after the end of its context a reading may still deliver.
const grace = 50 * time.Millisecond

// ReadDevice reads everything src can tell about one card.
func ReadDevice(ctx context.Context, src Source, d Device) DeviceSnapshot {
	s := DeviceSnapshot{Device: d}
	if o := OwnersOf(src); o != nil {
		s.Owners = o.Owners()[d.Index]
	}
	var err error
	s.Info, err = src.Info(ctx, d.Index)
	s.InfoErr = FailureOf(err)
	s.Metrics, err = src.Metrics(ctx, d.Index)
	s.MetricsErr = FailureOf(err)
	s.ECC, err = src.ECC(ctx, d.Index)
	s.ECCErr = FailureOf(err)
	s.Processes, err = src.Processes(ctx, d.Index)
	s.ProcessesErr = FailureOf(err)
	return s
}
