package main

import (
	"testing"

	resourceapi "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// TestWritten: what is written since a card was late with its figures is not taken for what had changed.
func TestWritten(t *testing.T) {
	s := &published{changed: make(chan struct{}), slices: map[string]slice{}}
	write := func(name string, taints ...string) {
		x := &resourceapi.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: resourceapi.ResourceSliceSpec{Devices: make([]resourceapi.Device, 2)}}
		for _, kind := range taints {
			x.Spec.Devices[1].Taints = append(x.Spec.Devices[1].Taints, resourceapi.DeviceTaint{Key: driver + "/" + kind})
		}
		s.see(watch.Event{Type: watch.Modified, Object: x})
	}
	for _, c := range []struct {
		what   string
		write  func()
		n, ill int
		note   string
	}{
		{"nothing", func() {}, 0, 0, "0 written"},
		{"new ones", func() { write("a"); write("b") }, 2, 0, "2 written"},
		{"one is late and in time again", func() { write("b", "no-answer"); write("b") }, 0, 0, "0 written, and 2 times one with a card that was late with its figures, having too little of the processors"},
		{"a trouble, and another is late", func() { write("b", "unreachable"); write("a", "uncorrectable") }, 1, 1, "1 written, and 1 times one with a card that was late with its figures, having too little of the processors"},
		{"it is late itself", func() { write("a", "uncorrectable", "no-answer") }, 0, 1, "0 written, and 1 times one with a card that was late with its figures, having too little of the processors"},
		{"the trouble is over, and it is in time again", func() { write("a") }, 1, 0, "1 written"},
	} {
		c.write()
		ill := s.count(func(x *slice) int { return x.ill })
		if n, note := s.written(); n != c.n || ill != c.ill || note != c.note {
			t.Errorf("%s: %d, %d ill, %q; want %d, %d, %q", c.what, n, ill, note, c.n, c.ill, c.note)
		}
	}
	if s.size() <= 0 {
		t.Error("the slices have no size")
	}
}
