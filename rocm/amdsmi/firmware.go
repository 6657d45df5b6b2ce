package amdsmi

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rocwire/rocwire/smi"
)

// Firmware implements smi.Source.
func (s *Source) Firmware(ctx context.Context, index int) ([]smi.Firmware, error) {
	return ask(ctx, s, index, askFirmware, (*reader).firmware)
}

// firmwareNames are the values of amdsmi_fw_block_t from 1 on, the same in all ABIs.
var firmwareNames = strings.Fields(`smu cp_ce cp_pfp cp_me cp_mec_jt1 cp_mec_jt2 cp_mec1 cp_mec2 rlc
	sdma0 sdma1 sdma2 sdma3 sdma4 sdma5 sdma6 sdma7 vcn uvd vce isp dmcu_eram dmcu_isr
	rlc_restore_list_gpm_mem rlc_restore_list_srm_mem rlc_restore_list_cntl rlc_v mmsch
	psp_sysdrv psp_sosdrv psp_toc psp_keydb dfc psp_spl drv_cap mc psp_bl cp_pm4 rlc_p
	sec_policy_stage2 reg_access_whitelist imu_dram imu_iram sdma_th0 sdma_th1 cp_mes mes_kiq
	mes_stack mes_thread1 mes_thread1_stack rlx6 rlx6_dram_boot rs64_me rs64_me_p0_data
	rs64_me_p1_data rs64_pfp rs64_pfp_p0_data rs64_pfp_p1_data rs64_mec rs64_mec_p0_data
	rs64_mec_p1_data rs64_mec_p2_data rs64_mec_p3_data pptable psp_soc psp_dbg psp_intf
	rlx6_core1 rlx6_dram_boot_core1 rlcv_lx7 rlc_save_restore_list asd ta_ras ta_xgmi
	rlc_srlg rlc_srls pm dmcu pldm_bundle`)

func (r *reader) firmware() ([]smi.Firmware, error) {
	l, e := &r.l().fwInfo, &r.l().fwInfoFwInfoList
	b := r.get(fnFirmware, l.size)
	if err := r.failure(); err != nil {
		return nil, err
	}
	var list []smi.Firmware
	for i := range b.length(l.numFwInfo, l.fwInfoList.count) {
		f := b.part(l.fwInfoList, i)
		id := f.num(e.fwId).Or(0)
		number := f.counter(e.fwVersion)
		if id == 0 || id > uint64(len(firmwareNames)) || !number.Ok() {
			continue
		}
		name := firmwareNames[id-1]
		list = append(list, smi.Firmware{Name: name, Version: firmwareVersion(name, number.Or(0)), Number: number})
	}
	slices.SortFunc(list, func(a, b smi.Firmware) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(list, func(a, b smi.Firmware) bool { return a.Name == b.Name }), nil
}

// firmwareVersion writes a version as AMD's tools do: a number, or its bytes with
// dots between them, in hexadecimal or in decimal.
func firmwareVersion(name string, v uint64) string {
	format := ""
	switch name {
	case "psp_sosdrv", "ta_ras", "ta_xgmi", "uvd", "vce", "vcn":
		format = "%02X"
	case "pm", "pldm_bundle":
		format = "%02d"
	default:
		return strconv.FormatUint(v, 10)
	}
	var parts []string
	for shift := 56; shift >= 0; shift -= 8 {
		if shift < 32 || v>>shift != 0 {
			parts = append(parts, fmt.Sprintf(format, uint8(v>>shift)))
		}
	}
	return strings.Join(parts, ".")
}
