package sysfstest

import (
	"fmt"
	"testing"
)

const gib = 1 << 30

// MI300X is a machine of up to 8 MI300X, joined with each other by XGMI, four on each
// processor. As on real ones the DRM numbers are 8 apart, because the driver keeps
// seven for parts of each card: card1, card9, card17, …
func MI300X(tb testing.TB, cards int) *Tree {
	tb.Helper()
	t := New(tb)
	t.Foreign(0)
	t.cpuNode()
	t.cpuNode()
	t.link("io_links", 0, 0, 1, 2, 32, 0, 0, 1)
	t.link("io_links", 1, 0, 0, 2, 32, 0, 0, 1)
	buses := []int{0x05, 0x26, 0x46, 0x65, 0x85, 0xa6, 0xc6, 0xe5}
	for i := range cards {
		socket := i / 4
		c := t.addCard(1+8*i, 128+8*i, fmt.Sprintf("0000:%02x:00.0", buses[i]), 0x74a1, 0, files{
			"unique_id":    fmt.Sprintf("%016x\n", 0x8c2cc938055be370+uint64(i)),
			"product_name": "AMD Instinct MI300X OAM\n", "product_number": "102-G30211-00\n",
			"serial_number": fmt.Sprintf("692251001%03d\n", i), "fru_id": "113-AMDG302110006\n", "manufacturer": "AMD\n",
			"vbios_version":        "113-M3000100-102\n",
			"mem_info_vram_total":  fmt.Sprintf("%d\n", uint64(192*gib)-16<<20),
			"mem_info_vram_used":   fmt.Sprintf("%d\n", (10+i)*gib),
			"mem_info_vram_vendor": "hynix\n", "mem_info_gtt_total": "540000000000\n", "mem_info_gtt_used": "16777216\n",
			"mem_info_vis_vram_total": fmt.Sprintf("%d\n", uint64(192*gib)-16<<20), "mem_info_vis_vram_used": "0\n",
			"gpu_busy_percent": "87\n", "mem_busy_percent": "34\n",
			"gpu_metrics":        string(tableMI300X().U64(24, 15_000_000_000+uint64(i))),
			"current_link_speed": "32.0 GT/s PCIe\n", "current_link_width": "16\n",
			"max_link_speed": "32.0 GT/s PCIe\n", "max_link_width": "16\n", "pcie_replay_count": "0\n",
			"numa_node": fmt.Sprintf("%d\n", socket), "local_cpulist": []string{"0-47,96-143\n", "48-95,144-191\n"}[socket],
			"xgmi_device_id": fmt.Sprintf("%d\n", 0x5ce047393a6b0200+i), "xgmi_physical_id": fmt.Sprintf("%d\n", i), "xgmi_error": "0\n",
			"xgmi_hive_info/xgmi_hive_id":             "6724520450194899968\n",
			"current_compute_partition":               "SPX\n",
			"available_compute_partition":             "SPX, DPX, QPX, CPX\n",
			"current_memory_partition":                "NPS1\n",
			"available_memory_partition":              "NPS1, NPS4\n",
			"pp_dpm_sclk":                             "0: 500Mhz \n1: 1935Mhz *\n2: 2100Mhz \n",
			"pp_dpm_mclk":                             "0: 900Mhz \n1: 1100Mhz \n2: 1200Mhz \n3: 1300Mhz *\n",
			"pp_dpm_socclk":                           "0: 28Mhz \n1: 150Mhz *\n2: 1143Mhz \n",
			"pp_dpm_fclk":                             "0: 1200Mhz \n1: 1800Mhz *\n2: 2000Mhz \n",
			"pp_dpm_vclk":                             "0: 50Mhz *\n1: 1333Mhz \n",
			"pp_dpm_dclk":                             "0: 40Mhz *\n1: 1143Mhz \n",
			"pp_od_clk_voltage":                       "OD_SCLK:\n0:        500Mhz\n1:       2100Mhz\nOD_MCLK:\n0:        900Mhz\n1:       1300Mhz\nOD_RANGE:\nSCLK:     500Mhz       2100Mhz\nMCLK:     900Mhz       1300Mhz\n",
			"hwmon/hwmon" + fmt.Sprint(4+i) + "/name": "amdgpu\n",
		})
		t.writeAll(c.Dir+"/compute_partition_config", files{
			"xcp_config": "SPX\n", "supported_xcp_configs": "SPX, DPX, QPX, CPX\n", "supported_nps_configs": "NPS1\n",
			"xcc/num_inst": "8\n", "xcc/num_shared": "1\n", "dma/num_inst": "16\n", "dma/num_shared": "1\n",
			"dec/num_inst": "4\n", "dec/num_shared": "1\n", "jpeg/num_inst": "32\n", "jpeg/num_shared": "1\n",
		})
		t.writeAll(c.Dir+fmt.Sprintf("/hwmon/hwmon%d", 4+i), files{
			"temp2_input": "47000\n", "temp2_label": "junction\n", "temp2_crit": "100000\n", "temp2_emergency": "105000\n",
			"temp3_input": "41000\n", "temp3_label": "mem\n", "temp3_crit": "95000\n", "temp3_emergency": "100000\n",
			"power1_input": "612000000\n", "power1_label": "PPT\n", "power1_cap": "750000000\n", "power1_cap_max": "750000000\n",
			"power1_cap_min": "0\n", "power1_cap_default": "750000000\n",
			"freq1_input": "1935000000\n", "freq1_label": "sclk\n", "freq2_input": "1300000000\n", "freq2_label": "mclk\n",
		})
		t.firmware(c.Dir, files{
			"smc": "0x00557600", "mec": "0x000000a8", "rlc": "0x00000056", "sdma": "0x00000015", "sos": "0x0036023d",
			"vcn": "0x09117005", "ta_ras": "0x1b36023e", "ta_xgmi": "0x20000013", "rlc_srlc": "0x00000000", "imu": "0x00000000",
		})
		for _, b := range []string{"umc", "sdma", "gfx", "mmhub", "xgmi_wafl", "jpeg", "vcn"} {
			t.Write(c.Dir+"/ras/"+b+"_err_count", "ue: 0\nce: 0\nde: 0\n")
		}
		t.writeAll(c.Dir+"/ras", files{
			"umc_err_count": fmt.Sprintf("ue: 0\nce: %d\nde: 1\n", i), "features": "feature mask: 0x1009f\n", "schema": "schema: 0xf\n",
			"version": "table version: 0x30000\n", "gpu_vram_bad_pages": "0x00012345 : 0x00001000 : R\n0x00012346 : 0x00001000 : P\n",
		})
		t.gpuNode(c, uint64(40000+1111*i), "simd_count 1216\nsimd_per_cu 4\nmem_banks_count 1\ngfx_target_version 90402\n"+
			"max_engine_clk_fcompute 2100\nnum_xcc 8\ncaches_count 3\n")
		t.bank(c.Node, 1, uint64(192*gib), 8192, 1300)
		t.cache(c.Node, 0, 1, 32, 0b1001, 1)
		t.cache(c.Node, 1, 1, 64, 0b1010, 2)
		t.cache(c.Node, 2, 2, 4096, 0b1001, 38)
		t.cache(c.Node, 3, 2, 4096, 0b1001, 38)
		t.link("io_links", c.Node, 0, socket, 2, 20, 0, 64000, 1)
	}
	for i := range t.Cards {
		n := 1
		for j := range t.Cards {
			if i != j {
				t.link("io_links", t.Cards[i].Node, n, t.Cards[j].Node, 11, 15, 64000, 64000, 1)
				n++
			}
		}
	}
	for p := 2; p < 9 && cards > 0; p++ {
		t.part(p)
	}
	return t
}

