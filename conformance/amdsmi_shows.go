package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocwire/rocwire/smi"
)

// show is a command of amd-smi that shows something; check compares its JSON.
type show struct {
	name  string // "" is the view without a command
	check func(c *comparison, v any)
}

var shows = []show{
	{"list", checkList}, {"static", checkStatic}, {"metric", checkMetric}, {"process", checkProcess}, {"monitor", checkMonitor},
	{"topology", checkTopology}, {"firmware", checkFirmware}, {"bad-pages", checkBadPages}, {"partition", checkPartition}, {"xgmi", checkXGMI},
	{"", checkDefault},
}

const half = 0.5

func checkList(c *comparison, v any) {
	c.cards(v, func(i int, info *smi.Info, gpu any) {
		c.text("bdf", at(gpu, "bdf"), info.BDF.String())
		c.text("uuid", at(gpu, "uuid"), info.UUID)
		c.figure("kfd id", at(gpu, "kfd_id"), 0, float64(info.IDs.KFD.Or(0)))
		c.figure("node", at(gpu, "node_id"), 0, float64(info.IDs.KFDNode.Or(0)))
	})
}

func checkStatic(c *comparison, v any) {
	c.cards(at(v, "gpu_data"), func(i int, info *smi.Info, gpu any) {
		m := &c.before.metrics[i]
		c.text("name", at(gpu, "asic", "market_name"), info.Name)
		c.text("device", at(gpu, "asic", "device_id"), fmt.Sprintf("0x%04x", info.ASIC.DeviceID.Or(0)))
		c.text("serial", at(gpu, "asic", "asic_serial"), "0x"+info.ASIC.Serial)
		c.figure("compute units", at(gpu, "asic", "num_compute_units"), 0, float64(info.ASIC.ComputeUnits.Or(0)))
		c.text("target", at(gpu, "asic", "target_graphics_version"), info.ASIC.GFXVersion)
		c.text("bdf", at(gpu, "bus", "bdf"), info.BDF.String())
		c.figure("lanes", at(gpu, "bus", "max_pcie_width"), 0, float64(info.PCIe.MaxWidth.Or(0)))
		c.figure("lane rate", at(gpu, "bus", "max_pcie_speed"), 0, float64(info.PCIe.MaxSpeed.Or(0))/1e9)
		c.figure("power cap", at(gpu, "limit", "ppt0", "socket_power_limit"), 0, float64(m.Power.Cap.Or(0)))
		c.figure("highest power cap", at(gpu, "limit", "ppt0", "max_power_limit"), 0, float64(m.Power.MaxCap.Or(0)))
		c.text("driver", at(gpu, "driver", "name"), info.Driver.Name)
		c.text("product", at(gpu, "board", "product_name"), info.Board.Product)
		c.text("memory", at(gpu, "vram", "type"), info.VRAM.Type)
		c.figure("memory size", at(gpu, "vram", "size"), 0, float64(info.VRAM.Size.Or(0)>>20))
		c.figure("memory width", at(gpu, "vram", "bit_width"), 0, float64(info.VRAM.BitWidth.Or(0)))
		c.figure("bad pages allowed", at(gpu, "ras", "bad_page_threshold"), 0, float64(c.before.ecc[i].BadPageLimit.Or(0)))
		c.figure("numa node", at(gpu, "numa", "node"), 0, float64(info.NUMA.Node.Or(-1)))
		for _, t := range m.Temperatures {
			name := map[string]string{smi.SensorEdge: "edge", smi.SensorHotspot: "hotspot", smi.SensorMem: "vram"}[t.Sensor]
			if name == "" {
				continue
			}
			c.figure(name+" limit", at(gpu, "limit", "slowdown_"+name+"_temperature"), half, float64(t.Limit.Or(0)))
			c.figure(name+" shutdown", at(gpu, "limit", "shutdown_"+name+"_temperature"), half, float64(t.Shutdown.Or(0)))
		}
	})
}

func mhz(domain string) func(*smi.Metrics) float64 {
	return func(m *smi.Metrics) float64 { return float64(m.Clock(domain).Or(0)) / 1e6 }
}

