package rpcstats

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestSlowest(t *testing.T) {
	var s Slowest
	if l := s.Take(5); l != nil {
		t.Fatalf("%+v of nothing", l)
	}
	for round := range 2 {
		if !s.Wants(1) || s.Wants(0) {
			t.Error("an empty one wants everything that took any time")
		}
		for i := range 100 {
			d := time.Duration(1 + i*37%100)
			if s.Wants(d) {
				s.Add(int64(i), Slow{Request: uint32(i), Total: d})
			}
		}
		s.Add(0, Slow{Total: 3}) // lost a race: another raised the floor meanwhile
		got := map[time.Duration]time.Duration{}
		for _, c := range s.Take(100) {
			got[c.Total] = c.Age
		}
		want := map[time.Duration]time.Duration{}
		for i := range 100 {
			if d := time.Duration(1 + i*37%100); d > 100-keepSlow {
				want[d] = time.Duration(100 - i)
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("round %d: %v, want %v", round, got, want)
		}
	}
}

func TestSlowestConcurrent(t *testing.T) {
	var s Slowest
	var wg sync.WaitGroup
	const n = 5000
	for g := range 4 {
		wg.Go(func() {
			for i := range n {
				if d := time.Duration(1 + i*4 + g); s.Wants(d) {
					s.Add(0, Slow{Total: d})
				}
			}
		})
	}
	wg.Wait()
	l := s.Take(0)
	for _, c := range l {
		if c.Total <= 4*n-keepSlow {
			t.Errorf("%d is none of the slowest", c.Total)
		}
	}
	if len(l) != keepSlow {
		t.Errorf("%d kept", len(l))
	}
}

var someSlow = []Slow{
	{Op: 0x0201, Code: 2, Request: 7, Client: true, Age: 300, Total: 200, Queue: 1, Network: 2, Execution: 197},
	{Op: 0x0301, Code: -1, Request: math.MaxUint32, Age: maxNanos, Total: maxNanos, Queue: maxNanos, Network: -1, Execution: -1, Kernel: "vec\xffadd\n"},
}

func TestSlowBytes(t *testing.T) {
	want, err := hex.DecodeString(strings.ReplaceAll("01 02"+
		"01 0102 02000000 07000000 ac02 c801 02 03 c601 00"+
		"00 0103 ffffffff ffffffff 808080808080808010 808080808080808010 818080808080808010 00 00 08 766563ff6164640a", " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	if b := AppendSlow(nil, someSlow); !bytes.Equal(b, want) {
		t.Errorf("%x, want %x", b, want)
	}
	if l, err := DecodeSlow(want); err != nil || !reflect.DeepEqual(l, someSlow) {
		t.Errorf("%+v, %v", l, err)
	}
	for n := range want {
		if l, err := DecodeSlow(want[:n]); !errors.Is(err, ErrInvalid) {
			t.Errorf("%d bytes: %+v, %v", n, l, err)
		}
	}
}

func TestDecodeSlowRefuses(t *testing.T) {
	one := AppendSlow(nil, someSlow[:1])
	flag := bytes.Clone(one)
	flag[2] = 2
	for name, b := range map[string][]byte{
		"version": {2, 0}, "too many": {1, MaxSlow + 1}, "more than fit": {1, 3, 1, 2, 3}, "bytes after": append(bytes.Clone(one), 0),
		"unknown flag": flag, "long name": append(one[:len(one)-1:len(one)-1], 0x81, 0x02), "nothing": nil,
	} {
		if l, err := DecodeSlow(b); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %+v, %v", name, l, err)
		}
	}
	// What is out of range or too much is cut by who sends it.
	many := make([]Slow, MaxSlow+5)
	many[0] = Slow{Age: -1, Total: math.MaxInt64, Queue: math.MinInt64, Kernel: strings.Repeat("x", MaxKernel-1) + "ä"}
	l, err := DecodeSlow(AppendSlow(nil, many))
	if err != nil || len(l) != MaxSlow || !reflect.DeepEqual(l[0], Slow{Total: maxNanos, Queue: -1, Kernel: strings.Repeat("x", MaxKernel-1)}) {
		t.Errorf("%d, %v", len(l), err)
	}
}

func FuzzDecodeSlow(f *testing.F) {
	f.Add(AppendSlow(nil, nil))
	f.Add(AppendSlow(nil, someSlow))
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := DecodeSlow(b)
		if err != nil {
			if !errors.Is(err, ErrInvalid) {
				t.Fatal(err)
			}
			return
		}
		r := NewTotals(Names{})
		r.AddSlow("s", Caller{}, l)
		if again, err := DecodeSlow(AppendSlow(nil, l)); err != nil || !reflect.DeepEqual(again, l) {
			t.Fatalf("%+v became %+v, %v", l, again, err)
		}
		for _, c := range r.SlowCalls() {
			if c.Total < 0 || c.Queue < -1 || strings.ContainsAny(c.Kernel, "\x00\x1b\n") {
				t.Fatalf("%+v", c)
			}
		}
	})
}

