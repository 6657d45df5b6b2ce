package smiabi

import (
	"context"
	"math"

	"github.com/rocwire/rocwire/smi"
)

// amdsmiInit opens the source, once however often it is called. Flags that ask for
// no GPUs get a library without processors, as in AMD's.
func amdsmiInit(flags uint64) status {
	opening.Lock()
	defer opening.Unlock()
	if inits > 0 {
		if inits == math.MaxInt32 {
			return AMDSMI_STATUS_REFCOUNT_OVERFLOW
		}
		inits++
		return AMDSMI_STATUS_SUCCESS
	}
	l, err := find(flags)
	if err != nil {
		say("amdsmi_init: %v", err)
		return statusOf(err)
	}
	current.Store(l)
	inits = 1
	setReady(true)
	return AMDSMI_STATUS_SUCCESS
}

// find is the library over the source that the opener chooses.
func find(flags uint64) (*library, error) {
	if flags&uint64(AMDSMI_INIT_AMD_GPUS) == 0 {
		return open(none{})
	}
	if opener == nil {
		return nil, smi.Errorf(smi.ErrNoDriver, "no source of figures")
	}
	src, err := opener()
	if err != nil {
		return nil, err
	}
	return open(src)
}

// none is a source without cards.
type none struct{ smi.Unimplemented }

func (none) Devices(context.Context) ([]smi.Device, error) { return nil, nil }

// amdsmiShutDown takes one amdsmi_init back; the last one closes the source. Without
// one there is nothing to do, which is no error.
func amdsmiShutDown() status {
	opening.Lock()
	defer opening.Unlock()
	if inits == 0 {
		return AMDSMI_STATUS_SUCCESS
	}
	if inits--; inits > 0 {
		return AMDSMI_STATUS_SUCCESS
	}
	setReady(false)
	current.Swap(nil).close()
	return AMDSMI_STATUS_SUCCESS
}