func celsius(sensor string) func(*smi.Metrics) float64 {
	return func(m *smi.Metrics) float64 { return float64(m.Temperature(sensor).Or(0)) }
}

func checkMetric(c *comparison, v any) {
	c.cards(at(v, "gpu_data"), func(i int, info *smi.Info, gpu any) {
		c.measured(i, "gfx", at(gpu, "usage", "gfx_activity"), half, func(m *smi.Metrics) float64 { return 100 * float64(m.Activity.GFX.Or(0)) })
		c.measured(i, "umc", at(gpu, "usage", "umc_activity"), half, func(m *smi.Metrics) float64 { return 100 * float64(m.Activity.UMC.Or(0)) })
		c.measured(i, "power", at(gpu, "power", "socket_power"), half, func(m *smi.Metrics) float64 { return float64(m.Power.Draw().Or(0)) })
		c.measured(i, "gfx voltage", at(gpu, "power", "gfx_voltage"), half, func(m *smi.Metrics) float64 { return 1000 * float64(m.Voltages.GFX.Or(0)) })
		c.measured(i, "gfx clock", at(gpu, "clock", "gfx_0", "clk"), half, mhz(smi.ClockGFX))
		c.measured(i, "mem clock", at(gpu, "clock", "mem_0", "clk"), half, mhz(smi.ClockMem))
		c.measured(i, "soc clock", at(gpu, "clock", "socclk_0", "clk"), half, mhz(smi.ClockSOC))
		c.measured(i, "fabric clock", at(gpu, "clock", "fclk_0", "clk"), half, mhz(smi.ClockDF))
		for _, k := range c.before.metrics[i].Clocks {
			if k.Domain == smi.ClockGFX && k.Index == 0 {
				c.figure("lowest gfx clock", at(gpu, "clock", "gfx_0", "min_clk"), half, float64(k.Min.Or(0))/1e6)
				c.figure("highest gfx clock", at(gpu, "clock", "gfx_0", "max_clk"), half, float64(k.Max.Or(0))/1e6)
			}
		}
		c.measured(i, "edge", at(gpu, "temperature", "edge"), half, celsius(smi.SensorEdge))
		c.measured(i, "hot spot", at(gpu, "temperature", "hotspot"), half, celsius(smi.SensorHotspot))
		c.measured(i, "memory temperature", at(gpu, "temperature", "mem"), half, celsius(smi.SensorMem))
		c.measured(i, "energy", at(gpu, "energy", "total_energy_consumption"), 0.001, func(m *smi.Metrics) float64 { return float64(m.Energy.Or(0)) })
		c.measured(i, "vram", at(gpu, "mem_usage", "total_vram"), 1, func(m *smi.Metrics) float64 { return float64(m.VRAM.Total.Or(0)) / (1 << 20) })
		c.measured(i, "vram used", at(gpu, "mem_usage", "used_vram"), 1, func(m *smi.Metrics) float64 { return float64(m.VRAM.Used.Or(0)) / (1 << 20) })
		c.measured(i, "gtt", at(gpu, "mem_usage", "total_gtt"), 1, func(m *smi.Metrics) float64 { return float64(m.GTT.Total.Or(0)) / (1 << 20) })
		c.measured(i, "lanes", at(gpu, "pcie", "width"), 0, func(m *smi.Metrics) float64 { return float64(m.PCIe.Width.Or(0)) })
		c.measured(i, "lane rate", at(gpu, "pcie", "speed"), 0.1, func(m *smi.Metrics) float64 { return float64(m.PCIe.Speed.Or(0)) / 1e9 })
		c.measured(i, "replays", at(gpu, "pcie", "replay_count"), 0, func(m *smi.Metrics) float64 { return float64(m.PCIe.Replays.Or(0)) })
		e := &c.before.ecc[i]
		c.figure("correctable errors", at(gpu, "ecc", "total_correctable_count"), 0, float64(e.Correctable.Or(0)))
		c.figure("uncorrectable errors", at(gpu, "ecc", "total_uncorrectable_count"), 0, float64(e.Uncorrectable.Or(0)))
		for _, b := range e.Blocks {
			if b.Block == "umc" {
				c.figure("errors of memory", at(gpu, "ecc_blocks", "UMC", "correctable_count"), 0, float64(b.Correctable.Or(0)))
			}
		}
		c.text("performance level", at(gpu, "perf_level"), "AMDSMI_DEV_PERF_LEVEL_"+c.before.metrics[i].PerfLevel)
	})
}

