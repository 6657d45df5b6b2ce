package quota

// Limits are one session's on one device. The zero value is none.
type Limits struct {
	Memory  uint64  // bytes; 0: no limit
	Compute float64 // share of the device's time, 0 … 1; 0 and from 1 up: no limit
}

// limited says whether kernels have to be timed.
func (l Limits) limited() bool { return l.Compute > 0 && l.Compute < 1 }
