package smiremote

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/rocwire/rocwire/exporter/rpcstats"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
)

func pack(t testing.TB, v any) []byte {
	b, err := msgpack.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func goodSnapshot() *smi.Snapshot {
	return &smi.Snapshot{Time: smitest.Then, Devices: smitest.Cards()}
}

// decoders has every reader of what comes from a worker.
var decoders = map[string]func([]byte) (any, error){
	"devices":   func(b []byte) (any, error) { return decodeDevices(b) },
	"info":      func(b []byte) (any, error) { return decodeInfo(b, 0) },
	"metrics":   func(b []byte) (any, error) { return decodeMetrics(b, 0) },
	"processes": func(b []byte) (any, error) { return decodeProcesses(b, 0) },
	"snapshot":  func(b []byte) (any, error) { return decodeSnapshot(b) },
	"sessions":  func(b []byte) (any, error) { return decodeSessions(b) },
	"calls":     func(b []byte) (any, error) { return decodeCalls(b) },
}

func samples(t testing.TB) map[string][]byte {
	cards := smitest.Cards()
	rpc := rpcstats.NewTotals(rpcstats.Names{})
	rpc.Observe("hipMalloc", "client", "hipSuccess", 20e-6)
	return map[string][]byte{
		"devices":   pack(t, []smi.Device{cards[0].Device, cards[1].Device}),
		"info":      pack(t, cards[0].Info),
		"metrics":   pack(t, cards[0].Metrics),
		"processes": pack(t, cards[0].Processes),
		"snapshot":  pack(t, goodSnapshot()),
		"sessions":  pack(t, &SessionList{smitest.Clients{}.Sessions(), smitest.Clients{}.SessionTotals()}),
		"calls":     pack(t, encodeCalls(rpc.Calls())),
	}
}

// What is good is read, and cutting it anywhere is noticed.
func TestTruncated(t *testing.T) {
	for name, b := range samples(t) {
		if _, err := decoders[name](b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for n := range b {
			if _, err := decoders[name](b[:n]); !errors.Is(err, smi.ErrBadData) {
				t.Fatalf("%s, %d of %d bytes: %v", name, n, len(b), err)
			}
		}
		if _, err := decoders[name](append(bytes.Clone(b), 0xc0)); !errors.Is(err, smi.ErrBadData) {
			t.Errorf("%s and one byte more: %v", name, err)
		}
	}
}

func TestNonsense(t *testing.T) {
	snapshot := func(change func(*smi.Snapshot)) []byte {
		s := goodSnapshot()
		change(s)
		return pack(t, s)
	}
	deep := append(bytes.Repeat([]byte{0x91}, 1000), 0xc0)
	for _, c := range []struct {
		name, decoder string
		b             []byte
	}{
		{"list longer than the reply", "devices", []byte{0xdd, 0xff, 0xff, 0xff, 0xff}},
		{"map longer than the reply", "info", []byte{0xdf, 0xff, 0xff, 0xff, 0xff}},
		{"a million empty cards", "devices", append([]byte{0xdd, 0, 0x10, 0, 0}, bytes.Repeat([]byte{0xc0}, 1<<20)...)},
		{"nested deeply", "snapshot", deep},
		{"text of 1 MiB", "info", pack(t, &smi.Info{Device: smi.Device{Name: string(make([]byte, 1<<20))}})},
		{"code never used", "info", []byte{0xc1}},
		{"wrong index", "devices", pack(t, []smi.Device{{Index: 1}})},
		{"another card", "info", pack(t, &smi.Info{Device: smi.Device{Index: 3}})},
		{"another card's process", "processes", pack(t, []smi.Process{{Device: 1, PID: 1}})},
		{"not a number", "metrics", pack(t, &smi.Metrics{Energy: smi.Some(smi.Joules(math.NaN()))})},
		{"infinite", "metrics", pack(t, &smi.Metrics{Energy: smi.Some(smi.Joules(math.Inf(1)))})},
		{"negative memory", "metrics", pack(t, map[string]any{"vr": map[string]any{"u": "x"}})},
		{"the year 30000", "metrics", pack(t, &smi.Metrics{Time: time.Unix(900000000000, 0)})},
		{"card with figures and failure", "snapshot", snapshot(func(s *smi.Snapshot) { s.Devices[0].MetricsErr = &smi.Failure{Code: 1} })},
		{"card with neither", "snapshot", snapshot(func(s *smi.Snapshot) { s.Devices[0].Info = nil })},
		{"card out of order", "snapshot", snapshot(func(s *smi.Snapshot) { s.Devices[0].Device.Index = 1 })},
		{"histogram of nonsense", "calls", pack(t, []callTotal{{Op: "x", Hist: []byte{1, 2, 3}}})},
	} {
		if v, err := decoders[c.decoder](c.b); !errors.Is(err, smi.ErrBadData) {
			t.Errorf("%s: %+v, %v", c.name, v, err)
		}
	}
}

// A newer worker may say more.
func TestUnknownFields(t *testing.T) {
	b := pack(t, map[string]any{
		"i": 0, "n": "card", "as": map[string]any{"cu": 4, "zz": []any{1, "x", map[string]any{"y": nil}}}, "future": map[string]any{"a": []int{1, 2}},
	})
	i, err := decodeInfo(b, 0)
	if err != nil || i.Name != "card" || i.ASIC.ComputeUnits.Or(0) != 4 {
		t.Errorf("%+v, %v", i, err)
	}
}

// The wire form is compact, even with 8 cards and 64 remote clients on each.
func TestSize(t *testing.T) {
	s := &smi.Snapshot{Time: smitest.Then}
	for i := range 8 {
		d := smitest.Cards()[0]
		d.Device.Index, d.Info.Index = i, i
		p := d.Processes[0]
		p.Device = i
		d.Processes = nil
		for j := range 64 {
			p.PID = uint32(1000 + j)
			d.Processes = append(d.Processes, p)
		}
		s.Devices = append(s.Devices, d)
	}
	if n := len(pack(t, s)); n > 96<<10 {
		t.Errorf("%d bytes", n)
	} else {
		t.Logf("%d bytes", n)
	}
}

func FuzzDecode(f *testing.F) {
	names := []string{"devices", "info", "metrics", "processes", "snapshot", "sessions", "calls"}
	all := samples(f)
	for i, n := range names {
		f.Add(byte(i), all[n])
	}
	f.Add(byte(4), []byte{0xdd, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, which byte, b []byte) {
		v, err := decoders[names[int(which)%len(names)]](b)
		if err != nil {
			if !errors.Is(err, smi.ErrBadData) {
				t.Fatalf("error %v", err)
			}
			return
		}
		if _, err := json.Marshal(v); err != nil { // whatever was accepted can be shown
			t.Fatalf("%+v: %v", v, err)
		}
	})
}
