package simgpu

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/card"
	"github.com/rocwire/rocwire/smi"
)

// TestIdentity: what is invented says so, is different for each card, and agrees with
// what HIP says.
func TestIdentity(t *testing.T) {
	for arch, p := range products {
		b := newBench(t, arch, MaxCards)
		b.host = readHost(t.TempDir())
		ctx := context.Background()
		ids, uuids := map[uint64]bool{}, map[string]bool{}
		for i := range MaxCards {
			in, err := b.Info(ctx, i)
			if err != nil {
				t.Fatal(err)
			}
			for what, text := range map[string]string{
				"name": in.Name, "product": in.Board.Product, "manufacturer": in.Board.Manufacturer, "model": in.Board.Model, "FRU": in.Board.FRU,
				"VBIOS": in.VBIOS.Name, "VBIOS version": in.VBIOS.Version, "part": in.VBIOS.PartNumber, "vendor": in.ASIC.VendorName, "memory": in.VRAM.Vendor,
			} {
				if !strings.Contains(text, "simulated") {
					t.Errorf("%s: %q does not say that it is simulated", what, text)
				}
			}
			k := in.IDs.KFD.Or(0)
			if k == 0 || k >= 0xffff || ids[k] || uuids[in.IDs.HIPUUID] {
				t.Errorf("card %d: %+v", i, in.IDs)
			}
			ids[k], uuids[in.IDs.HIPUUID] = true, true
			props := p.properties(i, 1<<30)
			if uuid := "GPU-" + string(props.Uuid.Bytes[:]); uuid != in.IDs.HIPUUID || uint8(props.PciBusID) != in.BDF.Or(smi.BDF{}).Bus {
				t.Errorf("HIP says %s, bus %d; SMI %+v", uuid, props.PciBusID, in.IDs)
			}
			if int32(in.ASIC.ComputeUnits.Or(0)) != p.computeUnits || p.multiprocessors() != props.MultiProcessorCount || in.ASIC.GFXVersion != arch {
				t.Errorf("%+v", in.ASIC)
			}
			if in.NUMA != (smi.NUMA{}) {
				t.Errorf("a machine without nodes: %+v", in.NUMA)
			}
		}
		in, _ := b.Info(ctx, 0)
		for _, c := range in.Caches {
			if c.Level == 2 && int32(c.Size.Or(0)) != p.l2 {
				t.Errorf("%s: L2 of %d bytes, HIP says %d", arch, c.Size.Or(0), p.l2)
			}
		}
		in.Caches[0].Level = 99
		if again, _ := b.Info(ctx, 0); again.Caches[0].Level == 99 {
			t.Error("scribbling over the caches reached the source")
		}
		fw, err := b.Firmware(ctx, 0)
		if err != nil || !slices.IsSortedFunc(fw, func(a, b smi.Firmware) int { return strings.Compare(a.Name, b.Name) }) {
			t.Errorf("firmware %+v, %v", fw, err)
		}
		parts, err := b.Partitions(ctx, 0)
		if (p.chip.profiles != nil) != (err == nil) || err != nil && !errors.Is(err, smi.ErrNotSupported) {
			t.Errorf("%s: partitions %+v, %v", arch, parts, err)
		}
	}
}

func TestHost(t *testing.T) {
	dir := t.TempDir()
	for name, cpus := range map[string]string{"node0": "0-3,8-11\n", "node2": "4-7\n", "node3": "\n", "node99": "5\n"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "cpulist"), []byte(cpus), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	h := readHost(dir)
	want := []smi.NUMA{{Node: smi.Some(0), CPUs: "0-3,8-11"}, {Node: smi.Some(2), CPUs: "4-7"}}
	if !slices.Equal(h.nodes, want) { // node 3 has memory only
		t.Fatalf("%+v", h.nodes)
	}
	for i, n := range []int{0, 0, 2, 2} {
		if got := h.numa(i, 4).Node.Or(-1); got != n {
			t.Errorf("card %d is at node %d, want %d", i, got, n)
		}
	}
}