func (t *Tree) firmware(dir string, versions files) {
	for name, v := range versions {
		t.Write(dir+"/fw_version/"+name+"_fw_version", v+"\n")
	}
}

// MI210 is a machine of MI210 on PCI Express, as an older kernel shows it: peers
// reach each other through the processor, and there is no hwmon power1_input.
func MI210(tb testing.TB, cards int) *Tree {
	tb.Helper()
	t := New(tb)
	t.cpuNode()
	for i := range cards {
		hw := fmt.Sprintf("hwmon/hwmon%d/", 2+i)
		c := t.addCard(i, 128+i, fmt.Sprintf("0000:%02x:00.0", 0x21+0x20*i), 0x740f, 2, files{
			"unique_id": fmt.Sprintf("%016x\n", 0x2d9ab60fa6a1c230+uint64(i)), "product_name": "Instinct MI210\n",
			"product_number": "D67301V\n", "serial_number": fmt.Sprintf("PCB0345%d\n", i), "vbios_version": "113-D67301V-073\n",
			"mem_info_vram_total": fmt.Sprintf("%d\n", uint64(64*gib)-16<<20), "mem_info_vram_used": "10944512\n", "mem_info_vram_vendor": "samsung\n",
			"mem_info_gtt_total": "270000000000\n", "mem_info_gtt_used": "12058624\n",
			"gpu_busy_percent": "0\n", "mem_busy_percent": "0\n", "gpu_metrics": string(tableV1_3(33, 36, 31, 42, 12, 4).U16(88, 31, 32, 30, 31)),
			"current_link_speed": "16.0 GT/s PCIe\n", "current_link_width": "16\n", "max_link_speed": "16.0 GT/s PCIe\n", "max_link_width": "16\n",
			"pcie_replay_count": "6\n", "numa_node": "-1\n", "local_cpulist": "0-127\n",
			"pp_dpm_sclk": "S: 132Mhz \n0: 500Mhz \n1: 1700Mhz *\n", "pp_dpm_mclk": "0: 400Mhz \n1: 700Mhz \n2: 1200Mhz \n3: 1600Mhz *\n",
			"pcie_bw":   "12 34 256\n",
			hw + "name": "amdgpu\n", hw + "temp1_input": "33000\n", hw + "temp1_label": "edge\n", hw + "temp1_crit": "100000\n", hw + "temp1_emergency": "105000\n",
			hw + "power1_average": "42000000\n", hw + "power1_cap": "300000000\n", hw + "power1_cap_max": "300000000\n", hw + "power1_cap_min": "100000000\n",
			"ras/umc_err_count": "ue: 0\nce: 3\n", "ras/features": "feature mask: 0x7fff\n",
			"ras/gpu_vram_bad_pages": "\n",
		})
		t.firmware(c.Dir, files{"smc": "0x00445b00", "mec": "0x00000045"})
		t.gpuNode(c, uint64(51000+i), "simd_count 416\nsimd_per_cu 4\ngfx_target_version 90010\nmax_engine_clk_fcompute 1700\nnum_xcc 1\n")
		t.bank(c.Node, 2, uint64(64*gib), 4096, 1600)
		t.link("io_links", c.Node, 0, 0, 2, 20, 0, 32000, 1)
	}
	for i := range t.Cards {
		n := 0
		for j := range t.Cards {
			if i != j {
				t.link("p2p_links", t.Cards[i].Node, n, t.Cards[j].Node, 2, 40, 0, 32000, 1|1<<1|1<<2|1<<3)
				n++
			}
		}
	}
	return t
}

