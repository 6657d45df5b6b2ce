package rows

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/smi"
)

var begun = time.UnixMilli(1_790_000_000_000)

// cells are the rows of a table as texts by column; null is missing.
func cells(b *Batch, table string) (list []map[string]string) {
	for i := range b.Tables {
		t := &b.Tables[i]
		if t.Name != table {
			continue
		}
		for _, r := range t.Rows {
			m := map[string]string{"ts": fmt.Sprint(r.Time)}
			for k, v := range r.Values {
				switch v.Type() {
				case String:
					m[t.Columns[k].Name] = v.Text()
				case Float:
					m[t.Columns[k].Name] = fmt.Sprint(v.Float())
				case Int:
					m[t.Columns[k].Name] = fmt.Sprint(v.Int())
				case Uint:
					m[t.Columns[k].Name] = fmt.Sprint(v.Uint())
				case Bool:
					m[t.Columns[k].Name] = fmt.Sprint(v.Bool())
				}
			}
			list = append(list, m)
		}
	}
	return list
}

// expect compares a row; "" stands for null.
func expect(t *testing.T, row map[string]string, want map[string]string) {
	t.Helper()
	for k, v := range want {
		if row[k] != v {
			t.Errorf("%s = %q, want %q", k, row[k], v)
		}
	}
}

