package amdsmi

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/smi"
)

func TestSet(t *testing.T) {
	eachABI(t, func(t *testing.T, s *stub) {
		src := s.open(t)
		for _, c := range []struct {
			set  smi.Setting
			want []string // what the library was told
		}{
			{smi.Setting{PowerCap: smi.Some(smi.Watts(550.5))}, []string{"amdsmi_set_power_cap 2 0 550500000"}},
			{smi.Setting{PerfLevel: smi.PerfHigh}, []string{"amdsmi_set_gpu_perf_level 2 2 0"}},
			{smi.Setting{Determinism: smi.Some(smi.MHz(1900))}, []string{"amdsmi_set_gpu_perf_determinism_mode 2 1900 0"}},
			{smi.Setting{Fan: smi.Some(smi.Ratio(0.2))}, []string{"amdsmi_set_gpu_fan_speed 2 0 51"}},
			{smi.Setting{FanAuto: true}, []string{"amdsmi_reset_gpu_fan 2 0 0"}},
			{smi.Setting{ComputePartition: "CPX"}, []string{"amdsmi_set_gpu_compute_partition 2 5 0"}},
			{smi.Setting{MemoryPartition: "NPS4"}, []string{"amdsmi_set_gpu_memory_partition 2 4 0"}},
			{smi.Setting{Reset: true}, []string{"amdsmi_reset_gpu 2 0 0"}},
			{smi.Setting{Clock: &smi.ClockRange{Domain: smi.ClockGFX, Max: smi.Some(smi.MHz(1500))}}, []string{"amdsmi_set_gpu_clk_limit 2 1 1500"}},
			{smi.Setting{Clock: &smi.ClockRange{Domain: smi.ClockMem, Min: smi.Some(smi.MHz(900)), Max: smi.Some(smi.MHz(1000))}},
				[]string{"amdsmi_set_gpu_clk_limit 2 40 900", "amdsmi_set_gpu_clk_limit 2 41 1000"}},
			{smi.Setting{Clock: &smi.ClockRange{Domain: smi.ClockGFX, Min: smi.Some(smi.MHz(2200)), Max: smi.Some(smi.MHz(2300))}}, // above what it may run at
				[]string{"amdsmi_set_gpu_clk_limit 2 1 2300", "amdsmi_set_gpu_clk_limit 2 0 2200"}},
		} {
			os.Remove(filepath.Join(s.dir, "log"))
			if err := src.Set(t.Context(), 2, c.set); err != nil {
				t.Errorf("%+v: %v", c.set, err)
			}
			if got := s.log(); !slices.Equal(got, c.want) {
				t.Errorf("%+v: told %q, want %q", c.set, got, c.want)
			}
		}
		for _, c := range []struct {
			set  smi.Setting
			code smi.Code
		}{
			{smi.Setting{PowerCap: smi.Some(smi.Watts(751))}, smi.ErrInvalid},
			{smi.Setting{PowerCap: smi.Some(smi.Watts(0))}, smi.ErrInvalid},
			{smi.Setting{Clock: &smi.ClockRange{Domain: smi.ClockSOC, Max: smi.Some(smi.MHz(1000))}}, smi.ErrNotSupported},
			{smi.Setting{Clock: &smi.ClockRange{Domain: smi.ClockGFX}}, smi.ErrInvalid},
			{smi.Setting{Clock: &smi.ClockRange{Domain: smi.ClockGFX, Min: smi.Some(smi.MHz(2)), Max: smi.Some(smi.MHz(1))}}, smi.ErrInvalid},
		} {
			os.Remove(filepath.Join(s.dir, "log"))
			if err := src.Set(t.Context(), 2, c.set); !errors.Is(err, c.code) {
				t.Errorf("%+v: %v, want %v", c.set, err, c.code)
			}
			if got := s.log(); got[0] != "" {
				t.Errorf("%+v: told %q", c.set, got)
			}
		}
		s.control(t, "fail 2 amdsmi_set_gpu_perf_level 10", "fail 2 amdsmi_set_gpu_memory_partition 55")
		if err := src.Set(t.Context(), 2, smi.Setting{PerfLevel: smi.PerfLow}); !errors.Is(err, smi.ErrNoPermission) || !strings.Contains(err.Error(), "root") {
			t.Error(err)
		}
		if err := src.Set(t.Context(), 2, smi.Setting{MemoryPartition: "NPS1"}); !errors.Is(err, smi.ErrNotSupported) {
			t.Error(err)
		}
	})
}