func TestSlowCallsMerge(t *testing.T) {
	r := testTotals()
	who := Caller{"node7", "train", 99}
	at := r.now()
	worker := Slow{Op: 0x0103, Request: 5, Age: time.Second, Total: 40, Queue: 10, Network: -1, Execution: 30, Kernel: "vec\x1badd"}
	client := Slow{Op: 0x0103, Request: 5, Client: true, Age: 2 * time.Second, Total: 100, Queue: 10, Network: 60, Execution: 30}
	want := []SlowCall{{Session: "3", Client: who, Op: "hipMalloc", Code: "hipSuccess", Start: at.Add(-2 * time.Second),
		Total: 100, Queue: 10, Network: 60, Execution: 30, Kernel: "vec?add"}}
	for _, order := range [][]Slow{{worker, client}, {client, worker}, {client, worker, client}} {
		r.slow = slowMinutes{}
		for _, s := range order {
			r.AddSlow("3", who, []Slow{s})
		}
		if got := r.SlowCalls(); !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	// A client that did not wait has only a part of it.
	posted := Slow{Op: 0x0103, Request: 6, Client: true, Total: 5, Queue: -1, Network: -1, Execution: -1}
	late := Slow{Op: 0x0103, Request: 6, Total: 50, Queue: 20, Network: -1, Execution: 30}
	for _, order := range [][]Slow{{posted, late}, {late, posted}} {
		r.slow = slowMinutes{}
		r.AddSlow("3", who, order)
		if got := r.SlowCalls(); len(got) != 1 || got[0].Total != 50 || got[0].Queue != 20 {
			t.Errorf("%+v", got)
		}
	}
	r.slow = slowMinutes{}
	r.AddSlow("3", who, []Slow{client})
	// The same number in another session or of another function is another call.
	other := client
	other.Op = 0x7777
	r.AddSlow("4", who, []Slow{client})
	r.AddSlow("3", who, []Slow{other})
	if got := r.SlowCalls(); len(got) != 3 || got[0].Op == got[1].Op && got[1].Op == got[2].Op {
		t.Errorf("%+v", got)
	}
}

func TestSlowCallsAreBounded(t *testing.T) {
	now := time.Unix(60*1000, 0)
	r := NewTotals(Names{})
	r.now = func() time.Time { return now }
	for minute := range 30 {
		now = time.Unix(int64(60*(1000+minute)), 0)
		for i := range 200 {
			r.AddSlow(fmt.Sprint(i%3), Caller{}, []Slow{{Request: uint32(1000*minute + i), Total: time.Duration(1 + i)}})
		}
	}
	got := r.SlowCalls()
	if len(got) != slowKept*slowPerMinute {
		t.Fatalf("%d calls", len(got))
	}
	for i, c := range got {
		if c.Total <= 200-slowPerMinute || i > 0 && got[i-1].Total < c.Total || now.Sub(c.Start) >= slowKept*time.Minute {
			t.Errorf("%d: %+v", i, c)
		}
	}
	r.AddSlow("", Caller{}, []Slow{{Age: time.Hour, Total: time.Hour}, {Age: slowKept*time.Minute - 1, Total: time.Hour}})
	if again := r.SlowCalls(); len(again) != len(got) {
		t.Errorf("old calls are kept: %d", len(again))
	}
	now = now.Add(slowKept*time.Minute - time.Second)
	if rest := r.SlowCalls(); len(rest) != slowPerMinute {
		t.Errorf("%d after ten minutes", len(rest))
	}
	now = now.Add(time.Minute)
	if rest := r.SlowCalls(); len(rest) != 0 {
		t.Errorf("%d after eleven minutes", len(rest))
	}
}

func BenchmarkSlowestFast(b *testing.B) {
	var s Slowest
	for i := range keepSlow {
		s.Add(0, Slow{Total: time.Duration(1000 + i)})
	}
	n := 0
	for b.Loop() {
		if s.Wants(time.Duration(500)) {
			n++
		}
	}
	if n != 0 {
		b.Error(n)
	}
}
