package sysfs

import (
	"encoding/binary"
	"encoding/json"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/sysfs/sysfstest"
)

// attributeTable is a table of version 1.9 with these attributes, each of its
// description and its values.
func attributeTable(count uint32, parts ...[]byte) []byte {
	b := []byte{0, 0, 1, 9}
	b = binary.LittleEndian.AppendUint32(b, count)
	for _, p := range parts {
		b = append(b, p...)
	}
	binary.LittleEndian.PutUint16(b, uint16(len(b)))
	return b
}

func attribute(id, kind, insts uint64, values ...byte) []byte {
	return append(binary.LittleEndian.AppendUint64(nil, insts|id<<10|kind<<20|2<<24), values...)
}

func TestAttributes(t *testing.T) {
	data := attributeTable(5,
		attribute(0, 2, 1, 55, 0),                      // hot spot, u16
		attribute(999, 4, 2, 1, 2, 3, 4, 5, 6, 7, 8),   // not known: passed over
		attribute(33, 2, 3, 0x6c, 7, 0xff, 0xff, 1, 0), // three clocks, the second not there
		attribute(7, 6, 1, 0, 0, 1, 0, 0, 0, 0, 0),     // energy, u64: 1 J
		attribute(3, 4, 1, 0xf4, 1, 0, 0),              // power, u32
	)
	tab, err := parseTable(data)
	if err != nil {
		t.Fatal(err)
	}
	m := metricsOf(tab)
	equal(t, "hotspot", m.Temperature(smi.SensorHotspot), smi.Some[smi.Celsius](55))
	equal(t, "clocks", m.Clocks, []smi.Clock{
		{Domain: smi.ClockGFX, Index: 0, Current: smi.Some[smi.Hertz](1900e6)}, {Domain: smi.ClockGFX, Index: 2, Current: smi.Some[smi.Hertz](1e6)},
	})
	equal(t, "energy", m.Energy, smi.Some[smi.Joules](1))
	equal(t, "power", m.Power.Socket, smi.Some[smi.Watts](500))
	for name, bad := range map[string][]byte{
		"cut in a value":       attributeTable(1, attribute(0, 2, 1, 55)),
		"cut in a description": attributeTable(1, []byte{1, 2, 3}),
		"more than there are":  attributeTable(3, attribute(0, 2, 1, 55, 0)),
		"very many":            attributeTable(0xffffffff, attribute(0, 2, 1, 55, 0)),
		"unknown type":         attributeTable(1, attribute(0, 9, 1, 55, 0)),
		"without a count":      {6, 0, 1, 9, 0, 0},
	} {
		if _, err := parseTable(bad); smi.CodeOf(err) != smi.ErrBadData {
			t.Errorf("%s: %v, want ErrBadData", name, err)
		}
	}
}

// Whatever a table holds, the figures are ones that a card can have.
func FuzzTable(f *testing.F) {
	for _, path := range samples(f) {
		data, _ := sample(f, path)
		f.Add(data)
	}
	f.Add(attributeTable(2, attribute(0, 2, 1, 55, 0), attribute(41, 2, 4, 1, 0, 2, 0, 3, 0, 4, 0)))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		tab, err := parseTable(data)
		if err != nil {
			return
		}
		m := metricsOf(tab)
		check(t, m)
		if bw, ok := tab.maxBandwidth().Get(); ok && (bw <= 0 || bw > 1e15) {
			t.Errorf("bandwidth %v", bw)
		}
		if len(m.Activity.Engines) > numXCP*(maxXCC+numJPEG1+numVCN)+3*1023 {
			t.Errorf("%d engines", len(m.Activity.Engines))
		}
	})
}

// check refuses figures that no card can have; a NaN is no JSON.
func check(t *testing.T, m *smi.Metrics) {
	t.Helper()
	if _, err := json.Marshal(m); err != nil {
		t.Fatal(err)
	}
	share := func(r smi.Opt[smi.Ratio]) {
		if v, ok := r.Get(); ok && !(v >= 0 && v <= 1) {
			t.Errorf("share %v", v)
		}
	}
	share(m.Activity.GFX)
	share(m.Activity.UMC)
	share(m.Activity.MM)
	for _, e := range m.Activity.Engines {
		share(e.Busy)
	}
	for _, v := range m.Throttle.Violations {
		share(v.Ratio)
	}
	for _, s := range m.Temperatures {
		if v, ok := s.Current.Get(); !ok || !(v >= -50 && v <= 250) {
			t.Errorf("%s at %v", s.Sensor, v)
		}
	}
	seen := map[string]map[int]bool{}
	for _, c := range m.Clocks {
		if seen[c.Domain] == nil {
			seen[c.Domain] = map[int]bool{}
		}
		if seen[c.Domain][c.Index] {
			t.Errorf("clock %s %d twice", c.Domain, c.Index)
		}
		seen[c.Domain][c.Index] = true
		for _, h := range []smi.Opt[smi.Hertz]{c.Current, c.Min, c.Max} {
			if v, ok := h.Get(); ok && !(v == 0 || v >= 1e3 && v <= 100e9) {
				t.Errorf("clock %v", v)
			}
		}
	}
	for _, w := range []smi.Opt[smi.Watts]{m.Power.Socket, m.Power.Average} {
		if v, ok := w.Get(); ok && !(v >= 0 && v <= 10_000) {
			t.Errorf("power %v", v)
		}
	}
	if v, ok := m.PCIe.Width.Get(); ok && !(v > 0 && v <= 64) {
		t.Errorf("%d lanes", v)
	}
}

