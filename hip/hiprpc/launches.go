package hiprpc

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/wire"
)

// MaxLaunches bounds the devices of one launch.
const MaxLaunches = 64

// AppendLaunches encodes a launch on several devices.
func AppendLaunches(b []byte, device int32, list []hip.Launch, flags uint32) []byte {
	e := wire.Enc{B: b}
	e.I32(device)
	e.U32(flags)
	e.U32(uint32(len(list)))
	for i := range list {
		e.Bytes(AppendLaunch(nil, device, &list[i]))
	}
	return e.B
}

// DecodeLaunches reads what AppendLaunches wrote. The launches' Args lie in b.
func DecodeLaunches(b []byte) (device int32, list []hip.Launch, flags uint32, ok bool) {
	d := wire.NewDec(b)
	device, flags = d.I32(), d.U32()
	n := d.U32()
	if n > MaxLaunches {
		return 0, nil, 0, false
	}
	list = make([]hip.Launch, n)
	for i := range list {
		if _, ok := DecodeLaunch(d.Bytes(), &list[i]); !ok {
			return 0, nil, 0, false
		}
	}
	return device, list, flags, d.Done()
}
