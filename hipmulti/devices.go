package hipmulti

import (
	"bytes"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/internal/visible"
)

// place is a device: a worker and its number there.
type place struct {
	worker int
	device int32
}

// devices is the list that a program sees.
type devices struct {
	list    []place
	numbers [][]int32 // by worker and device there, the number in the list; -1 if it is not visible
}

// at is the device of a number.
func (d *devices) at(n int32) (place, bool) {
	if n < 0 || int(n) >= len(d.list) {
		return place{}, false
	}
	return d.list[n], true
}

// number is the opposite of at; -1 for a device that is not visible, or none.
func (d *devices) number(p place) int32 {
	if p.device < 0 || int(p.device) >= len(d.numbers[p.worker]) {
		return -1
	}
	return d.numbers[p.worker][p.device]
}

// devices asks every worker what it has, when it is first needed. If one cannot be asked, that is the answer: the numbers of the others' devices depend
// on it.
func (r *Runtime) devices() (*devices, hip.Error) {
	if d := r.devs.Load(); d != nil {
		return d, hip.Success
	}
	r.opening.Lock()
	defer r.opening.Unlock()
	if d := r.devs.Load(); d != nil {
		return d, hip.Success
	}
	var all []place
	var uuids []string
	d := &devices{numbers: make([][]int32, len(r.workers))}
	for i, w := range r.workers {
		n, code := w.GetDeviceCount()
		if code == hip.ErrorNoDevice {
			continue
		}
		if code != hip.Success {
			return nil, code
		}
		for dev := range n {
			p, code := w.GetDevicePropertiesR0600(dev)
			if code != hip.Success {
				return nil, code
			}
			id, _, _ := bytes.Cut(p.Uuid.Bytes[:], []byte{0})
			all, uuids = append(all, place{i, dev}), append(uuids, "GPU-"+string(id))
			d.numbers[i] = append(d.numbers[i], -1)
		}
	}
	for _, n := range visible.Choose(r.rocr, r.hip, uuids) {
		p := all[n]
		d.numbers[p.worker][p.device] = int32(len(d.list))
		d.list = append(d.list, p)
	}
	if len(d.list) == 0 {
		return nil, hip.ErrorNoDevice
	}
	for _, w := range r.workers {
		w.Among(int32(len(d.list)))
	}
	r.devs.Store(d)
	return d, hip.Success
}

// GetDeviceCount is hipGetDeviceCount.
func (r *Runtime) GetDeviceCount() (int32, hip.Error) {
	d, code := r.devices()
	if code != hip.Success {
		return 0, code
	}
	return int32(len(d.list)), hip.Success
}
