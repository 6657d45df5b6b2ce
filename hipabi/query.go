package hipabi

import "C"

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

//export rw_hipInit
func rw_hipInit(thread uint64, flags uint32) int32 {
	if flags != 0 {
		return int32(hip.ErrorInvalidValue)
	}
	n, err := runtime().GetDeviceCount()
	if err == hip.Success && n == 0 {
		err = hip.ErrorNoDevice
	}
	return int32(err)
}

// valid is ErrorInvalidDevice for a device that does not exist.
func valid(n int32) hip.Error {
	count, err := runtime().GetDeviceCount()
	if err == hip.Success && (n < 0 || n >= count) {
		err = hip.ErrorInvalidDevice
	}
	return err
}

//export rw_hipDeviceGet
func rw_hipDeviceGet(thread uint64, out unsafe.Pointer, ordinal int32) int32 {
	err := valid(ordinal)
	if err == hip.Success {
		*(*int32)(out) = ordinal
	}
	return int32(err)
}

// about answers a question about a device: the device is judged before what the answer is written to.
func about(n int32, there bool, answer func(d *device)) int32 {
	if err := valid(n); err != hip.Success {
		return int32(err)
	}
	if !there {
		return int32(hip.ErrorInvalidValue)
	}
	d, err := devices.get(n)
	if err == hip.Success {
		answer(d)
	}
	return int32(err)
}

//export rw_hipDeviceComputeCapability
func rw_hipDeviceComputeCapability(thread uint64, major, minor unsafe.Pointer, n int32) int32 {
	return about(n, major != nil && minor != nil, func(d *device) { *(*int32)(major), *(*int32)(minor) = d.prop.Major, d.prop.Minor })
}

//export rw_hipDeviceTotalMem
func rw_hipDeviceTotalMem(thread uint64, out unsafe.Pointer, n int32) int32 {
	return about(n, out != nil, func(d *device) { *(*uint64)(out) = d.prop.TotalGlobalMem })
}

//export rw_hipDeviceGetName
func rw_hipDeviceGetName(thread uint64, out unsafe.Pointer, size, n int32) int32 {
	return about(n, out != nil && size > 0, func(d *device) { copyString(memory(out, uint64(size)), cString(d.prop.Name[:])) })
}

//export rw_hipDeviceGetUuid
func rw_hipDeviceGetUuid(thread uint64, out unsafe.Pointer, n int32) int32 {
	return about(n, out != nil, func(d *device) { *(*hip.UUID)(out) = d.prop.Uuid })
}

// An address that does not fit is written as far as it does, and is an error.
//
//export rw_hipDeviceGetPCIBusId
func rw_hipDeviceGetPCIBusId(thread uint64, out unsafe.Pointer, size, n int32) int32 {
	fits := true
	err := about(n, out != nil && size > 0, func(d *device) {
		copyString(memory(out, uint64(size)), d.bus())
		fits = int(size) > len(d.bus())
	})
	if !fits {
		return int32(hip.ErrorInvalidValue)
	}
	return err
}

// bus is the device's PCI address: "0000:03:00.0".
func (d *device) bus() string {
	return fmt.Sprintf("%04x:%02x:%02x.0", d.prop.PciDomainID, d.prop.PciBusID, d.prop.PciDeviceID)
}

//export rw_hipDeviceGetByPCIBusId
func rw_hipDeviceGetByPCIBusId(thread uint64, out unsafe.Pointer, bus unsafe.Pointer) int32 {
	var domain, number, slot int32
	if n, _ := fmt.Sscanf(goString(bus), "%x:%x:%x", &domain, &number, &slot); n != 3 {
		return int32(hip.ErrorInvalidValue)
	}
	count, err := runtime().GetDeviceCount()
	if err != hip.Success {
		return int32(err)
	}
	for i := range count {
		d, err := devices.get(i)
		if err != hip.Success {
			return int32(err)
		}
		if d.prop.PciDomainID == domain && d.prop.PciBusID == number && d.prop.PciDeviceID == slot {
			*(*int32)(out) = i
			return int32(hip.Success)
		}
	}
	return int32(hip.ErrorInvalidValue)
}