// processesOf compares a card's processes: where amd-smi shows the pid and the memory of
// a row is what pid and memory say.
func (c *comparison) processesOf(card int, rows any, pid, memory []any) {
	l, _ := rows.([]any)
	shown := map[uint32]any{}
	for _, r := range l {
		if n, ok := at(r, pid...).(float64); ok {
			shown[uint32(n)] = r
		}
	}
	n := 0
	for _, p := range c.before.processes {
		if p.Device != card {
			continue
		}
		n++
		r := shown[p.PID]
		if r == nil {
			c.say("GPU %d: process %d is missing", card, p.PID)
			continue
		}
		c.figure(fmt.Sprintf("memory of process %d", p.PID), at(r, memory...), 0, float64(p.VRAM.Or(0)))
	}
	if n != len(shown) {
		c.say("GPU %d: %d processes, smi-remote shows %d", card, len(shown), n)
	}
}

func checkProcess(c *comparison, v any) {
	c.cards(v, func(i int, info *smi.Info, gpu any) {
		c.processesOf(i, at(gpu, "process_list"), []any{"process_info", "pid"}, []any{"process_info", "memory_usage", "vram_mem"})
	})
	if !slices.ContainsFunc(c.before.processes, func(p smi.Process) bool { return p.Device == 0 && p.VRAM.Or(0) >= held }) {
		c.say("the process that holds memory of GPU 0 is not there")
	}
}

func checkMonitor(c *comparison, v any) {
	c.cards(v, func(i int, info *smi.Info, gpu any) {
		c.measured(i, "power", at(gpu, "power_usage"), half, func(m *smi.Metrics) float64 { return float64(m.Power.Draw().Or(0)) })
		c.measured(i, "hot spot", at(gpu, "hotspot_temperature"), half, celsius(smi.SensorHotspot))
		c.measured(i, "gfx clock", at(gpu, "gfx_clk"), half, mhz(smi.ClockGFX))
		c.measured(i, "gfx", at(gpu, "gfx"), half, func(m *smi.Metrics) float64 { return 100 * float64(m.Activity.GFX.Or(0)) })
		c.measured(i, "vram", at(gpu, "vram_total"), 0.051, func(m *smi.Metrics) float64 { return float64(m.VRAM.Total.Or(0)) / (1 << 30) })
		c.measured(i, "vram used", at(gpu, "vram_used"), 0.051, func(m *smi.Metrics) float64 { return float64(m.VRAM.Used.Or(0)) / (1 << 30) })
	})
}

func checkTopology(c *comparison, v any) {
	t := smi.Topology{Paths: c.before.paths}
	c.cards(v, func(i int, info *smi.Info, gpu any) {
		c.cards(at(gpu, "links"), func(j int, _ *smi.Info, link any) {
			p := t.Path(i, j)
			if p == nil {
				c.text("itself", at(link, "link_type"), "SELF")
				return
			}
			c.text("link", at(link, "link_type"), p.Type)
			c.figure("weight", at(link, "weight"), 0, float64(p.Weight.Or(0)))
			c.figure("hops", at(link, "num_hops"), 0, float64(p.Hops.Or(0)))
			c.text("access", at(link, "link_status"), map[bool]string{true: "ENABLED", false: "DISABLED"}[p.Access.Or(false)])
		})
	})
}

