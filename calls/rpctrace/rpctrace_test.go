package rpctrace

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

const w3c = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

func TestTraceParent(t *testing.T) {
	got, ok := ParseTraceParent(w3c)
	if !ok || hex.EncodeToString(got.TraceID[:]) != w3c[3:35] || hex.EncodeToString(got.Parent[:]) != w3c[36:52] || !got.Sampled {
		t.Errorf("%+v, %v", got, ok)
	}
	for s, sampled := range map[string]bool{
		strings.TrimSuffix(w3c, "1") + "0": false, "cc" + w3c[2:] + "-later": true, "cc" + w3c[2:53] + "fe": false, "01" + w3c[2:]: true,
	} {
		if got, ok := ParseTraceParent(s); !ok || got.Sampled != sampled {
			t.Errorf("%s: %+v, %v", s, got, ok)
		}
	}
	for _, s := range []string{
		"", "00", w3c[:54], w3c + "x", w3c + "-x", "ff" + w3c[2:], strings.ToUpper(w3c), "cc" + w3c[2:] + "x", strings.Replace(w3c, "-", "_", 1),
		"00-00000000000000000000000000000000-b7ad6b7169203331-01", "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
		"00-0af7651916cd43dd8448eb211c80319g-b7ad6b7169203331-01", "0x-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
	} {
		if got, ok := ParseTraceParent(s); ok {
			t.Errorf("%q: taken as %+v", s, got)
		}
	}
}

func FuzzTraceParent(f *testing.F) {
	f.Add(w3c)
	f.Add("cc" + w3c[2:] + "-later")
	f.Fuzz(func(t *testing.T, s string) {
		if p, ok := ParseTraceParent(s); ok && (p.TraceID == [16]byte{} || p.Parent == [8]byte{} || !strings.Contains(s, hex.EncodeToString(p.TraceID[:]))) {
			t.Errorf("%q: %+v", s, p)
		}
	})
}

func TestEvery(t *testing.T) {
	unsampled := strings.TrimSuffix(w3c, "1") + "0"
	for _, c := range []struct {
		sampler, arg, parent string
		want                 uint32
		problem              bool
	}{
		{"", "", "", 0, false}, {"", "", w3c, 1, false}, {"", "", unsampled, 0, false}, {"", "0.5", w3c, 1, false}, {"", "", "nonsense", 0, false},
		{"always_on", "", "", 1, false}, {"always_on", "", unsampled, 1, false}, {"always_off", "", w3c, 0, false},
		{"traceidratio", "0.01", w3c, 100, false}, {"traceidratio", "", "", 1, false}, {"traceidratio", "0", "", 0, false}, {"traceidratio", "1", "", 1, false},
		{"traceidratio", "0.3", "", 3, false}, {"traceidratio", "1e-300", "", math.MaxUint32, false},
		{"traceidratio", "-1", "", 1, true}, {"traceidratio", "NaN", "", 1, true}, {"traceidratio", "much", "", 1, true},
		{"parentbased_always_on", "", "", 1, false}, {"parentbased_always_on", "", unsampled, 0, false}, {"parentbased_always_off", "", w3c, 1, false},
		{"parentbased_always_off", "", "", 0, false}, {"parentbased_traceidratio", "0.1", "", 10, false}, {"parentbased_traceidratio", "0.1", w3c, 1, false},
		{"parentbased_traceidratio", "0.1", unsampled, 0, false}, {"jaeger_remote", "", w3c, 0, true},
	} {
		env := map[string]string{"OTEL_TRACES_SAMPLER": c.sampler, "OTEL_TRACES_SAMPLER_ARG": c.arg, "TRACEPARENT": c.parent}
		if got, problem := Every(func(k string) string { return env[k] }); got != c.want || (problem != "") != c.problem {
			t.Errorf("%+v: %d, %q", c, got, problem)
		}
		for k, v := range map[string]string{"OTEL_SDK_DISABLED": "true", "OTEL_TRACES_EXPORTER": "none"} {
			env[k] = v
			if got, _ := Every(func(k string) string { return env[k] }); got != 0 {
				t.Errorf("%+v with %s=%s: %d", c, k, v, got)
			}
			delete(env, k)
		}
	}
}

