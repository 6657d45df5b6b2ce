package smiabi

import "math"

// amdsmiInit opens the source, once however often it is called.
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
	if opener == nil {
		return AMDSMI_STATUS_DRIVER_NOT_LOADED
	}
	src, err := opener()
	if err != nil {
		say("amdsmi_init: %v", err)
		return statusOf(err)
	}
	l, err := open(src)
	if err != nil {
		say("amdsmi_init: %v", err)
		return statusOf(err)
	}
	_ = flags // which kinds of processor are wanted: this library has GPUs
	current.Store(l)
	inits = 1
	setReady(true)
	return AMDSMI_STATUS_SUCCESS
}

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