func FuzzLevels(f *testing.F) {
	f.Add("0: 500Mhz \n1: 1935Mhz *\n2: 2100Mhz \n")
	f.Add("S: 19Mhz *\n0: 500Mhz\n1: 2.5GT/s, x8 310Mhz *\n")
	f.Add("OD_RANGE:\nSCLK:     500Mhz       2100Mhz\nMCLK: 1Mhz 2Mhz\n")
	f.Fuzz(func(t *testing.T, s string) {
		l := parseLevels(s)
		lo, hi := l.bounds()
		if lo.Ok() != hi.Ok() || lo.Or(0) > hi.Or(0) || len(l.levels) > maxLevels {
			t.Errorf("%+v from %v to %v", l, lo, hi)
		}
		if a, b, ok := overdriveRange(s, smi.ClockGFX); ok && !(a >= 0 && a <= b && b <= 100e9) {
			t.Errorf("range %v to %v", a, b)
		}
		linkSpeed(s)
	})
}

func FuzzClient(f *testing.F) {
	tree := sysfstest.RX7900XTX(f)
	tree.Process(3, "x")
	tree.Graphics(3, 4, 0, 77, 4096, 2048, 1e9, 5)
	f.Add(tree.Read("proc/3/fdinfo/4"))
	f.Add("drm-driver:\tamdgpu\ndrm-client-id:\t1\ndrm-pdev:\t0000:03:00.0\ndrm-resident-vram:\t99 MiB\ndrm-engine-enc_1:\t18446744073709551615 ns\n")
	f.Fuzz(func(t *testing.T, s string) {
		c, ok := parseClient(s)
		if ok && !strings.Contains(s, "amdgpu") {
			t.Errorf("%+v of another driver", c)
		}
		for _, m := range []smi.Opt[smi.Bytes]{c.vram, c.gtt, c.cpu} {
			if m.Or(0) >= 1<<56 {
				t.Errorf("%v bytes", m)
			}
		}
		// A client that is joined with itself any number of times does not turn over.
		if c.gfx.Or(0) < 0 || c.media.Or(0) < 0 {
			t.Errorf("times %v and %v", c.gfx, c.media)
		}
	})
}

func FuzzEvent(f *testing.F) {
	for _, s := range []string{"1 2f4:python3", "2 4:1f", "3 a job hang", "5 12345678 -900 @7f00(10) 0->9c40 0:0 1", "c 384 rocm-bench", "9 1 -2 3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e, ok := parseKFDEvent(s)
		if ok != (e.Kind != "") {
			t.Errorf("%q: %+v, %v", s, e, ok)
		}
		if strings.ContainsFunc(e.Message, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			t.Errorf("%q: message %q", s, e.Message)
		}
	})
}

// The parsers of the other text files take anything.
func FuzzText(f *testing.F) {
	f.Add("0x00012345 : 0x00001000 : R\n")
	f.Add("ue: 0\nce: 4\nde: 1\n")
	f.Add("01:05 ->  02:03\n")
	f.Add("74A1,\t00,\tAMD Instinct MI300X\n")
	f.Add("SPX, DPX, QPX, CPX\n")
	f.Add("12 34 256\n")
	f.Add("size 4096\nsibling_map 1,1,0,\n")
	f.Fuzz(func(t *testing.T, s string) {
		for _, p := range parseBadPages(s) {
			if p.Size == 0 || p.State == "" {
				t.Errorf("page %+v", p)
			}
		}
		var b smi.ECCBlock
		parseErrors(s, &b)
		for _, n := range []smi.Opt[uint64]{b.Correctable, b.Uncorrectable, b.Deferred} {
			if v, ok := n.Get(); ok && ones(v) {
				t.Errorf("%d errors", v)
			}
		}
		for _, p := range parsePorts(s) {
			if p.port < 0 || p.port >= 64 || p.peer == "" {
				t.Errorf("port %+v", p)
			}
		}
		for _, n := range names(s) {
			if partitionName(n) != n {
				t.Errorf("partition %q", n)
			}
		}
		if sent, received, ok := parseThroughput(s); ok && (sent < 0 || received < 0 || sent > 1e16 || received > 1e16) {
			t.Errorf("%v sent, %v received", sent, received)
		}
		parseIDs(s)
		keyed(s)
		sharing(s)
		n := &node{props: properties([]byte(s))}
		n.bdf()
		n.target()
	})
}
