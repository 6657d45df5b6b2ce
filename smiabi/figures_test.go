package smiabi

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
)

// A C program that knows AMD SMI's header alone, linked with a shared object over
// smitest's machine, gets its figures.
func TestFiguresFromC(t *testing.T) {
	dir := t.TempDir()
	library, program := filepath.Join(dir, "libamd_smi.so.27"), filepath.Join(dir, "figures")
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		return string(out)
	}
	flags := fmt.Sprintf("'-Wl,--version-script=%s/zz_libamd_smi.map' -Wl,-soname,libamd_smi.so.27 -Wl,-z,now", here)
	run("go", "build", "-buildmode=c-shared", "-ldflags", fmt.Sprintf("-s -w -extldflags \"%s\"", flags), "-o", library, "./testdata/machine")
	run("gcc", "-Wall", "-Werror", "-Iinclude", "testdata/figures.c", library, "-Wl,-rpath,"+dir, "-o", program)
	got := map[string]string{}
	for l := range strings.Lines(run(program)) {
		l = strings.TrimSpace(l)
		i := strings.LastIndexByte(l, ' ')
		got[l[:i]] = l[i+1:]
	}

	src := smitest.NewMachine(8, 4)
	m, err := src.Metrics(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	ps, err := src.Processes(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	p := &ps[3]
	whole := func(f float64) float64 { return math.Round(f) }
	temp := func(sensor string) float64 { return whole(float64(m.Temperature(sensor).Or(0))) }
	want := map[string]any{
		"before init": 32, "cards": 8,
		"gfx": whole(100 * float64(m.Activity.GFX.Or(0))), "umc": whole(100 * float64(m.Activity.UMC.Or(0))),
		"mem clock": 1300, "mem clock min": 900, "mem clock max": 1300, "mem clock locked": 255,
		"mem levels": 2, "mem level": 1, "mem frequency": 1300000000,
		"hot spot": temp(smi.SensorHotspot), "vram limit": 105, "edge": 2,
		"power": whole(float64(m.Power.Socket.Or(0))), "average power": whole(float64(m.Power.Average.Or(0))),
		"gfx voltage": whole(1000 * float64(m.Voltages.GFX.Or(0))), "power limit": 750000000, "cap": 750000000, "cap max": 750000000,
		"vram total": uint64(m.VRAM.Total.Or(0)), "vram used": uint64(m.VRAM.Used.Or(0)),
		"m.hot spot": temp(smi.SensorHotspot), "m.power": whole(float64(m.Power.Socket.Or(0))),
		"m.gfx clock of die 7": whole(float64(m.Clocks[7].Current.Or(0)) / 1e6), "m.replays": m.PCIe.Replays.Or(99), "m.parts": 1,
		"m.gfx of die 7": whole(100 * float64(m.Activity.Engines[7].Busy.Or(0))), "m.gfx of another part": uint32(math.MaxUint32),
		"m.hbm stack 7": temp("hbm7"), "m.bandwidth": 5300, "m.xgmi link 7": math.MaxUint16, "m.apu": 0,
		"v.hbm": whole(float64(m.Throttle.Violations[4].Total.Or(0)) / 1e6), "v.hbm now": 0, "v.die": 255,
		"pcie width": 16, "pcie slot": 1, "pcie speed": 32000, "pcie naks": m.PCIe.NAKsReceived.Or(99),
		"umc errors": 3, "bad pages": 1, "bad page": 0x1f_4000_0000,
		"processes": 4, "pid": p.PID, "name": p.Name, "memory": uint64(p.VRAM.Or(0)), "container": "worker", "units": p.CUOccupancy.Or(-1),
		"sdma":              whole(float64(p.SDMA.Or(0)) / float64(time.Microsecond)),
		"compute partition": "SPX", "profiles": 4, "parts of profile 3": 8, "memory of profile 3": 5, "resource 13 shared by": 2,
		"link": 2, "hops": 1, "weight": 15, "near": 7, "nearest": 1, "links": 7, "peer": 0x38, "link rate": 32,
		"cap too high": 1, "no event": 40, "no pointer": 1, "no handle": 1, "a strange handle": 31, "not supported": 2, "after shutdown": 32,
	}
	energy := got["energy"]
	delete(got, "energy")
	if want := fmt.Sprintf("%.4f", m.Energy.Or(0)); !strings.HasPrefix(energy, want[:len(want)-4]) {
		t.Errorf("energy: %s J, want %s", energy, want)
	}
	for k, w := range want {
		if got[k] != fmt.Sprintf("%v", w) && got[k] != fmt.Sprintf("%.0f", w) {
			t.Errorf("%s: got %q, want %v", k, got[k], w)
		}
		delete(got, k)
	}
	for k, v := range got {
		t.Errorf("%s: got %q, which nobody expects", k, v)
	}
}
