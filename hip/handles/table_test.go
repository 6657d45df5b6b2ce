package handles

import (
	"testing"

	"github.com/rocwire/rocwire/hip"
)

func (t *Table) is(k hip.HandleKind, h uint64) bool { return t.Check(k, h) == hip.Success }

func TestKinds(t *testing.T) {
	var x Table
	for k := range hip.HandleKinds {
		if code := x.Check(k, 99); code == hip.Success || code != k.Wrong() {
			t.Errorf("%v: a handle of an empty table answers %v", k, code)
		}
		x.Add(k, 99, 3)
		if !x.is(k, 99) || !x.Ever(k) || x.None(k) || x.Lost(k) || x.Device(k, 99, 0) != 3 || x.Device(k, 98, 7) != 7 {
			t.Errorf("%v is not known", k)
		}
	}
	x.Clear(2)
	for k := range hip.HandleKinds {
		if !x.is(k, 99) {
			t.Errorf("%v went with another device", k)
		}
	}
	x.Clear(3)
	for k := range hip.HandleKinds {
		if x.is(k, 99) != k.SurvivesReset() || x.Lost(k) == k.SurvivesReset() {
			t.Errorf("%v after its device was reset: %v", k, x.is(k, 99))
		}
	}
	for _, s := range []hip.Stream{hip.StreamNull, hip.StreamLegacy} {
		if !x.is(hip.HandleStream, uint64(s)) {
			t.Errorf("stream %d is every device's own", s)
		}
	}
	if x.is(hip.HandleStream, uint64(hip.StreamPerThread)) {
		t.Error("a thread's own stream is to be resolved before")
	}
}

func TestTake(t *testing.T) {
	var x Table
	x.Add(hip.HandleModule, 20, 1)
	x.AddOf(hip.HandleFunction, 30, hip.HandleModule, 20, 0)
	x.AddOf(hip.HandleFunction, 30, hip.HandleModule, 20, 0) // asked for again
	x.AddOf(hip.HandleFunction, 31, hip.HandleModule, 99, 5) // of a module that the runtime alone knows
	if x.Device(hip.HandleFunction, 30, 9) != 1 || x.Device(hip.HandleFunction, 31, 9) != 5 {
		t.Error("a part is on its owner's device")
	}
	o, ok := x.Take(hip.HandleModule, 20)
	if _, twice := x.Take(hip.HandleModule, 20); !ok || twice {
		t.Error("two may destroy the same object")
	}
	if x.is(hip.HandleModule, 20) || x.is(hip.HandleFunction, 30) || !x.is(hip.HandleFunction, 31) {
		t.Error("the wrong handles have ended")
	}
	x.Restore(hip.HandleModule, 20, o)
	if !x.is(hip.HandleModule, 20) || !x.is(hip.HandleFunction, 30) {
		t.Error("what was not destroyed is not there again")
	}
	if x.Take(hip.HandleModule, 20); x.is(hip.HandleFunction, 30) {
		t.Error("a part outlives its owner")
	}
}

func TestCounted(t *testing.T) {
	var x Table
	const k = hip.HandleGenericAllocation
	x.Add(k, 20, 0)
	x.Add(k, 20, 0)
	if l := x.List(k); len(l) != 1 || l[0] != 20 {
		t.Error("listed:", l)
	}
	if x.Take(k, 20); !x.is(k, 20) {
		t.Error("it has an owner left")
	}
	o, _ := x.Take(k, 20)
	if x.is(k, 20) {
		t.Error("it has none left")
	}
	x.Restore(k, 20, o)
	if x.Take(k, 20); x.is(k, 20) {
		t.Error("restored with more owners than it had")
	}
}
