package mono

import (
	"sync"
	"testing"
	"time"
)

// Time as it passes here is time as it passes elsewhere.
func TestNowAgreesWithTime(t *testing.T) {
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 3 {
				before, begin := time.Now(), time.Now()
				from := Now()
				began := time.Now()
				last := from
				for time.Since(begin) < 60*time.Millisecond { // the rate is found meanwhile
					now := Now()
					if now < last-1000 { // another processor may be that far behind, as far as a reading goes
						t.Errorf("%d ns came after %d ns", now, last)
					}
					last = now
				}
				end := time.Now()
				to := Now()
				most, least := time.Since(before), end.Sub(began)
				if d := time.Duration(to - from); d > most+most/1000+time.Microsecond || d < least-least/1000-time.Microsecond {
					t.Errorf("%v passed here, between %v and %v elsewhere", d, least, most)
				}
			}
		})
	}
	wg.Wait()
	if d := Since(Now() + int64(time.Hour)); d != 0 {
		t.Errorf("%v have passed since an hour from now", d)
	}
}

func TestNowDoesNotAllocate(t *testing.T) {
	if n := testing.AllocsPerRun(1000, func() { Now() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// readings of a counter of a rate in ticks/s, one every step nanoseconds.
func feed(c *calibration, from reading, rate, step float64, n int) (r reading, a *anchor, ok bool) {
	for i := 1; i <= n; i++ {
		ns := float64(i) * step
		r = reading{from.ticks + uint64(ns*rate/1e9), from.nanos + int64(ns)}
		if a, ok = c.next(r); !ok {
			return r, a, ok
		}
	}
	return r, a, ok
}

func TestCalibration(t *testing.T) {
	const start = 1<<63 + 12345
	for _, rate := range []float64{1.1e9, 2.5e9, 5e9} {
		var c calibration
		if a, ok := c.next(reading{start, 7}); a != nil || !ok {
			t.Fatalf("one reading gave %v, %v", a, ok)
		}
		if a, ok := c.next(reading{start + 10, 8}); a != nil || !ok {
			t.Fatalf("readings close together gave %v, %v", a, ok)
		}
		last, a, ok := feed(&c, reading{start, 7}, rate, 1.3e9, 20)
		if !ok || a == nil {
			t.Fatalf("%g ticks/s: %v, %v", rate, a, ok)
		}
		for _, later := range []float64{0, 1, 1e3, 1e9, 3600e9} {
			got, want := float64(a.at(last.ticks+uint64(later*rate/1e9))), float64(last.nanos)+later
			if d := got - want; d < -later/1e5-20 || d > later/1e5+20 {
				t.Errorf("%g ticks/s, %g ns later: %g, want %g", rate, later, got, want)
			}
		}
		if got := a.at(last.ticks - 100); got != a.nanos {
			t.Errorf("before the anchor: %d, want %d", got, a.nanos)
		}
		// The counter jumps, stops or changes its rate.
		for name, r := range map[string]reading{
			"back": {start, last.nanos + 1e9}, "stopped": {last.ticks, last.nanos + 1e9},
			"faster": {last.ticks + uint64(rate*1.01), last.nanos + 1e9}, "slower": {last.ticks + uint64(rate*0.99), last.nanos + 1e9},
		} {
			c := c
			if a, ok := c.next(r); ok || a != nil {
				t.Errorf("%g ticks/s, %s: still %v", rate, name, a)
			}
		}
	}
}

func TestCalibrationRefuses(t *testing.T) {
	for _, rate := range []float64{1, 900e6} { // too slow to be of use
		var c calibration
		c.next(reading{1, 1})
		if _, a, ok := feed(&c, reading{1, 1}, rate, 1e9, 2); ok || a != nil {
			t.Errorf("%g ticks/s: %v", rate, a)
		}
	}
}

// A conversion that is replaced goes on where the old one was.
func TestCalibrationDoesNotJump(t *testing.T) {
	var c calibration
	c.next(reading{1, 1})
	var before *anchor
	for i := range 100 {
		ns := int64(i+1) * 1e9
		r := reading{uint64(float64(ns) * 2.5), ns + int64(i%3)*50} // the readings are not exact
		a, ok := c.next(r)
		if !ok {
			t.Fatal(i)
		}
		if before != nil && a.at(r.ticks) != before.at(r.ticks) {
			t.Fatalf("%d: %d, before %d", i, a.at(r.ticks), before.at(r.ticks))
		}
		before = a
	}
}

func BenchmarkNow(b *testing.B) {
	for b.Loop() {
		Now()
	}
}

func BenchmarkPlain(b *testing.B) {
	for b.Loop() {
		plain()
	}
}
