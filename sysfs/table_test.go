package sysfs

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/sysfs/sysfstest"
)

// kernelNames are the members of the kernel's structures for the fields.
var kernelNames = map[string]field{
	"temperature_edge": temperatureEdge, "temperature_hotspot": temperatureHotspot, "temperature_mem": temperatureMem,
	"temperature_vrgfx": temperatureVRGFX, "temperature_vrsoc": temperatureVRSOC, "temperature_vrmem": temperatureVRMem,
	"temperature_hbm": temperatureHBM, "temperature_gfx": temperatureGFX, "temperature_soc": temperatureSOC,
	"average_gfx_activity": averageGFXActivity, "average_umc_activity": averageUMCActivity, "average_mm_activity": averageMMActivity,
	"average_vcn_activity": averageMMActivity, "vcn_activity": vcnActivity, "jpeg_activity": jpegActivity,
	"average_socket_power": averageSocketPower, "curr_socket_power": currSocketPower, "energy_accumulator": energyAccumulator,
	"average_gfxclk_frequency": averageGFXClk, "average_socclk_frequency": averageSOCClk, "average_uclk_frequency": averageUClk,
	"average_fclk_frequency": averageFClk, "average_vclk_frequency": averageVClk,
	"current_gfxclk": currentGFXClk, "current_socclk": currentSOCClk, "current_uclk": currentUClk, "current_fclk": currentFClk,
	"current_vclk0": currentVClk0, "current_dclk0": currentDClk0, "current_vclk1": currentVClk1, "current_dclk1": currentDClk1,
	"current_vclk": currentVClk0, "current_dclk": currentDClk0,
	"gfxclk_lock_status": gfxClkLockStatus, "indep_throttle_status": indepThrottleStatus, "current_fan_speed": currentFanSpeed,
	"pcie_link_width": pcieLinkWidth, "pcie_link_speed": pcieLinkSpeed, "pcie_bandwidth_inst": pcieBandwidthInst,
	"pcie_l0_to_recov_count_acc": pcieL0ToRecovery, "pcie_replay_count_acc": pcieReplay, "pcie_replay_rover_count_acc": pcieReplayRollover,
	"pcie_nak_sent_count_acc": pcieNAKSent, "pcie_nak_rcvd_count_acc": pcieNAKReceived,
	"voltage_soc": voltageSOC, "voltage_gfx": voltageGFX, "voltage_mem": voltageMem,
	"average_soc_voltage": voltageSOC, "average_gfx_voltage": voltageGFX,
	"xgmi_link_width": xgmiLinkWidth, "xgmi_link_speed": xgmiLinkSpeed, "xgmi_read_data_acc": xgmiReadData,
	"xgmi_write_data_acc": xgmiWriteData, "xgmi_link_status": xgmiLinkStatus, "mem_max_bandwidth": memMaxBandwidth,
	"accumulation_counter": accumulationCounter, "prochot_residency_acc": prochotResidency, "ppt_residency_acc": pptResidency,
	"socket_thm_residency_acc": socketThermalResidency, "vr_thm_residency_acc": vrThermalResidency, "hbm_thm_residency_acc": hbmThermalResidency,
	"num_partition": numPartition, "gfx_busy_inst": gfxBusyInst, "jpeg_busy": jpegBusy, "vcn_busy": vcnBusy,
	"gfx_below_host_limit_acc": gfxBelowHostLimit, "gfx_below_host_limit_ppt_acc": gfxBelowHostLimitPPT,
	"gfx_below_host_limit_thm_acc": gfxBelowHostLimitThermal, "gfx_low_utilization_acc": gfxLowUtilization,
	"gfx_below_host_limit_total_acc": gfxBelowHostLimitTotal,
}

// sample is a file of testdata, made by gpu_metrics.py there: bytes in hexadecimal, an
// empty line, and the values that C's layout put into them.
func sample(tb testing.TB, path string) (data []byte, values []string) {
	tb.Helper()
	f, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	var digits strings.Builder
	bytes := true
	for sc.Scan() {
		switch line := sc.Text(); {
		case strings.HasPrefix(line, "#"):
		case line == "":
			bytes = false
		case bytes:
			digits.WriteString(line)
		default:
			values = append(values, line)
		}
	}
	data, err = hex.DecodeString(digits.String())
	if err != nil || len(values) == 0 {
		tb.Fatalf("%s: %v, %d values", path, err, len(values))
	}
	return data, values
}

