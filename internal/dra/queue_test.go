package dra

import (
	"maps"
	"slices"
	"testing"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/resourceslice"
)

// TestQueue: of a look at many workers only the pools that differ are gone through again, and of the first all.
func TestQueue(t *testing.T) {
	pools := func(workers ...Known) *resourceslice.DriverResources {
		t.Helper()
		r, err := Resources(workers)
		if err != nil {
			t.Fatal(err)
		}
		return &r
	}
	worker := func(pool string, taints ...string) Known {
		d := resourceapi.Device{Name: "gpu-1"}
		for _, kind := range taints {
			d.Taints = append(d.Taints, taint(kind))
		}
		return Known{Pool: pool, Devices: []resourceapi.Device{d}}
	}
	q := newQueue()
	defer q.ShutDown()
	taken := func() (list []string) {
		for range q.Len() {
			pool, _ := q.Get()
			q.Done(pool)
			list = append(list, pool)
		}
		slices.Sort(list)
		return list
	}
	last := &resourceslice.DriverResources{}
	for _, c := range []struct {
		what string
		next *resourceslice.DriverResources
		want []string
	}{
		{"the first look", pools(worker("a"), worker("b"), worker("c", "bad-pages")), []string{"a", "b", "c"}},
		{"nothing is new", pools(worker("a"), worker("b"), worker("c", "bad-pages")), nil},
		{"one has a trouble, one has none any more", pools(worker("a", "no-answer"), worker("b"), worker("c")), []string{"a", "c"}},
		{"one comes, one goes", pools(worker("a", "no-answer"), worker("c"), worker("d")), []string{"b", "d"}},
	} {
		changed := changes(last, c.next)
		if got := slices.Sorted(maps.Keys(changed)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q have changed, want %q", c.what, got, c.want)
		}
		q.expect(changed)
		for _, r := range []*resourceslice.DriverResources{last, c.next} { // as the controller's Update does
			for pool := range r.Pools {
				q.Add(pool)
			}
		}
		if got := taken(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q are gone through, want %q", c.what, got, c.want)
		}
		last = c.next
	}
	q.expect(map[string]bool{})
	q.AddRateLimited("b") // by the controller, of a slice that could not be written
	if pool, _ := q.Get(); pool != "b" {
		t.Errorf("%q is tried again", pool)
	}
}
