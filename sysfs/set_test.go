package sysfs

import (
	"errors"
	"math"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/sysfs/sysfstest"
)

// recorder keeps what is written to the files of a tree, in order, and may refuse.
type recorder struct {
	writes []string
	refuse string
}

// watch makes every write of a source seen. A write ends up in the file too, so that
// later reads see it.
func (r *recorder) watch(s *source) {
	for _, c := range s.cards {
		c.tree.written = func(path, text string) error {
			name := path[strings.LastIndex(path, "/")+1:]
			if name == r.refuse {
				return unix.EINVAL
			}
			r.writes = append(r.writes, name+" "+strings.TrimSpace(text))
			return nil
		}
	}
}

func TestSet(t *testing.T) {
	mi300 := func(tb testing.TB) *sysfstest.Tree { return sysfstest.MI300X(tb, 1) }
	mi210 := func(tb testing.TB) *sysfstest.Tree { return sysfstest.MI210(tb, 1) }
	clock := func(domain string, lo, hi float64) smi.Setting {
		r := &smi.ClockRange{Domain: domain}
		if lo != 0 {
			r.Min = smi.Some(smi.Hertz(lo))
		}
		if hi != 0 {
			r.Max = smi.Some(smi.Hertz(hi))
		}
		return smi.Setting{Clock: r}
	}
	for _, c := range []struct {
		name   string
		tree   func(testing.TB) *sysfstest.Tree
		set    smi.Setting
		writes string
		err    error
	}{
		{"cap", mi300, smi.Setting{PowerCap: smi.Some[smi.Watts](500.5)}, "power1_cap 500500000", nil},
		{"cap too high", mi300, smi.Setting{PowerCap: smi.Some[smi.Watts](751)}, "", smi.ErrInvalid},
		{"cap too low", mi210, smi.Setting{PowerCap: smi.Some[smi.Watts](99)}, "", smi.ErrInvalid},
		{"cap that is no number", mi210, smi.Setting{PowerCap: smi.Some(smi.Watts(math.NaN()))}, "", smi.ErrInvalid},
		{"cap of an APU", sysfstest.APU, smi.Setting{PowerCap: smi.Some[smi.Watts](5)}, "", smi.ErrNotSupported},
		{"level", mi300, smi.Setting{PerfLevel: smi.PerfHigh}, levelFile + " high", nil},
		{"level that is none", mi300, smi.Setting{PerfLevel: "fastest"}, "", smi.ErrInvalid},
		{"range", mi300, clock(smi.ClockGFX, 800e6, 1500e6),
			levelFile + " manual|pp_od_clk_voltage s 0 800|pp_od_clk_voltage s 1 1500|pp_od_clk_voltage c", nil},
		{"upper end", mi300, clock(smi.ClockMem, 0, 1100e6), levelFile + " manual|pp_od_clk_voltage m 1 1100|pp_od_clk_voltage c", nil},
		{"beyond the range", mi300, clock(smi.ClockGFX, 0, 2200e6), "", smi.ErrInvalid},
		{"empty range", mi300, clock(smi.ClockGFX, 900e6, 800e6), "", smi.ErrInvalid},
		{"no range", mi300, clock(smi.ClockGFX, 0, 0), "", smi.ErrInvalid},
		{"levels", mi300, clock(smi.ClockSOC, 100e6, 0), levelFile + " manual|pp_dpm_socclk 1 2", nil},
		{"levels without overdrive", mi210, clock(smi.ClockMem, 500e6, 1300e6), levelFile + " manual|pp_dpm_mclk 1 2", nil},
		{"between levels", mi210, clock(smi.ClockMem, 500e6, 600e6), "", smi.ErrInvalid},
		{"clock that is none", mi300, clock("warp", 1e9, 2e9), "", smi.ErrInvalid},
		{"clock the card has not", mi210, clock(smi.ClockVideo, 1e9, 2e9), "", smi.ErrNotSupported},
		{"determinism", mi300, smi.Setting{Determinism: smi.Some[smi.Hertz](1900e6)},
			levelFile + " perf_determinism|pp_od_clk_voltage s 1 1900|pp_od_clk_voltage c", nil},
		{"determinism beyond the range", mi300, smi.Setting{Determinism: smi.Some[smi.Hertz](3e9)}, "", smi.ErrInvalid},
		{"fan", sysfstest.RX7900XTX, smi.Setting{Fan: smi.Some[smi.Ratio](0.5)}, "pwm1_enable 1|pwm1 128", nil},
		{"fan too fast", sysfstest.RX7900XTX, smi.Setting{Fan: smi.Some[smi.Ratio](1.5)}, "", smi.ErrInvalid},
		{"fan by itself", sysfstest.RX7900XTX, smi.Setting{FanAuto: true}, "pwm1_enable 2", nil},
		{"fan of a card without", mi300, smi.Setting{FanAuto: true}, "", smi.ErrNotSupported},
		{"compute partition", mi300, smi.Setting{ComputePartition: "CPX"}, "current_compute_partition CPX", nil},
		{"compute partition that is none", mi300, smi.Setting{ComputePartition: "TPX"}, "", smi.ErrInvalid},
		{"memory partition", mi300, smi.Setting{MemoryPartition: "NPS4"}, "current_memory_partition NPS4", nil},
		{"partition of a card that has none", mi210, smi.Setting{MemoryPartition: "NPS1"}, "", smi.ErrNotSupported},
		{"reset that debugfs does not offer", mi210, smi.Setting{Reset: true}, "", smi.ErrNotSupported},
		{"nothing", mi300, smi.Setting{}, "", smi.ErrInvalid},
		{"two at once", mi300, smi.Setting{FanAuto: true, Reset: true}, "", smi.ErrInvalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := openTree(t, c.tree(t))
			var r recorder
			r.watch(s)
			err := s.Set(t.Context(), 0, c.set)
			if c.err == nil && err != nil || c.err != nil && !errors.Is(err, c.err) {
				t.Errorf("error %v, want %v", err, c.err)
			}
			if got := strings.Join(r.writes, "|"); got != c.writes {
				t.Errorf("written %q, want %q", got, c.writes)
			}
		})
	}
}

