package smiremote

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/rocwire/rocwire/calls/rpcstats"
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
	"slow":      func(b []byte) (any, error) { return decodeSlowCalls(b) },

	"firmware":     func(b []byte) (any, error) { return decodeFirmware(b, 0) },
	"ecc":          func(b []byte) (any, error) { return decodeECC(b, 0) },
	"bad pages":    func(b []byte) (any, error) { return decodeBadPages(b, 0) },
	"xgmi":         func(b []byte) (any, error) { return decodeXGMI(b, 0) },
	"partitions":   func(b []byte) (any, error) { return decodePartitions(b, 0) },
	"topology":     func(b []byte) (any, error) { return decodeTopology(b) },
	"events":       func(b []byte) (any, error) { return decodeEvents(b) },
	"server":       func(b []byte) (any, error) { return decodeServer(b) },
	"subscription": func(b []byte) (any, error) { return decodeSubscription(b) },
}

// readers has those of what comes from a client.
var readers = map[string]func([]byte) (any, error){
	"setting": func(b []byte) (any, error) { return decodeSetting(b) },
	"quota":   func(b []byte) (any, error) { return decodeQuota(b) },
	"fault":   func(b []byte) (any, error) { return decodeFault(b) },
}

func requests(t testing.TB) map[string][]byte {
	return map[string][]byte{
		"setting": pack(t, &smi.Setting{Clock: &smi.ClockRange{Domain: smi.ClockGFX, Max: smi.Some(smi.MHz(1000))}}),
		"quota":   pack(t, &quotaRequest{"12", smi.Quota{Memory: smi.Some(smi.Bytes(1 << 30)), Compute: smi.Some(smi.Ratio(0.5))}}),
		"fault":   pack(t, &smi.Fault{Kind: smi.FaultECC, Count: 3, Temperature: smi.Some(smi.Celsius(99))}),
	}
}

var slowSample = []rpcstats.SlowCall{
	{Session: "3", Client: rpcstats.Caller{Host: "node7", Executable: "/usr/bin/train", PID: 77}, Op: "hipMemcpy", Code: "hipSuccess", Start: smitest.Then,
		Total: 5e6, Queue: 1e6, Network: 3e6, Execution: 1e6},
	{Session: "3", Op: "hipModuleLaunchKernel", Code: "hipSuccess", Start: smitest.Then, Total: 1, Queue: 0, Network: -1, Execution: 1, Kernel: "saxpy"},
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
		"slow":      pack(t, encodeSlowCalls(slowSample)),

		"firmware":     pack(t, smitest.Details(1)[0].Firmware),
		"ecc":          pack(t, smitest.Machine(1, 0)[0].ECC),
		"bad pages":    pack(t, smitest.Details(3)[2].BadPages),
		"xgmi":         pack(t, smitest.Details(3)[0].XGMI),
		"partitions":   pack(t, smitest.Details(1)[0].Partitions),
		"topology":     pack(t, smitest.Topology(3)),
		"events":       pack(t, []smi.Event{{Time: smitest.Then, Device: 1, Kind: smi.EventVMFault, PID: 5, Message: "x"}, smi.Missed(smitest.Then, 3)}),
		"server":       pack(t, &ServerInfo{Version: "1", Start: smitest.Then, Uptime: 5}),
		"subscription": pack(t, 7),
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

// So is what a client sends.
func TestTruncatedRequests(t *testing.T) {
	for name, b := range requests(t) {
		if _, err := readers[name](b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for n := range b {
			if _, err := readers[name](b[:n]); !errors.Is(err, smi.ErrInvalid) {
				t.Fatalf("%s, %d of %d bytes: %v", name, n, len(b), err)
			}
		}
	}
	for name, s := range map[string]*smi.Setting{
		"nothing": {}, "two things": {FanAuto: true, Reset: true}, "negative": {PowerCap: smi.Some(smi.Watts(-1))}, "more than all": {Fan: smi.Some(smi.Ratio(1.5))},
		"backwards": {Clock: &smi.ClockRange{Min: smi.Some(smi.Hertz(2)), Max: smi.Some(smi.Hertz(1))}}, "not a number": {Fan: smi.Some(smi.Ratio(math.NaN()))},
	} {
		if _, err := decodeSetting(pack(t, s)); !errors.Is(err, smi.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, q := range map[string]smi.Quota{"nothing": {}, "more than all": {Compute: smi.Some(smi.Ratio(1.5))}, "not a number": {Compute: smi.Some(smi.Ratio(math.NaN()))}} {
		if _, err := decodeQuota(pack(t, &quotaRequest{Quota: q})); !errors.Is(err, smi.ErrInvalid) {
			t.Errorf("quota of %s: %v", name, err)
		}
	}
	if _, err := decodeFault(pack(t, &smi.Fault{Width: smi.Some(-1)})); !errors.Is(err, smi.ErrInvalid) {
		t.Errorf("a link of -1 lanes: %v", err)
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
		{"ECC and failure", "snapshot", snapshot(func(s *smi.Snapshot) { s.Devices[0].ECC, s.Devices[0].ECCErr = &smi.ECC{}, &smi.Failure{Code: 1} })},
		{"negative age", "metrics", pack(t, &smi.Metrics{Stale: smi.Some(smi.Duration(-1))})},
		{"negative age of processes", "snapshot", snapshot(func(s *smi.Snapshot) { s.Devices[0].ProcessesStale = smi.Some(smi.Duration(-1)) })},
		{"path to itself", "topology", pack(t, &smi.Topology{Paths: []smi.Path{{From: 1, To: 1}}})},
		{"path to nowhere", "topology", pack(t, &smi.Topology{Paths: []smi.Path{{From: 1, To: -1}}})},
		{"event of card -2", "events", pack(t, []smi.Event{{Kind: "x", Device: -2}})},
		{"event of nothing", "events", pack(t, []smi.Event{{}})},
		{"negative parts", "partitions", pack(t, &smi.Partitions{Profiles: []smi.PartitionProfile{{Partitions: -1}}})},
		{"negative engines", "partitions", pack(t, &smi.Partitions{Profiles: []smi.PartitionProfile{{Resources: []smi.PartitionResource{{Count: -1}}}}})},
		{"negative uptime", "server", pack(t, &ServerInfo{Uptime: -1})},
		{"negative time", "slow", pack(t, []slowCall{{Total: -1}})},
		{"negative phase", "slow", pack(t, []slowCall{{Queue: smi.Some(smi.Duration(-1))}})},
		{"call of the year 30000", "slow", pack(t, []slowCall{{Start: time.Unix(900000000000, 0)}})},
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

func FuzzDecode(f *testing.F) {
	names := slices.Sorted(maps.Keys(decoders))
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

func FuzzRequest(f *testing.F) {
	names := slices.Sorted(maps.Keys(readers))
	for i, n := range names {
		f.Add(byte(i), requests(f)[n])
	}
	f.Fuzz(func(t *testing.T, which byte, b []byte) {
		if v, err := readers[names[int(which)%len(names)]](b); err != nil && !errors.Is(err, smi.ErrInvalid) {
			t.Fatalf("%+v, %v", v, err)
		}
	})
}