// RX7900XTX is a desktop with one such card: a fan, no errors counted, no name of its
// own.
func RX7900XTX(tb testing.TB) *Tree {
	tb.Helper()
	t := New(tb)
	t.cpuNode()
	c := t.addCard(0, 128, "0000:03:00.0", 0x744c, 0xc8, files{
		"unique_id":           "5a3b2c1d0e9f8a7b\n",
		"vbios_version":       "113-31XTXHB-O16\n",
		"mem_info_vram_total": "25753026560\n", "mem_info_vram_used": "1342177280\n", "mem_info_vram_vendor": "samsung\n",
		"mem_info_gtt_total": "33489829888\n", "mem_info_gtt_used": "104857600\n",
		"gpu_busy_percent": "15\n", "mem_busy_percent": "8\n", "gpu_metrics": string(tableV1_3(45, 58, 62, 71, 15, 8).U16(72, 740)),
		"current_link_speed": "16.0 GT/s PCIe\n", "current_link_width": "16\n", "max_link_speed": "16.0 GT/s PCIe\n", "max_link_width": "16\n",
		"pcie_replay_count": "0\n", "numa_node": "-1\n", "local_cpulist": "0-15\n",
		"pp_dpm_sclk": "0: 500Mhz \n1: 1650Mhz *\n2: 2526Mhz \n", "pp_dpm_mclk": "0: 96Mhz \n1: 456Mhz \n2: 772Mhz \n3: 1600Mhz *\n",
		"pp_dpm_dcefclk": "0: 417Mhz *\n1: 1200Mhz \n",
		"pp_dpm_pcie":    "0: 2.5GT/s, x8 310Mhz \n1: 16.0GT/s, x16 619Mhz *\n",
	})
	t.writeAll(c.Dir+"/hwmon/hwmon1", files{
		"name": "amdgpu\n", "in0_input": "812\n", "in0_label": "vddgfx\n",
		"fan1_input": "740\n", "fan1_min": "0\n", "fan1_max": "3300\n", "fan1_enable": "0\n", "pwm1": "58\n", "pwm1_enable": "2\n",
		"pwm1_min": "0\n", "pwm1_max": "255\n",
		"temp1_input": "45000\n", "temp1_label": "edge\n", "temp1_crit": "100000\n", "temp1_emergency": "105000\n",
		"temp2_input": "58000\n", "temp2_label": "junction\n", "temp2_crit": "110000\n", "temp2_emergency": "115000\n",
		"temp3_input": "62000\n", "temp3_label": "mem\n", "temp3_crit": "108000\n", "temp3_emergency": "113000\n",
		"power1_average": "71000000\n", "power1_label": "PPT\n", "power1_cap": "339000000\n", "power1_cap_default": "339000000\n",
		"power1_cap_max": "389000000\n", "power1_cap_min": "0\n",
		"freq1_input": "1650000000\n", "freq1_label": "sclk\n", "freq2_input": "1600000000\n", "freq2_label": "mclk\n",
	})
	t.gpuNode(c, 19010, "simd_count 192\nsimd_per_cu 2\ngfx_target_version 110000\nmax_engine_clk_fcompute 2526\nnum_xcc 1\n")
	t.bank(c.Node, 1, 25753026560, 384, 1249)
	t.link("io_links", c.Node, 0, 0, 2, 20, 0, 32000, 1)
	return t
}