// encoded is what arrives of a batch.
func encoded(t *testing.T, b *Batch) *Batch {
	t.Helper()
	record, err := b.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(record)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func newMaker(opt Options) *Maker {
	return NewMaker(opt, exporter.Place{Host: "node-1", Cluster: "c", Pool: "p"}, begun)
}

// fullCard is an MI300X under work.
func fullCard(index int, processes ...smi.Process) exporter.Card {
	d := smi.Device{Index: index, UUID: fmt.Sprintf("12FF74A1-0000-1000-8012-%012d", index), Name: "AMD Instinct MI300X", Target: "gfx942"}
	return exporter.Card{Fresh: true, Detail: exporter.Detail{Links: exporter.LinkRate{Read: smi.Some(smi.BytesPerSecond(3e9))}}, DeviceSnapshot: smi.DeviceSnapshot{
		Device: d,
		Info: &smi.Info{Device: d, ASIC: smi.ASIC{DeviceID: smi.Some(uint32(0x74a1)), ComputeUnits: smi.Some(304)},
			VRAM: smi.VRAMInfo{Size: smi.Some(smi.Bytes(200 << 30))}},
		Metrics: &smi.Metrics{
			Activity:     smi.Activity{GFX: smi.Some(smi.Ratio(0.5))},
			VRAM:         smi.MemoryUse{Total: smi.Some(smi.Bytes(192 << 30)), Used: smi.Some(smi.Bytes(48 << 30))},
			Clocks:       []smi.Clock{{Domain: smi.ClockGFX, Current: smi.Some(smi.MHz(2100))}},
			Temperatures: []smi.Temperature{{Sensor: smi.SensorHotspot, Current: smi.Some(smi.Celsius(71.5))}},
			Power:        smi.Power{Socket: smi.Some(smi.Watts(640.25))},
			PCIe:         smi.PCIe{Received: smi.Some(smi.BytesPerSecond(1e9))},
		},
		Processes: processes,
	}}
}

func TestSchemas(t *testing.T) {
	b := &Batch{}
	for _, s := range Tables {
		b.Tables = append(b.Tables, Table{Name: s.Name, Columns: s.Columns})
		if len(s.Help) != len(s.Columns) || s.About == "" {
			t.Errorf("%s is not explained", s.Name)
		}
		for i, c := range s.Columns {
			if s.Help[i] == "" || c.Name == "ts" || c.Name == "time" {
				t.Errorf("%s.%s", s.Name, c.Name)
			}
		}
	}
	if err := b.check(); err != nil {
		t.Error(err)
	}
	// What TensorFusion has, in its order: tags, then fields.
	for table, want := range map[string]string{
		"tf_gpu_usage": "uuid node pool | rx tx temperature memory_bytes memory_percentage compute_percentage compute_tflops power_usage " +
			"graphics_clock_mhz sm_clock_mhz memory_clock_mhz video_clock_mhz nvlink_rx nvlink_tx",
		"tf_worker_usage": "uuid node pool pod_name namespace workload worker | memory_bytes compute_percentage compute_tflops memory_percentage " +
			"compute_throttled_cnt vram_freezed_cnt vram_resumed_cnt",
		"tf_node_metrics": "node pool phase | allocated_tflops allocated_tflops_percent allocated_tflops_percent_virtual " +
			"allocated_vram_bytes allocated_vram_percent allocated_vram_percent_virtual gpu_count raw_cost",
	} {
		var got []string
		for _, s := range Tables {
			for i, c := range s.Columns {
				if s.Name != table {
					break
				}
				if !c.Tag && s.Columns[i-1].Tag {
					got = append(got, "|")
				}
				got = append(got, c.Name)
			}
		}
		if g := strings.Join(got, " "); g != want {
			t.Errorf("%s:\n%s, want\n%s", table, g, want)
		}
	}
}

func TestGPUUsage(t *testing.T) {
	bare := exporter.Card{Fresh: true, DeviceSnapshot: smi.DeviceSnapshot{Device: smi.Device{Index: 1, UUID: "bare"}, Metrics: &smi.Metrics{}}}
	old := fullCard(2)
	old.Metrics.Stale = smi.Some(smi.Duration(time.Minute))
	gone := fullCard(3)
	gone.Fresh = false
	nan := fullCard(4)
	nan.Metrics.Power.Socket = smi.Some(smi.Watts(math.NaN()))
	b := encoded(t, newMaker(Options{}).Make(&exporter.Reading{Time: begun, Cards: []exporter.Card{fullCard(0), bare, old, gone, nan}}))
	got := cells(b, "tf_gpu_usage")
	if len(got) != 3 {
		t.Fatalf("%d rows: %v", len(got), got)
	}
	expect(t, got[0], map[string]string{
		"ts": "1790000000000", "uuid": "12ff74a1-0000-1000-8012-000000000000", "node": "node-1", "pool": "p",
		"rx": "1e+09", "tx": "", "temperature": "71.5", "memory_bytes": fmt.Sprint(48 << 30), "memory_percentage": "25",
		"compute_percentage": "50", "compute_tflops": "653.7", "power_usage": "640.25",
		"graphics_clock_mhz": "2100", "sm_clock_mhz": "2100", "memory_clock_mhz": "", "nvlink_rx": "3e+09", "nvlink_tx": "",
	})
	if len(got[1]) != 4 { // time, uuid, node, pool
		t.Errorf("figures of a card that has none: %v", got[1])
	}
	expect(t, got[2], map[string]string{"power_usage": "", "temperature": "71.5"})
}

// Parts of a divided card that share a UUID keep rows of their own.
func TestSameUUID(t *testing.T) {
	a, b := fullCard(0), fullCard(1)
	b.Device.UUID = a.Device.UUID
	got := cells(encoded(t, newMaker(Options{}).Make(&exporter.Reading{Time: begun, Cards: []exporter.Card{a, b}})), "tf_gpu_usage")
	if len(got) != 2 || got[1]["uuid"] != got[0]["uuid"]+"-gpu1" {
		t.Errorf("%v", got)
	}
}

func TestNodeMetrics(t *testing.T) {
	held := smi.Process{PID: 1, VRAM: smi.Some(smi.Bytes(96 << 30))}
	unknown := fullCard(1)
	unknown.ProcessesErr = &smi.Failure{Code: smi.ErrIO}
	for name, c := range map[string]struct {
		r    exporter.Reading
		want map[string]string
	}{
		"held": {exporter.Reading{Cards: []exporter.Card{fullCard(0, held), fullCard(1)}}, map[string]string{
			"node": "node-1", "pool": "p", "phase": "Running", "gpu_count": "2", "allocated_vram_bytes": "1.03079215104e+11",
			"allocated_vram_percent": "25", "allocated_tflops": "", "raw_cost": ""}},
		"one card says nothing": {exporter.Reading{Cards: []exporter.Card{fullCard(0, held), unknown}}, map[string]string{
			"phase": "Running", "gpu_count": "2", "allocated_vram_bytes": "", "allocated_vram_percent": ""}},
		"quotas": {exporter.Reading{Cards: []exporter.Card{fullCard(0, smi.Process{PID: 1, Session: "a", VRAM: smi.Some(smi.Bytes(8 << 30))}), fullCard(1)}, Sessions: []smi.Session{
			{ID: "a", Quotas: []smi.SessionQuota{{Device: 0, Quota: smi.Quota{Memory: smi.Some(smi.Bytes(32 << 30)), Compute: smi.Some(smi.Ratio(0.25))}}}},
			{ID: "b", Quotas: []smi.SessionQuota{{Device: 1, Quota: smi.Quota{Memory: smi.Some(smi.Bytes(64 << 30))}}}},
			{ID: "c"},
		}}, map[string]string{"allocated_vram_bytes": "1.03079215104e+11", "allocated_vram_percent": "25", "allocated_tflops": "326.85", "allocated_tflops_percent": "12.5"}},
		"a quota together": {exporter.Reading{Cards: []exporter.Card{fullCard(0, smi.Process{PID: 1, Session: "a", VRAM: smi.Some(smi.Bytes(8 << 30))}, smi.Process{PID: 2, Session: "b", VRAM: smi.Some(smi.Bytes(16 << 30))}), fullCard(1)}, Sessions: []smi.Session{
			{ID: "a", Quotas: []smi.SessionQuota{{Device: 0, Quota: smi.Quota{Memory: smi.Some(smi.Bytes(32 << 30)), Compute: smi.Some(smi.Ratio(0.25))}, Together: "token x"}}},
			{ID: "b", Quotas: []smi.SessionQuota{{Device: 0, Quota: smi.Quota{Memory: smi.Some(smi.Bytes(32 << 30)), Compute: smi.Some(smi.Ratio(0.25))}, Together: "token x"}}},
			{ID: "c", Quotas: []smi.SessionQuota{{Device: 1, Quota: smi.Quota{Memory: smi.Some(smi.Bytes(64 << 30))}, Together: "token x"}}},
		}}, map[string]string{"allocated_vram_bytes": "1.03079215104e+11", "allocated_vram_percent": "25", "allocated_tflops": "326.85", "allocated_tflops_percent": "12.5"}},
		"memory together": {exporter.Reading{Cards: []exporter.Card{fullCard(0), fullCard(1)}, Sessions: []smi.Session{
			{ID: "a", Quotas: []smi.SessionQuota{{Quota: smi.Quota{Memory: smi.Some(smi.Bytes(96 << 30))}, Together: "token x"}, {Quota: smi.Quota{Compute: smi.Some(smi.Ratio(0.125))}}}},
			{ID: "b", Quotas: []smi.SessionQuota{{Quota: smi.Quota{Memory: smi.Some(smi.Bytes(96 << 30))}, Together: "token x"}, {Quota: smi.Quota{Compute: smi.Some(smi.Ratio(0.125))}}}},
		}}, map[string]string{"allocated_vram_bytes": "1.03079215104e+11", "allocated_vram_percent": "25", "allocated_tflops": "326.85", "allocated_tflops_percent": "12.5"}},
		"no answer": {exporter.Reading{Err: errors.New("no")}, map[string]string{"phase": "Unknown", "gpu_count": ""}},
		"no card":   {exporter.Reading{}, map[string]string{"phase": "Running", "gpu_count": "0", "allocated_vram_bytes": ""}},
	} {
		c.r.Time = begun
		got := cells(encoded(t, newMaker(Options{}).Make(&c.r)), "tf_node_metrics")
		if len(got) != 1 {
			t.Fatalf("%s: %v", name, got)
		}
		expect(t, got[0], c.want)
	}
}

// Times never repeat, whatever the clock does: the rows of two readings never have one key.
func TestTime(t *testing.T) {
	m := newMaker(Options{})
	last := ""
	for _, d := range []time.Duration{0, 0, -time.Hour, 400 * time.Microsecond, time.Second} {
		ts := cells(m.Make(&exporter.Reading{Time: begun.Add(d)}), "tf_node_metrics")[0]["ts"]
		if ts <= last {
			t.Errorf("%s after %s", ts, last)
		}
		last = ts
	}
}

// Names of clients may be anything.
func TestHostileNames(t *testing.T) {
	for s, want := range map[string]string{
		"plain":                  "plain",
		"":                       "",
		" \t\n ":                 "??",
		"a\x00b\x1b[31m\n":       "a?b?[31m?",
		"\xff\xfe":               "?",
		"x=1,y=\"2\" \\":         "x=1,y=\"2\" \\",
		"\u202eevil":             "\u202eevil",
		strings.Repeat("é", 300): strings.Repeat("é", 128),
		strings.Repeat("\xf0", 5000) + strings.Repeat("a", 300): "?",
	} {
		if got := clean(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("a\x00\xff")
	f.Add(strings.Repeat("é", 200))
	f.Fuzz(func(t *testing.T, s string) {
		b := &Batch{Tables: []Table{{Name: "t", Columns: []Column{{Name: "a", Type: String, Tag: true}}, Rows: []Row{{Values: []Value{textOf(s)}}}}}}
		if err := b.check(); err != nil || strings.ContainsAny(clean(s), "\x00\n\r") || clean(clean(s)) != clean(s) {
			t.Errorf("%q: %q %v", s, clean(s), err)
		}
	})
}
