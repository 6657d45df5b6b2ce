package aside_test

import (
	"reflect"
	"testing"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/aside"
)

// recorder is a runtime that writes down what it is asked.
type recorder struct {
	hip.Unimplemented
	streams hip.Stream
	fails   string
	asked   []string
}

func (r *recorder) says(what string) hip.Error {
	r.asked = append(r.asked, what)
	if what == r.fails {
		return hip.ErrorOutOfMemory
	}
	return hip.Success
}

func (r *recorder) StreamCreateWithPriority(t hip.Thread, flags uint32, _ int32) (hip.Stream, hip.Error) {
	if flags != hip.StreamNonBlocking {
		return 0, hip.ErrorInvalidValue
	}
	r.streams++
	return r.streams, r.says("create")
}

func (r *recorder) EventCreateWithFlags(hip.Thread, uint32) (hip.Event, hip.Error) {
	return 7, r.says("event")
}

func (r *recorder) EventRecord(t hip.Thread, v hip.Event, s hip.Stream) hip.Error {
	if v != 7 || t.Device != 1 || s != 20 {
		return hip.ErrorInvalidValue
	}
	return r.says("record")
}

func (r *recorder) StreamWaitEvent(t hip.Thread, s hip.Stream, v hip.Event, _ uint32) hip.Error {
	if v != 7 || t.Device != 0 || s != 10 {
		return hip.ErrorInvalidValue
	}
	return r.says("wait")
}

func (r *recorder) EventDestroy(hip.Thread, hip.Event) hip.Error { return r.says("destroy") }

func TestStreams(t *testing.T) {
	r := &recorder{fails: "create"}
	var x aside.Streams
	if s, code := x.On(r, hip.Thread{}); s != 0 || code != hip.ErrorOutOfMemory {
		t.Fatalf("no stream to be had: %v, %v", s, code)
	}
	r.fails = ""
	first, code := x.On(r, hip.Thread{Device: 0})
	if again, c := x.On(r, hip.Thread{Device: 0, ID: 3}); code != hip.Success || c != hip.Success || again != first {
		t.Errorf("device 0 has %v, then %v", first, again)
	}
	other, _ := x.On(r, hip.Thread{Device: 1})
	if other == first {
		t.Error("two devices have one stream")
	}
	if !x.Is(first) || !x.Is(other) || x.Is(other+1) || x.Is(hip.StreamNull) {
		t.Error("a stream beside the program's is not told from others")
	}
	x.Forget(0)
	if again, _ := x.On(r, hip.Thread{Device: 0}); again == first {
		t.Error("a stream that went with its device is given out")
	}
	if again, _ := x.On(r, hip.Thread{Device: 1}); again != other {
		t.Error("the reset of one device took the stream of another")
	}
}

func TestFollow(t *testing.T) {
	for fails, want := range map[string][]string{
		"":        {"event", "record", "wait", "destroy"},
		"event":   {"event"},
		"record":  {"event", "record", "destroy"},
		"wait":    {"event", "record", "wait", "destroy"},
		"destroy": {"event", "record", "wait", "destroy"},
	} {
		r := &recorder{fails: fails}
		code := aside.Follow(r, hip.Thread{Device: 0}, 10, hip.Thread{Device: 1}, 20)
		if (code != hip.Success) != (fails != "") {
			t.Errorf("%q fails: %v", fails, code)
		}
		if !reflect.DeepEqual(r.asked, want) {
			t.Errorf("%q fails: asked %q, not %q", fails, r.asked, want)
		}
	}
}
