package admission

import "testing"

// With few descriptors others than sessions get fewer places, and limits that still make sense.
func TestFit(t *testing.T) {
	for _, n := range []int{100, 200, 1024, 1200, 1500, 4096, 1 << 20} {
		l := Limits{Sessions: 128}
		if err := l.Complete(); err != nil {
			t.Fatal(err)
		}
		want := l
		fits := l.Fit(n)
		if fits != (n >= 1024) || fits && l.Descriptors() > n {
			t.Errorf("%d descriptors: %v, needs %d: %+v", n, fits, l.Descriptors(), l)
		}
		if l.Shares < fewest || fits && l.Shares > fewest && l.Descriptors()+l.Shares > n {
			t.Errorf("%d descriptors: %d may be published: %+v", n, l.Shares, l)
		}
		if n >= want.Descriptors()+want.Shares && l != want {
			t.Errorf("%d descriptors are enough, and there is less: %+v", n, l)
		}
		if err := l.Complete(); err != nil || l.Strangers.Full < fewest || l.Managers < fewest || l.StrangersPerAddress > l.Strangers.Full || l.ManagersPerAddress > l.Managers {
			t.Errorf("%d descriptors: %+v, %v", n, l, err)
		}
	}
}