// TestHive: cards of a hive are linked each with each, others over PCIe.
func TestHive(t *testing.T) {
	b := newBench(t, "gfx90a", 6) // hives of four
	ctx := context.Background()
	top, err := b.Topology(ctx)
	if err != nil || len(top.Paths) != 30 {
		t.Fatalf("%d paths, %v", len(top.Paths), err)
	}
	for _, p := range top.Paths {
		back := top.Path(p.To, p.From)
		linked := p.From/4 == p.To/4
		if (p.Type == smi.LinkXGMI) != linked || (p.Weight.Or(0) == weightXGMI) != linked || back == nil || back.Type != p.Type || !p.Access.Or(false) {
			t.Errorf("%+v", p)
		}
	}
	hives := map[uint64]int{}
	for i := range 6 {
		b.read[i].FromPeer = [card.MaxCards]uint64{}
		for j := range 6 {
			b.read[i].FromPeer[j] = uint64(100*i + j)
		}
	}
	b.run(sampleEvery, 0, 0)
	for i := range 6 {
		x, err := b.XGMI(ctx, i)
		if err != nil {
			t.Fatal(err)
		}
		hives[x.Hive.Or(0)]++
		if want := map[bool]int{true: 3, false: 1}[i < 4]; len(x.Links) != want {
			t.Errorf("card %d has %d links", i, len(x.Links))
		}
		for _, l := range x.Links {
			j := int(l.Peer.Or(smi.BDF{}).Bus) - int(busID(0))
			if l.Read.Or(0) != smi.Bytes(100*i+j) || l.Written.Or(0) != smi.Bytes(100*j+i) || l.State != smi.LinkUp || l.MaxBandwidth.Or(0) != 400e9 {
				t.Errorf("card %d: %+v", i, l)
			}
		}
	}
	if len(hives) != 2 || hives[0] != 0 {
		t.Errorf("hives %v", hives)
	}
	alone := newBench(t, "gfx942", 1)
	if x, err := alone.XGMI(ctx, 0); err != nil || len(x.Links) != 0 || x.Hive.Ok() {
		t.Errorf("a single card: %+v, %v", x, err)
	}
}

// TestPeerCopiesCount: copies between two cards show on the link between them.
func TestPeerCopiesCount(t *testing.T) {
	r := newRuntime(t, Options{Cards: 3})
	s := newTestSource(t, r)
	a := allocate(t, r, 1<<20)
	p, e := r.Malloc(hip.Thread{ID: 1, Device: 2}, 1<<20)
	must(t, "Malloc", e)
	must(t, "MemcpyPeer", r.MemcpyPeer(thread, p, 2, a, 0, 5000))
	must(t, "DeviceSynchronize", r.DeviceSynchronize(thread))
	x, err := s.XGMI(context.Background(), 2)
	if err != nil || x.Links[0].Read.Or(0) != 5000 || x.Links[0].Written.Or(1) != 0 || x.Links[1].Read.Or(1) != 0 {
		t.Errorf("%+v, %v", x, err)
	}
}

// TestEngines: a narrow kernel keeps few dies busy, a wide one all.
func TestEngines(t *testing.T) {
	b := newBench(t, "gfx942", 1)
	for units, want := range map[uint64]int{1: 1, 3: 3, 304: 8} {
		for range 20 {
			b.now = b.now.Add(sampleEvery)
			b.read[0].Busy += uint64(sampleEvery) / 2
			b.read[0].UnitTime += uint64(sampleEvery) / 2 * units
			b.metrics(0)
		}
		busy := 0
		for _, e := range b.metrics(0).Activity.Engines {
			switch v := float64(e.Busy.Or(-1)); {
			case v > 0.499 && v < 0.501:
				busy++
			case v != 0:
				t.Errorf("%d units: engine %d is busy %v", units, e.Index, v)
			}
		}
		if busy != want {
			t.Errorf("%d units keep %d dies busy, want %d", units, busy, want)
		}
	}
}