func checkFirmware(c *comparison, v any) {
	plain := strings.NewReplacer("_", "", " ", "", "-", "")
	c.cards(v, func(i int, info *smi.Info, gpu any) {
		var names []string
		l, _ := at(gpu, "fw_list").([]any)
		for _, f := range l {
			s, _ := at(f, "fw_id").(string)
			names = append(names, strings.ToLower(plain.Replace(s)))
		}
		for _, f := range c.before.firmware[i] {
			if !slices.Contains(names, plain.Replace(f)) {
				c.say("GPU %d: firmware %s is missing: %v", i, f, names)
				continue
			}
			c.agreed++
		}
		if len(names) != len(c.before.firmware[i]) || len(names) == 0 {
			c.say("GPU %d: %d pieces of firmware, smi-remote shows %d", i, len(names), len(c.before.firmware[i]))
		}
	})
}

func checkBadPages(c *comparison, v any) {
	c.cards(v, func(i int, info *smi.Info, gpu any) {
		n := 0
		for _, k := range []string{"retired", "pending", "un_res"} {
			switch l := at(gpu, k).(type) {
			case []any:
				n += len(l)
			case map[string]any: // a list of one
				n++
			}
		}
		c.figure("bad pages", float64(n), 0, float64(c.before.pages[i]))
	})
}

func checkPartition(c *comparison, v any) {
	c.cards(at(v, "current_partition"), func(i int, info *smi.Info, gpu any) {
		c.text("chip", at(gpu, "accelerator_type"), c.before.partitions[i].Compute)
		c.text("memory", at(gpu, "memory"), c.before.partitions[i].Memory)
	})
	c.cards(at(v, "memory_partition"), func(i int, info *smi.Info, gpu any) {
		c.text("memory choices", at(gpu, "memory_partition_caps"), strings.Join(c.before.partitions[i].Memories, ","))
	})
}

func checkXGMI(c *comparison, v any) {
	c.cards(at(v, "xgmi_metric", 0), func(i int, info *smi.Info, gpu any) {
		links := c.before.xgmi[i].Links
		if len(links) == 0 {
			c.say("GPU %d: smi-remote shows no links", i)
			return
		}
		c.figure("lane rate", at(gpu, "link_metrics", "bit_rate"), half, float64(links[0].Rate.Or(0))/1e9)
		c.figure("bandwidth", at(gpu, "link_metrics", "max_bandwidth"), half, float64(links[0].MaxBandwidth.Or(0))/1e9)
	})
	c.cards(at(v, "link_port_status"), func(i int, info *smi.Info, gpu any) {
		for k, l := range c.before.xgmi[i].Links {
			c.text("link", at(gpu, "link_status", k), map[string]string{smi.LinkUp: "U", smi.LinkDown: "D", smi.LinkDisabled: "X"}[l.State])
		}
	})
}

func checkDefault(c *comparison, v any) {
	c.cards(at(v, 0, "gpu_info_list"), func(i int, info *smi.Info, gpu any) {
		c.text("bdf", at(gpu, "bdf"), info.BDF.String())
		c.text("name", at(gpu, "market_name"), info.Name)
		c.measured(i, "power", at(gpu, "power_usage", "current_power"), half, func(m *smi.Metrics) float64 { return float64(m.Power.Draw().Or(0)) })
		c.measured(i, "power cap", at(gpu, "power_usage", "power_limit"), half, func(m *smi.Metrics) float64 { return float64(m.Power.Cap.Or(0)) })
		c.measured(i, "vram", at(gpu, "mem_usage", "total_vram"), 1, func(m *smi.Metrics) float64 { return float64(m.VRAM.Total.Or(0)) / (1 << 20) })
		c.measured(i, "vram used", at(gpu, "mem_usage", "used_vram"), 1, func(m *smi.Metrics) float64 { return float64(m.VRAM.Used.Or(0)) / (1 << 20) })
		c.measured(i, "hot spot", at(gpu, "temp"), half, celsius(smi.SensorHotspot))
		c.figure("uncorrectable errors", at(gpu, "uncorr_ecc"), 0, float64(c.before.ecc[i].Uncorrectable.Or(0)))
	})
	rows, _ := at(v, 0, "processes").([]any)
	if len(rows) != len(c.before.processes) {
		c.say("%d processes, smi-remote shows %d", len(rows), len(c.before.processes))
	}
}