//export rw_hipDeviceGetP2PAttribute
func rw_hipDeviceGetP2PAttribute(thread uint64, out unsafe.Pointer, attribute, src, dst int32) int32 {
	if valid(src) != hip.Success || valid(dst) != hip.Success || src == dst {
		return int32(hip.ErrorInvalidDevice)
	}
	switch hip.DeviceP2PAttr(attribute) {
	case hip.DevP2PAttrAccessSupported, hip.DevP2PAttrNativeAtomicSupported, hip.DevP2PAttrPerformanceRank:
		v, err := runtime().DeviceCanAccessPeer(src, dst)
		if err == hip.Success {
			*(*int32)(out) = v
		}
		return int32(err)
	case hip.DevP2PAttrHipArrayAccessSupported:
		*(*int32)(out) = 0
		return int32(hip.Success)
	}
	return int32(hip.ErrorInvalidValue)
}

// Cache and shared-memory configurations are hints that no AMD GPU takes.

//export rw_hipDeviceGetCacheConfig
func rw_hipDeviceGetCacheConfig(thread uint64, out unsafe.Pointer) int32 {
	*(*hip.FuncCache)(out) = hip.FuncCachePreferNone
	return int32(hip.Success)
}

//export rw_hipDeviceSetCacheConfig
func rw_hipDeviceSetCacheConfig(thread uint64, config int32) int32 {
	if config < int32(hip.FuncCachePreferNone) || config > int32(hip.FuncCachePreferEqual) {
		return int32(hip.ErrorInvalidValue)
	}
	return int32(hip.Success)
}

//export rw_hipDeviceGetSharedMemConfig
func rw_hipDeviceGetSharedMemConfig(thread uint64, out unsafe.Pointer) int32 {
	*(*hip.SharedMemConfig)(out) = hip.SharedMemBankSizeFourByte
	return int32(hip.Success)
}

//export rw_hipDeviceSetSharedMemConfig
func rw_hipDeviceSetSharedMemConfig(thread uint64, config int32) int32 {
	if config < int32(hip.SharedMemBankSizeDefault) || config > int32(hip.SharedMemBankSizeEightByte) {
		return int32(hip.ErrorInvalidValue)
	}
	return int32(hip.Success)
}

// deviceFlags are how a device's threads wait, as hipSetDeviceFlags or
// hipCtxCreate said, by device. They change nothing but the answer.
var deviceFlags sync.Map

// The flags that hipSetDeviceFlags takes.
const (
	scheduleSpin     = 0x1 // what a device begins with
	scheduleMask     = 0x7 // auto, spin, yield, blocking: one of them
	deviceMapHost    = 0x8
	deviceLmemResize = 0x10
)

//export rw_hipSetDeviceFlags
func rw_hipSetDeviceFlags(thread uint64, flags uint32) int32 {
	s := flags & scheduleMask
	if s&(s-1) != 0 || flags&^(scheduleMask|deviceMapHost|deviceLmemResize) != 0 {
		return int32(hip.ErrorInvalidValue)
	}
	deviceFlags.Store(threadOf(thread).Device, s)
	return int32(hip.Success)
}

// rw_ctxFlags keeps what hipCtxCreate was given: the whole of it.
//
//export rw_ctxFlags
func rw_ctxFlags(device int32, flags uint32) {
	deviceFlags.Store(device, flags)
}

//export rw_hipGetDeviceFlags
func rw_hipGetDeviceFlags(thread uint64, out unsafe.Pointer) int32 {
	flags := uint32(scheduleSpin)
	if v, ok := deviceFlags.Load(threadOf(thread).Device); ok {
		flags = v.(uint32)
	}
	*(*uint32)(out) = flags
	return int32(hip.Success)
}

//export rw_hipDeviceGetAttribute
func rw_hipDeviceGetAttribute(thread uint64, pi unsafe.Pointer, attr int32, deviceId int32) int32 {
	_ = thread
	v, err := runtime().DeviceGetAttribute(hip.DeviceAttribute(attr), deviceId)
	switch {
	case err != hip.Success:
	case attr == int32(hip.DeviceAttributeHdpMemFlushCntl) || attr == int32(hip.DeviceAttributeHdpRegFlushCntl): // addresses
		*(*uint64)(pi) = uint64(v) // null: no device of ours has them in this process
	default:
		*(*int32)(pi) = v
	}
	return int32(err)
}