// Two sides with the same context find the same calls and the same identities.
func TestContext(t *testing.T) {
	if c := NewContext(w3c, 7, 0); c != nil || c.Traced(1) || c.TraceID(1) != "" {
		t.Error("a rate of 0 traces")
	}
	for parent, own := range map[string]bool{w3c: false, "": true} {
		c := NewContext(parent, 7, 3)
		for id := range uint32(100) {
			want := ""
			if c.Traced(id) {
				s := c.Span(&Record{Request: id, Kind: Worker}, "", "")
				want = hex.EncodeToString(s.TraceID[:])
			}
			if got := c.TraceID(id); got != want || got != "" && (got != w3c[3:35]) != own {
				t.Errorf("parent %q, call %d: trace %q, want %q", parent, id, got, want)
			}
		}
	}
	for _, every := range []uint32{1, 7, 1000} {
		client, worker := NewContext(w3c, 12345, every), NewContext(w3c, 12345, every)
		const n = 200000
		traced := 0
		for id := range uint32(n) {
			if client.Traced(id) != worker.Traced(id) {
				t.Fatal(id)
			}
			if client.Traced(id) {
				traced++
			}
		}
		want := float64(n) / float64(every)
		if math.Abs(float64(traced)-want) > 6*math.Sqrt(want)+0.5 || every == 1 && traced != n {
			t.Errorf("1 of %d: %d of %d", every, traced, n)
		}
	}
	seen := map[[8]byte]bool{}
	c := NewContext(w3c, 99, 1)
	for id := range uint32(10000) {
		for k := Client; k <= maxKind; k++ {
			if x := c.id(id, k); seen[x] || x == ([8]byte{}) {
				t.Fatalf("identity %x again", x)
			} else {
				seen[x] = true
			}
		}
	}
}

func TestSpans(t *testing.T) {
	within, own := NewContext(w3c, 5, 1), NewContext("", 5, 1)
	parent, _ := ParseTraceParent(w3c)
	of := func(c *Context, k Kind, alone bool) Span {
		return c.Span(&Record{Kind: k, Request: 3, Alone: alone, Start: 1e18 + 5, Duration: 7, Bytes: 9, Device: 1}, "hipX", "hipSuccess")
	}
	for _, c := range []*Context{within, own} {
		client, worker, kernel := of(c, Client, false), of(c, Worker, false), of(c, Kernel, false)
		if worker.Parent != client.ID || kernel.Parent != worker.ID || client.TraceID != worker.TraceID || kernel.TraceID != client.TraceID {
			t.Errorf("%+v\n%+v\n%+v", client, worker, kernel)
		}
		if kernel.Device != 1 || worker.Device != -1 {
			t.Errorf("devices %d and %d", kernel.Device, worker.Device)
		}
		if want := (Span{TraceID: client.TraceID, ID: client.ID, Parent: client.Parent, Kind: Client, Op: "hipX", Code: "hipSuccess",
			Start: time.Unix(1e9, 5), Duration: 7, Bytes: 9, Device: -1}); !reflect.DeepEqual(client, want) {
			t.Errorf("%+v, want %+v", client, want)
		}
	}
	if s := of(within, Client, false); s.TraceID != parent.TraceID || s.Parent != parent.Parent {
		t.Errorf("%+v", s)
	}
	if s := of(within, Worker, true); s.Parent != parent.Parent {
		t.Errorf("alone: %+v", s)
	}
	if s := of(own, Client, false); s.Parent != ([8]byte{}) || s.TraceID == ([16]byte{}) {
		t.Errorf("%+v", s)
	}
	if a, b := own.Span(&Record{Kind: Client, Request: 1}, "", ""), own.Span(&Record{Kind: Client, Request: 2}, "", ""); a.TraceID == b.TraceID {
		t.Error("calls without a context are of one trace")
	}
}

func TestBudget(t *testing.T) {
	var b Budget
	taken := func(now int64) (n int) {
		for range 5 * MaxRate {
			if b.Take(now) {
				n++
			}
		}
		return n
	}
	const start = 1e18
	if n := taken(start); n != MaxRate {
		t.Errorf("%d at once", n)
	}
	if n := taken(start + 1e8); n != MaxRate/10 {
		t.Errorf("%d after a tenth of a second", n)
	}
	if n := taken(start); n != 0 {
		t.Errorf("%d when time goes back", n)
	}
	if n := taken(start + 1e12); n != MaxRate {
		t.Errorf("%d after a long time", n)
	}
	if n := b.Dropped(); n != 4*5*MaxRate-2*MaxRate-MaxRate/10 || b.Dropped() != 0 {
		t.Errorf("%d dropped", n)
	}
	b = Budget{Batches: true}
	if n := taken(start); n != 2*MaxRate {
		t.Errorf("%d in a batch", n)
	}
}

