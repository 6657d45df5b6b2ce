package hiprpc

import (
	"reflect"
	"testing"

	"github.com/rocwire/rocwire/hip"
)

func TestLaunches(t *testing.T) {
	list := []hip.Launch{
		{Function: 1, Grid: hip.Dim3{X: 2, Y: 3, Z: 4}, Block: hip.Dim3{X: 5, Y: 6, Z: 7}, SharedMem: 8, Stream: 9, Args: []byte{1, 2, 3}, Flags: hip.LaunchCooperative},
		{Function: 10, Args: []byte{}},
	}
	b := AppendLaunches(nil, 3, list, 2)
	device, got, flags, ok := DecodeLaunches(b)
	if !ok || device != 3 || flags != 2 || !reflect.DeepEqual(got, list) {
		t.Errorf("%d %+v %d %v", device, got, flags, ok)
	}
	if _, _, _, ok := DecodeLaunches(b[:len(b)-1]); ok {
		t.Error("a cut message is taken")
	}
	if _, _, _, ok := DecodeLaunches(AppendLaunches(nil, 0, make([]hip.Launch, MaxLaunches+1), 0)); ok {
		t.Error("too many launches are taken")
	}
}

func FuzzLaunches(f *testing.F) {
	f.Add(AppendLaunches(nil, 1, []hip.Launch{{Function: 1, Args: []byte{1}}, {}}, 3))
	f.Fuzz(func(t *testing.T, b []byte) {
		if device, list, flags, ok := DecodeLaunches(b); ok {
			_, again, _, ok := DecodeLaunches(AppendLaunches(nil, device, list, flags))
			if !ok || len(again) != len(list) {
				t.Fatal(len(again), ok)
			}
		}
	})
}