func samples(tb testing.TB) []string {
	tb.Helper()
	list, err := filepath.Glob("testdata/gpu_metrics_v*.txt")
	if err != nil || len(list) != len(layouts) {
		tb.Fatalf("%d samples for %d versions, %v", len(list), len(layouts), err)
	}
	return list
}

// Every field of every version stands where C puts it, and every field that a
// version has is found.
func TestLayouts(t *testing.T) {
	used := map[field]bool{}
	for _, path := range samples(t) {
		data, values := sample(t, path)
		tab, err := parseTable(data)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		found := map[field]bool{}
		for _, line := range values {
			var name string
			var i int
			var want uint64
			if _, err := fmt.Sscan(line, &name, &i, &want); err != nil {
				t.Fatalf("%s: %q", path, line)
			}
			part := 0
			if rest, ok := strings.CutPrefix(name, "xcp_stats."); ok {
				p, member, _ := strings.Cut(rest, ".")
				part, _ = strconv.Atoi(p)
				name = member
			}
			f, ok := kernelNames[name]
			if !ok || f == energyAccumulator && strings.Contains(path, "v1_0") { // of 32 bits: it turns over
				continue
			}
			// Those with current clocks need no averages, except as version 3.0 does.
			found[f], used[f] = true, true
			if strings.HasPrefix(name, "average_") && strings.HasSuffix(name, "_frequency") && !tab.has(f) {
				continue
			}
			if got, ok := tab.part(f, part, i); !ok || got != want {
				t.Errorf("%s: %s[%d] of part %d is %d (%v), want %d", path, name, i, part, got, ok, want)
			}
		}
		for f := none + 1; f < fieldCount; f++ {
			if tab.has(f) && !found[f] {
				t.Errorf("%s: field %d is not in the structure", path, f)
			}
		}
	}
	for name, f := range kernelNames {
		if !used[f] {
			t.Errorf("no version has %s", name)
		}
	}
}

// A table whose size does not fit is refused, whatever its version.
func TestTableSize(t *testing.T) {
	for _, path := range samples(t) {
		data, _ := sample(t, path)
		for _, cut := range []int{0, 1, 3, 4, 5, len(data) / 2, len(data) - 1} {
			if _, err := parseTable(data[:cut]); smi.CodeOf(err) != smi.ErrBadData {
				t.Errorf("%s of %d bytes: %v, want ErrBadData", path, cut, err)
			}
		}
		longer := append(append([]byte(nil), data...), make([]byte, 8)...)
		longer[0] += 8 // the sizes have room in their low byte
		if int(longer[0])|int(longer[1])<<8 != len(longer) {
			t.Fatalf("%s: the size turned over", path)
		}
		if _, err := parseTable(longer); smi.CodeOf(err) != smi.ErrBadData {
			t.Errorf("%s with 8 bytes more: %v, want ErrBadData", path, err)
		}
	}
	for _, v := range [][2]byte{{0, 0}, {1, 10}, {2, 5}, {3, 1}, {4, 0}, {255, 255}} {
		if _, err := parseTable(sysfstest.NewTable(64, v[0], v[1])); smi.CodeOf(err) != smi.ErrNotSupported {
			t.Errorf("version %d.%d: %v, want ErrNotSupported", v[0], v[1], err)
		}
	}
}

// A table of nothing but ones has no figure.
func TestAllOnes(t *testing.T) {
	for _, l := range layouts {
		tab, err := parseTable(sysfstest.NewTable(l.size, l.format, l.content))
		if err != nil {
			t.Errorf("version %d.%d: %v", l.format, l.content, err)
			continue
		}
		if got := figures(tab); got != "" {
			t.Errorf("version %d.%d of ones has figures: %s", l.format, l.content, got)
		}
	}
}
