package hipabi

import "C"

import (
	"reflect"
	"strconv"
	"strings"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

// old is p in the layout that programs built for HIP 5 expect.
func old(p *hip.DevicePropR0600) hip.DevicePropR0000 {
	var o hip.DevicePropR0000
	from, to := reflect.ValueOf(p).Elem(), reflect.ValueOf(&o).Elem()
	for i := range to.NumField() {
		f := from.FieldByName(to.Type().Field(i).Name)
		if f.IsValid() && f.Type() == to.Field(i).Type() {
			to.Field(i).Set(f)
		}
	}
	o.GcnArch = archNumber(cString(p.GcnArchName[:]))
	return o
}

// archNumber is the old way to name a processor: gfx90a is 910, gfx942 is 942.
func archNumber(name string) int32 {
	name, _, _ = strings.Cut(strings.TrimPrefix(name, "gfx"), ":")
	if len(name) < 3 {
		return 0
	}
	major, e1 := strconv.Atoi(name[:len(name)-2])
	minor, e2 := strconv.ParseInt(name[len(name)-2:len(name)-1], 16, 32)
	step, e3 := strconv.ParseInt(name[len(name)-1:], 16, 32)
	if e1 != nil || e2 != nil || e3 != nil {
		return 0
	}
	return int32(major*100) + int32(minor*10+step)
}

//export rw_hipGetDevicePropertiesR0000
func rw_hipGetDevicePropertiesR0000(thread uint64, out unsafe.Pointer, n int32) int32 {
	return about(n, true, func(d *device) { *(*hip.DevicePropR0000)(out) = old(&d.prop) })
}

//export rw_hipGetDeviceProperties
func rw_hipGetDeviceProperties(thread uint64, out unsafe.Pointer, n int32) int32 {
	return rw_hipGetDevicePropertiesR0000(thread, out, n)
}

// wish is the part of a device's properties by which one is chosen; what is 0
// is not asked for.
type wish struct {
	memory, shared, constant                      uint64
	major, minor, registers, threads, units, warp int32
	clock, concurrent                             int32
}

// met counts the wishes that d fulfils.
func (w *wish) met(d *hip.DevicePropR0600) (n int) {
	count := func(asked, ok bool) {
		if asked && ok {
			n++
		}
	}
	count(w.major != 0, d.Major > w.major || d.Major == w.major && d.Minor >= w.minor)
	count(w.memory != 0, d.TotalGlobalMem >= w.memory)
	count(w.shared != 0, d.SharedMemPerBlock >= w.shared)
	count(w.constant != 0, d.TotalConstMem >= w.constant)
	count(w.registers != 0, d.RegsPerBlock >= w.registers)
	count(w.threads != 0, d.MaxThreadsPerBlock >= w.threads)
	count(w.units != 0, d.MultiProcessorCount >= w.units)
	count(w.warp != 0, d.WarpSize >= w.warp)
	count(w.clock != 0, d.ClockRate >= w.clock)
	count(w.concurrent != 0, d.ConcurrentKernels >= w.concurrent)
	return n
}

// choose writes the number of the device that fulfils most of w.
func choose(out unsafe.Pointer, w wish) hip.Error {
	count, err := runtime().GetDeviceCount()
	if err != hip.Success {
		return err
	}
	if count == 0 {
		return hip.ErrorNoDevice
	}
	best, most := int32(0), -1
	for i := range count {
		d, err := devices.get(i)
		if err != hip.Success {
			return err
		}
		if n := w.met(&d.prop); n > most {
			best, most = i, n
		}
	}
	*(*int32)(out) = best
	return hip.Success
}

//export rw_hipChooseDeviceR0600
func rw_hipChooseDeviceR0600(thread uint64, out, prop unsafe.Pointer) int32 {
	p := (*hip.DevicePropR0600)(prop)
	return int32(choose(out, wish{p.TotalGlobalMem, p.SharedMemPerBlock, p.TotalConstMem, p.Major, p.Minor, p.RegsPerBlock,
		p.MaxThreadsPerBlock, p.MultiProcessorCount, p.WarpSize, p.ClockRate, p.ConcurrentKernels}))
}

//export rw_hipChooseDeviceR0000
func rw_hipChooseDeviceR0000(thread uint64, out, prop unsafe.Pointer) int32 {
	p := (*hip.DevicePropR0000)(prop)
	return int32(choose(out, wish{p.TotalGlobalMem, p.SharedMemPerBlock, p.TotalConstMem, p.Major, p.Minor, p.RegsPerBlock,
		p.MaxThreadsPerBlock, p.MultiProcessorCount, p.WarpSize, p.ClockRate, p.ConcurrentKernels}))
}

//export rw_hipChooseDevice
func rw_hipChooseDevice(thread uint64, out, prop unsafe.Pointer) int32 {
	return rw_hipChooseDeviceR0000(thread, out, prop)
}