// APU is a processor with graphics whose table is of version 2.3.
func APU(tb testing.TB) *Tree { return apu(tb, tableV2_3(), 0x1638, 90012, "45000") }

// APU3 is one whose table is of version 3.0.
func APU3(tb testing.TB) *Tree { return apu(tb, tableV3_0(), 0x150e, 110500, "51000") }

func apu(tb testing.TB, table Table, device, target int, temp string) *Tree {
	tb.Helper()
	t := New(tb)
	t.cpuNode()
	c := t.addCard(1, 128, "0000:c4:00.0", device, 0xc1, files{
		"mem_info_vram_total": "536870912\n", "mem_info_vram_used": "412000000\n", "mem_info_vram_vendor": "unknown\n",
		"mem_info_gtt_total": "14680064000\n", "mem_info_gtt_used": "700000000\n",
		"gpu_busy_percent": "23\n", "gpu_metrics": string(table),
		"current_link_speed": "16.0 GT/s PCIe\n", "current_link_width": "16\n", "max_link_speed": "16.0 GT/s PCIe\n", "max_link_width": "16\n",
		"numa_node": "-1\n", "local_cpulist": "0-15\n",
		"pp_dpm_sclk": "0: 400Mhz \n1: 800Mhz *\n2: 2000Mhz \n", "pp_dpm_mclk": "0: 400Mhz \n1: 1000Mhz *\n",
	})
	t.writeAll(c.Dir+"/hwmon/hwmon3", files{
		"name": "amdgpu\n", "in0_input": "906\n", "in0_label": "vddgfx\n", "in1_input": "843\n", "in1_label": "vddnb\n",
		"temp1_input": temp + "\n", "temp1_label": "edge\n", "power1_input": "9120000\n", "power1_label": "PPT\n",
		"freq1_input": "800000000\n", "freq1_label": "sclk\n",
	})
	t.gpuNode(c, 33001, fmt.Sprintf("simd_count 32\nsimd_per_cu 4\ngfx_target_version %d\nmax_engine_clk_fcompute 2000\n", target))
	t.link("io_links", c.Node, 0, 0, 2, 20, 0, 0, 1)
	return t
}