// What is set is what the files hold.
func TestSetReachesTheFile(t *testing.T) {
	tree := sysfstest.MI300X(t, 2)
	s := openTree(t, tree)
	if err := s.Set(t.Context(), 1, smi.Setting{PowerCap: smi.Some[smi.Watts](600)}); err != nil {
		t.Fatal(err)
	}
	equal(t, "cap", metrics(t, s, 1).Power.Cap, smi.Some[smi.Watts](600))
	equal(t, "cap of the other card", metrics(t, s, 0).Power.Cap, smi.Some[smi.Watts](750))
	equal(t, "file", tree.Get(1, "hwmon/hwmon5/power1_cap"), "600000000")
}

// A range that the driver refuses leaves the performance level as it was.
func TestRefusedClock(t *testing.T) {
	s := openTree(t, sysfstest.MI300X(t, 1))
	r := recorder{refuse: overdriveFile}
	r.watch(s)
	err := s.Set(t.Context(), 0, smi.Setting{Clock: &smi.ClockRange{Domain: smi.ClockGFX, Max: smi.Some[smi.Hertz](1e9)}})
	if !errors.Is(err, smi.ErrInvalid) || !strings.Contains(err.Error(), overdriveFile) {
		t.Errorf("refused range: %v", err)
	}
	equal(t, "writes", r.writes, []string{levelFile + " manual", levelFile + " auto"})
}

// The driver resets a card when a file of debugfs is read.
func TestReset(t *testing.T) {
	tree := sysfstest.MI300X(t, 2)
	tree.Write("sys/kernel/debug/dri/9/amdgpu_gpu_recover", "0\n")
	s := openTree(t, tree)
	var read []string
	s.tree.open = func(path string, flags int, mode uint32) (int, error) {
		if strings.Contains(path, "/debug/") {
			read = append(read, strings.TrimPrefix(path, tree.Root))
		}
		return unix.Open(path, flags, mode)
	}
	if err := s.Set(t.Context(), 1, smi.Setting{Reset: true}); err != nil {
		t.Fatal(err)
	}
	equal(t, "read", read, []string{"/sys/kernel/debug/dri/9/amdgpu_gpu_recover"})
}
