package collector

import (
	"errors"
	"strconv"
)

var (
	detailAge = define(gauge, "gpu_detail_age_seconds",
		"Time since the GPU last told what is asked seldom: xgmi, partitions, firmware, bad_pages.", "gpu", "detail")
	detailTook = define(gauge, "gpu_detail_duration_seconds", "How long the GPU's last answer took, whether good or not.", "gpu", "detail")
)

// detailTimes tells how fresh an answer is, and what it cost.
func detailTimes[T any](emit *emitter, gpu, detail string, a *Answer[T]) {
	if a.Known {
		emit.gauge(detailAge, a.Age.Seconds(), gpu, detail)
	}
	if a.Asked {
		emit.gauge(detailTook, a.Took.Seconds(), gpu, detail)
	}
}

// eachDetail calls f with one detail of each card that is fresh and tells it.
func eachDetail[T any](v *View, emit *emitter, name string, of func(*Card) *Answer[T], f func(gpu string, value T)) error {
	var errs []error
	for i := range v.Cards {
		c := &v.Cards[i]
		gpu, a := strconv.Itoa(c.Snap.Device.Index), of(c)
		detailTimes(emit, gpu, name, a)
		errs = append(errs, a.failure(gpu, name))
		if c.Fresh && a.Known {
			f(gpu, a.Value)
		}
	}
	return errors.Join(errs...)
}
