package page

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/rocwire/rocwire/smi/smitest"
)

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-4*max(math.Abs(a), math.Abs(b), 1e-9) }

// Whatever is measured, and whatever is missed, a series tells what a plain list of
// all steps does.
func TestSeriesTellWhatWasMeasured(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 9))
		steps := 1 + r.IntN(40)
		s := newStore(steps, 1<<30)
		want := map[int64]float64{}
		k, step, now := keyOf("x", "gpu", "0"), int64(steps), smitest.Then
		for range 200 {
			sum, n := 0.0, r.IntN(4)
			for range n {
				v := r.NormFloat64() * 1e9
				s.begin(step, now)
				s.gauge(k, rankCard, v)
				sum += v
			}
			s.gauge(keyOf("y"), rankCard, math.NaN()) // is none
			if n > 0 {
				want[step] = sum / float64(n)
			}
			jump := int64(1)
			if r.IntN(10) == 0 {
				jump += int64(r.IntN(3 * steps))
			}
			step += jump
			now = now.Add(time.Duration(jump) * 5 * time.Second)
			s.begin(step, now)
			if s.series[keyOf("y")] != nil {
				t.Fatal("a figure that is no number has a series")
			}
			for i := step - 1; i >= max(0, step-int64(steps)); i-- {
				v, ok := want[i]
				got := nan32
				if x := s.series[k]; x != nil {
					got = x.get(i)
				}
				if ok != (got == got) || ok && !near(float64(got), v) {
					t.Fatalf("seed %d: step %d is %v, want %v %v", seed, i, got, v, ok)
				}
			}
		}
	}
}

// A counter's rates add up to what it counted, a new beginning included.
func TestRatesAddUp(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 3))
		s := newStore(500, 1<<30)
		k, now, total, counted := keyOf("c"), smitest.Then, 0.0, 0.0
		for step := range int64(400) {
			if r.IntN(25) == 0 && step > 0 {
				total = 0 // it begins anew
			}
			grew := float64(r.IntN(1000))
			if step == 0 {
				grew = 12345 // what was before the first reading is not seen
			} else {
				counted += grew
			}
			total += grew
			s.begin(step, now)
			s.counter(k, rankCard, total)
			now = now.Add(time.Second)
		}
		s.begin(400, now)
		sum := 0.0
		for i := range int64(400) {
			if v := s.series[k].get(i); v == v {
				if v < 0 {
					t.Fatalf("seed %d: a rate of %v", seed, v)
				}
				sum += float64(v)
			}
		}
		// A counter that began anew and has passed where it was cannot be told from one
		// that went on; small steps make that impossible here but for the last value.
		if sum > counted*1.0001 || sum < counted*0.9 {
			t.Errorf("seed %d: rates add up to %v of %v", seed, sum, counted)
		}
	}
}

// A counter that was not read for a while has a gap, and then the rate of all of it.
func TestGapInACounter(t *testing.T) {
	s, now := newStore(100, 1<<30), smitest.Then
	k := keyOf("c")
	for step := range int64(50) {
		s.begin(step, now.Add(time.Duration(step)*5*time.Second))
		if step < 10 || step >= 30 {
			s.counter(k, rankCard, float64(step)*50)
		}
	}
	for step, want := range map[int64]float64{0: math.NaN(), 1: 10, 9: 10, 10: math.NaN(), 29: math.NaN(), 30: 10, 48: 10} {
		if got := float64(s.series[k].get(step)); got == got != (want == want) || want == want && !near(got, want) {
			t.Errorf("step %d: %v, want %v", step, got, want)
		}
	}
}

// However many series there are, the store stays within its bound, keeps the cards,
// and what has ended makes room for what is new.
func TestStoreIsBounded(t *testing.T) {
	const steps, bound = 60, 64 << 10
	s, now := newStore(steps, bound), smitest.Then
	card := keyOf("gpu", "gpu", "0")
	for step := range int64(300) {
		s.begin(step, now.Add(time.Duration(step)*time.Second))
		for i := range 150 { // more than there is room for, others all the time
			s.gauge(keyOf("p", "pid", sprint(int64(i)+step*7)), rankProcess, 1)
		}
		if step >= 5 {
			s.gauge(card, rankCard, 42)
		}
		var bytes int64
		for _, x := range s.series {
			bytes += x.bytes()
		}
		if bytes != s.bytes || bytes > bound {
			t.Fatalf("step %d: %d bytes, counted as %d, of %d", step, bytes, s.bytes, bound)
		}
		if step >= 5 && s.series[card] == nil {
			t.Fatalf("step %d: the card has no room", step)
		}
	}
	if s.left == 0 {
		t.Error("nothing was left out")
	}
	fresh := 0
	for _, x := range s.series {
		if x.open >= 298 {
			fresh++
		}
	}
	if fresh < len(s.series)/2 {
		t.Errorf("%d of %d series are of what is there now", fresh, len(s.series))
	}
	s.begin(299+steps+2, now.Add(time.Hour))
	s.begin(299+steps+3, now.Add(time.Hour))
	if len(s.series) != 0 || s.bytes != 0 {
		t.Errorf("after all has ended %d series and %d bytes are left", len(s.series), s.bytes)
	}
}

// Setting the clock neither stops the steps nor repeats them, and their times follow.
func TestGridFollowsTheClock(t *testing.T) {
	now := time.Now()
	g := newGrid(now, 5*time.Second, 720)
	if s := g.of(now); s != 720 {
		t.Fatalf("the first step is %d", s)
	}
	if at := g.time(720, now); at.After(now) || now.Sub(at) >= 5*time.Second || at.UnixNano()%int64(5*time.Second) != 0 {
		t.Errorf("step 720 begins at %v, now is %v", at, now)
	}
	later := now.Add(time.Minute)
	if s := g.of(later); s != 732 {
		t.Errorf("a minute later is step %d", s)
	}
}