var some = []Record{
	{Kind: Client, Request: 7, Op: 0x0201, Code: 2, Start: 300, Duration: 200, Bytes: 1},
	{Kind: Worker, Alone: true, Request: math.MaxUint32, Op: 0x0201, Code: -1, Start: maxNanos, Duration: maxNanos, Bytes: maxCount},
	{Kind: Kernel, Request: 8, Op: 0x0512, Start: 5, Duration: 6, Device: 2, Stream: 1 << 63, Kernel: "vec\xff", Grid: [3]uint32{1, 2, math.MaxUint32}, Block: [3]uint32{256, 1, 1}},
}

func TestRecordBytes(t *testing.T) {
	want, err := hex.DecodeString(strings.ReplaceAll("01 05 03"+
		"01 0102 02000000 07000000 ac02 c801 01"+
		"12 0102 ffffffff ffffffff 808080808080808040 808080808080808040 8080808080808010"+
		"03 1205 00000000 08000000 05 06 00 02 80808080808080808001 04 766563ff 01 02 ffffffff0f 8002 01 01", " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	if b := AppendRecords(nil, some, 5); !bytes.Equal(b, want) {
		t.Errorf("%x, want %x", b, want)
	}
	if l, dropped, err := DecodeRecords(want); err != nil || dropped != 5 || !reflect.DeepEqual(l, some) {
		t.Errorf("%+v, %d, %v", l, dropped, err)
	}
	for n := range want {
		if l, _, err := DecodeRecords(want[:n]); !errors.Is(err, ErrInvalid) {
			t.Errorf("%d bytes: %+v, %v", n, l, err)
		}
	}
	for name, b := range map[string][]byte{
		"version": {2, 0, 0}, "bytes after": append(bytes.Clone(want), 0), "more than fit": {1, 0, 5, 1, 2, 3}, "too many": {1, 0, 0x80, 0x20},
		"no kind": append([]byte{1, 0, 1, 0}, make([]byte, 13)...), "unknown kind": append([]byte{1, 0, 1, 4}, make([]byte, 13)...),
		"unknown flag": append([]byte{1, 0, 1, 0x21}, make([]byte, 13)...),
	} {
		if l, _, err := DecodeRecords(b); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %+v, %v", name, l, err)
		}
	}
}

// What is too much is cut by who sends it, and counted.
func TestRecordLimits(t *testing.T) {
	many := make([]Record, MaxRecords+5)
	for i := range many {
		many[i] = Record{Kind: Kernel, Start: -1, Duration: -1, Bytes: math.MaxUint64, Kernel: strings.Repeat("x", MaxKernel-1) + "ä"}
	}
	b := AppendRecords(nil, many, 1)
	l, dropped, err := DecodeRecords(b)
	if err != nil || len(l) != MaxRecords || dropped != 6 || l[0].Start != 0 || l[0].Bytes != maxCount || len(l[0].Kernel) != MaxKernel-1 {
		t.Errorf("%d, %d, %v", len(l), dropped, err)
	}
	big := Record{
		Kind: Kernel, Start: maxNanos, Duration: maxNanos, Bytes: maxCount, Device: -1, Stream: math.MaxUint64, Kernel: strings.Repeat("x", MaxKernel),
		Grid: [3]uint32{math.MaxUint32, math.MaxUint32, math.MaxUint32}, Block: [3]uint32{math.MaxUint32, math.MaxUint32, math.MaxUint32},
	}
	if n := len(AppendRecords(nil, []Record{big}, 0)) - 3; n > MaxRecord {
		t.Errorf("a record of %d bytes, at most %d were promised", n, MaxRecord)
	}
}

func FuzzRecords(f *testing.F) {
	f.Add(AppendRecords(nil, nil, 0))
	f.Add(AppendRecords(nil, some, 5))
	f.Fuzz(func(t *testing.T, b []byte) {
		l, dropped, err := DecodeRecords(b)
		if err != nil {
			if !errors.Is(err, ErrInvalid) {
				t.Fatal(err)
			}
			return
		}
		again, d, err := DecodeRecords(AppendRecords(nil, l, dropped))
		if err != nil || d != dropped || !reflect.DeepEqual(again, l) {
			t.Fatalf("%+v became %+v, %v", l, again, err)
		}
	})
}

func BenchmarkTraced(b *testing.B) {
	c := NewContext("", 5, 1<<20)
	id, n := uint32(0), 0
	for b.Loop() {
		if id++; c.Traced(id) {
			n++
		}
	}
}
