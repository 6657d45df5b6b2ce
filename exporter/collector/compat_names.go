package collector

// CompatDME is the value of Options.Compat that serves the names of AMD's
// device-metrics-exporter beside ours.
const CompatDME = "device-metrics-exporter"

// compatName is one metric of AMD's device-metrics-exporter.
type compatName struct {
	name   string
	labels []string // besides compatLabels
	help   string
	ours   string // our metric for the same thing, as a query if it is not one; "" there is none
	absent string // why it is not served; "" it is
}

// compatLabels are on every series of a GPU, as AMD's exporter has them always.
var compatLabels = []string{
	"gpu_id", "serial_number", "hostname", "card_model", "gpu_partition_id", "gpu_compute_partition_type", "gpu_memory_partition_type", "deployment_mode",
	"pod", "namespace", "container", "job_id", "job_user", "job_partition", "kfd_process_id",
}

// Why names are not served.
const (
	noProfiler = "a hardware counter that only a profiler on the GPU reads"
	noBeats    = "no source counts packets by neighbour"
	noCycles   = "AMD's figure is in cycles of the firmware, whose length no source tells"
	noPerPart  = "the same engines as the metric beside it, grouped by partition"
)

// compatNames is every metric of AMD's device-metrics-exporter 1.5.2, its ECC and
// profiler ones excepted, which compatList adds.
var compatNames = []compatName{
	{name: "gpu_nodes_total", help: "GPUs of the machine.", ours: `count(gpu_up)`},
	{name: "gpu_health", help: "1 if the GPU answers, had no uncorrectable error and has not too many bad pages, else 0.", ours: "gpu_up"},

	{name: "gpu_package_power", help: "Power drawn by the socket now, in watts.", ours: "gpu_power_watts"},
	{name: "gpu_average_package_power", help: "Power drawn by the socket, running average, in watts.", ours: "gpu_power_average_watts"},
	{name: "gpu_power_usage", help: "Power drawn, in watts: now, else the average.", ours: "gpu_power_watts"},
	{name: "gpu_energy_consumed", help: "Energy used since the driver was loaded, in microjoules.", ours: "gpu_energy_joules_total"},

	{name: "gpu_edge_temperature", help: "Temperature at the edge, in degrees Celsius.", ours: `gpu_temperature_celsius{sensor="edge"}`},
	{name: "gpu_junction_temperature", help: "Temperature of the hot spot, in degrees Celsius.", ours: `gpu_temperature_celsius{sensor="hotspot"}`},
	{name: "gpu_memory_temperature", help: "Temperature of the memory, in degrees Celsius.", ours: `gpu_temperature_celsius{sensor="mem"}`},
	{name: "gpu_hbm_temperature", labels: []string{"hbm_index"}, help: "Temperature of one memory stack, in degrees Celsius.", ours: `gpu_temperature_celsius{sensor=~"hbm.*"}`},

	{name: "gpu_gfx_activity", help: "Share of the last moments with work for compute or graphics, in percent.", ours: `gpu_activity_ratio{engine="gfx"}`},
	{name: "gpu_umc_activity", help: "Share of the last moments with work for the memory controller, in percent.", ours: `gpu_activity_ratio{engine="umc"}`},
	{name: "gpu_mma_activity", help: "Share of the last moments with work for the video engines, in percent.", ours: `gpu_activity_ratio{engine="mm"}`},
	{name: "gpu_vcn_activity", labels: []string{"vcn_index"}, help: "Share of the last moments with work for one video engine, in percent.", ours: `gpu_engine_activity_ratio{engine="vcn"}`},
	{name: "gpu_jpeg_activity", labels: []string{"jpeg_index"}, help: "Share of the last moments with work for one JPEG engine, in percent.", ours: `gpu_engine_activity_ratio{engine="jpeg"}`},
	{name: "gpu_gfx_busy_instantaneous", labels: []string{"xcc_index"}, help: "Share of the last moment with work for one accelerator die, in percent.", ours: `gpu_engine_activity_ratio{engine="gfx"}`},
	{name: "gpu_vcn_busy_instantaneous", labels: []string{"xcc_index"}, ours: `gpu_engine_activity_ratio{engine="vcn"}`, absent: noPerPart},
	{name: "gpu_jpeg_busy_instantaneous", labels: []string{"xcc_index"}, ours: `gpu_engine_activity_ratio{engine="jpeg"}`, absent: noPerPart},

	{name: "gpu_voltage", help: "Voltage of the SOC rail, in millivolts.", ours: `gpu_voltage_volts{rail="soc"}`},
	{name: "gpu_gfx_voltage", help: "Voltage of the graphics rail, in millivolts.", ours: `gpu_voltage_volts{rail="gfx"}`},
	{name: "gpu_memory_voltage", help: "Voltage of the memory rail, in millivolts.", ours: `gpu_voltage_volts{rail="mem"}`},

	{name: "gpu_clock", labels: []string{"clock_index", "clock_type"}, help: "Current clock, in megahertz.", ours: "gpu_clock_hertz"},
	{name: "gpu_min_clock", labels: []string{"clock_index", "clock_type"}, help: "Lowest clock in force, in megahertz.", ours: "gpu_clock_min_hertz"},
	{name: "gpu_max_clock", labels: []string{"clock_index", "clock_type"}, help: "Highest clock in force, in megahertz.", ours: "gpu_clock_max_hertz"},

	{name: "pcie_speed", help: "Rate of one lane of the PCIe link now, in gigatransfers a second.", ours: "gpu_pcie_speed_transfers_per_second"},
	{name: "pcie_max_speed", help: "Highest rate of one lane of the PCIe link, in gigatransfers a second.", ours: "gpu_pcie_max_speed_transfers_per_second"},
	{name: "pcie_bandwidth", help: "Carried by the PCIe link now, in megabits a second.", ours: "gpu_pcie_bandwidth_bytes_per_second"},
	{name: "pcie_replay_count", help: "PCIe packets that had to be sent again.", ours: "gpu_pcie_replays_total"},
	{name: "pcie_recovery_count", help: "Times the PCIe link had to recover.", ours: "gpu_pcie_recoveries_total"},
	{name: "pcie_replay_rollover_count", help: "PCIe packets sent again so often that the link was trained anew.", ours: "gpu_pcie_replay_rollovers_total"},
	{name: "pcie_nack_sent_count", help: "Refusals of bad PCIe packets sent.", ours: "gpu_pcie_naks_sent_total"},
	{name: "pcie_nack_received_count", help: "Refusals of bad PCIe packets received.", ours: "gpu_pcie_naks_received_total"},
	{name: "pcie_rx", ours: "gpu_pcie_received_bytes_per_second", absent: "AMD's figure is a total; sources tell the rate"},
	{name: "pcie_tx", ours: "gpu_pcie_sent_bytes_per_second", absent: "AMD's figure is a total; sources tell the rate"},
	{name: "pcie_bidirectional_bandwidth", ours: "gpu_pcie_bandwidth_bytes_per_second", absent: "AMD's figure is accumulated; sources tell the rate"},

	{name: "gpu_total_vram", help: "Memory of the GPU, in MB of 1048576 bytes.", ours: "gpu_vram_size_bytes"},
	{name: "gpu_used_vram", help: "Memory of the GPU in use, in MB of 1048576 bytes.", ours: "gpu_vram_used_bytes"},
	{name: "gpu_free_vram", help: "Memory of the GPU not in use, in MB of 1048576 bytes.", ours: "gpu_vram_size_bytes - gpu_vram_used_bytes"},
	{name: "gpu_total_visible_vram", help: "Memory of the GPU that the CPU sees, in MB of 1048576 bytes.", ours: "gpu_visible_vram_size_bytes"},
	{name: "gpu_used_visible_vram", help: "Memory of the GPU that the CPU sees, in use, in MB of 1048576 bytes.", ours: "gpu_visible_vram_used_bytes"},
	{name: "gpu_free_visible_vram", help: "Memory of the GPU that the CPU sees, not in use, in MB of 1048576 bytes.", ours: "gpu_visible_vram_size_bytes - gpu_visible_vram_used_bytes"},
	{name: "gpu_total_gtt", help: "Host memory that may be lent to the GPU, in MB of 1048576 bytes.", ours: "gpu_gtt_size_bytes"},
	{name: "gpu_used_gtt", help: "Host memory lent to the GPU, in MB of 1048576 bytes.", ours: "gpu_gtt_used_bytes"},
	{name: "gpu_free_gtt", help: "Host memory that may still be lent to the GPU, in MB of 1048576 bytes.", ours: "gpu_gtt_size_bytes - gpu_gtt_used_bytes"},
	{name: "gpu_vram_max_bandwidth", help: "Peak bandwidth of the GPU's memory, in gigabytes a second.", ours: "gpu_vram_max_bandwidth_bytes_per_second"},

	{name: "gpu_xgmi_nbr_0_nop_tx", absent: noBeats},
	{name: "gpu_xgmi_nbr_1_nop_tx", absent: noBeats},
	{name: "gpu_xgmi_nbr_0_req_tx", absent: noBeats},
	{name: "gpu_xgmi_nbr_1_req_tx", absent: noBeats},
	{name: "gpu_xgmi_nbr_0_resp_tx", absent: noBeats},
	{name: "gpu_xgmi_nbr_1_resp_tx", absent: noBeats},
	{name: "gpu_xgmi_nbr_0_beats_tx", absent: noBeats},
	{name: "gpu_xgmi_nbr_1_beats_tx", absent: noBeats},
	{name: "gpu_xgmi_nbr_0_tx_thrput", ours: "rate(gpu_xgmi_link_written_bytes_total[5m])", absent: noBeats},
	{name: "gpu_xgmi_nbr_1_tx_thrput", ours: "rate(gpu_xgmi_link_written_bytes_total[5m])", absent: noBeats},
	{name: "gpu_xgmi_nbr_2_tx_thrput", ours: "rate(gpu_xgmi_link_written_bytes_total[5m])", absent: noBeats},
	{name: "gpu_xgmi_nbr_3_tx_thrput", ours: "rate(gpu_xgmi_link_written_bytes_total[5m])", absent: noBeats},
	{name: "gpu_xgmi_nbr_4_tx_thrput", ours: "rate(gpu_xgmi_link_written_bytes_total[5m])", absent: noBeats},
	{name: "gpu_xgmi_nbr_5_tx_thrput", ours: "rate(gpu_xgmi_link_written_bytes_total[5m])", absent: noBeats},
	{name: "gpu_xgmi_link_rx", labels: []string{"link_index"}, help: "Read over one XGMI link since the driver was loaded, in KB of 1024 bytes.", ours: "gpu_xgmi_link_read_bytes_total"},
	{name: "gpu_xgmi_link_tx", labels: []string{"link_index"}, help: "Written over one XGMI link since the driver was loaded, in KB of 1024 bytes.", ours: "gpu_xgmi_link_written_bytes_total"},

	{name: "gpu_violation_current_accumulated_counter", absent: noCycles},
	{name: "gpu_violation_processor_hot_residency_accumulated", ours: `gpu_throttle_violation_seconds_total{kind="prochot"}`, absent: noCycles},
	{name: "gpu_violation_ppt_residency_accumulated", ours: `gpu_throttle_violation_seconds_total{kind="ppt"}`, absent: noCycles},
	{name: "gpu_violation_socket_thermal_residency_accumulated", ours: `gpu_throttle_violation_seconds_total{kind="socket_thermal"}`, absent: noCycles},
	{name: "gpu_violation_vr_thermal_residency_accumulated", ours: `gpu_throttle_violation_seconds_total{kind="vr_thermal"}`, absent: noCycles},
	{name: "gpu_violation_hbm_thermal_residency_accumulated", ours: `gpu_throttle_violation_seconds_total{kind="hbm_thermal"}`, absent: noCycles},
	{name: "gpu_violation_gfx_clock_below_host_limit_power_accumulated", labels: dieLabel, ours: `gpu_throttle_violation_seconds_total{kind="gfx_clock_below_host_limit_power"}`, absent: noCycles},
	{name: "gpu_violation_gfx_clock_below_host_limit_thermal_accumulated", labels: dieLabel, ours: `gpu_throttle_violation_seconds_total{kind="gfx_clock_below_host_limit_thermal"}`, absent: noCycles},
	{name: "gpu_violation_gfx_clock_below_host_limit_total_accumulated", labels: dieLabel, ours: `gpu_throttle_violation_seconds_total{kind="gfx_clock_below_host_limit_total"}`, absent: noCycles},
	{name: "gpu_violation_low_utilization_accumulated", labels: dieLabel, ours: `gpu_throttle_violation_seconds_total{kind="low_utilization"}`, absent: noCycles},
	{name: "gpu_violation_processor_hot_residency_percentage", help: "Share of the last moments in which the baseboard lowered the clocks, in percent.", ours: `gpu_throttle_violation_ratio{kind="prochot"}`},
	{name: "gpu_violation_ppt_residency_percentage", help: "Share of the last moments in which the power limit lowered the clocks, in percent.", ours: `gpu_throttle_violation_ratio{kind="ppt"}`},
	{name: "gpu_violation_socket_thermal_residency_percentage", help: "Share of the last moments in which the socket's temperature lowered the clocks, in percent.", ours: `gpu_throttle_violation_ratio{kind="socket_thermal"}`},
	{name: "gpu_violation_vr_thermal_residency_percentage", help: "Share of the last moments in which the voltage regulators' temperature lowered the clocks, in percent.", ours: `gpu_throttle_violation_ratio{kind="vr_thermal"}`},
	{name: "gpu_violation_hbm_thermal_residency_percentage", help: "Share of the last moments in which the memory's temperature lowered the clocks, in percent.", ours: `gpu_throttle_violation_ratio{kind="hbm_thermal"}`},
	{name: "gpu_violation_gfx_clock_below_host_limit_power_percentage", labels: dieLabel, help: "Share of the last moments in which power kept one die's clock below its limit, in percent.", ours: `gpu_throttle_violation_ratio{kind="gfx_clock_below_host_limit_power"}`},
	{name: "gpu_violation_gfx_clock_below_host_limit_thermal_percentage", labels: dieLabel, help: "Share of the last moments in which temperature kept one die's clock below its limit, in percent.", ours: `gpu_throttle_violation_ratio{kind="gfx_clock_below_host_limit_thermal"}`},
	{name: "gpu_violation_gfx_clock_below_host_limit_total_percentage", labels: dieLabel, help: "Share of the last moments in which anything kept one die's clock below its limit, in percent.", ours: `gpu_throttle_violation_ratio{kind="gfx_clock_below_host_limit_total"}`},
	{name: "gpu_violation_low_utilization_percentage", labels: dieLabel, help: "Share of the last moments in which too little work kept one die's clock below its limit, in percent.", ours: `gpu_throttle_violation_ratio{kind="low_utilization"}`},

	{name: "gpu_afid_errors", labels: []string{"severity", "afid_index"}, ours: "gpu_ecc_block_errors_total", absent: "AMD's own numbers of faults, which no source tells"},
	{name: "gpu_process_cu_occupancy", labels: []string{"process_id"}, help: "Share of the GPU's compute units that a process occupies, in percent.", ours: "gpu_process_compute_units"},
}

var dieLabel = []string{"xcc_index"}

// compatBlocks are AMD's names of the parts that have error counters, by ours.
var compatBlocks = []struct{ theirs, ours string }{
	{"sdma", "sdma"}, {"gfx", "gfx"}, {"mmhub", "mmhub"}, {"athub", "athub"}, {"bif", "pcie_bif"}, {"hdp", "hdp"}, {"xgmi_wafl", "xgmi_wafl"},
	{"df", "df"}, {"smn", "smn"}, {"sem", "sem"}, {"mp0", "mp0"}, {"mp1", "mp1"}, {"fuse", "fuse"}, {"umc", "umc"}, {"mca", "mca"}, {"vcn", "vcn"},
	{"jpeg", "jpeg"}, {"ih", "ih"}, {"mpio", "mpio"},
}

// compatSeverities are AMD's names of the severities, by ours.
var compatSeverities = []struct{ theirs, ours string }{{"correct", correctable}, {"uncorrect", uncorrectable}, {"deferred", deferred}}

// compatProfiler are the metrics of AMD's profiler helper, without gpu_prof_.
var compatProfiler = []string{
	"grbm_gui_active", "sq_waves", "grbm_count", "gui_util_percent", "fetch_size", "write_size", "total_16_ops", "total_32_ops", "total_64_ops",
	"cpc_cpc_stat_busy", "cpc_cpc_stat_idle", "cpc_cpc_stat_stall", "cpc_cpc_tciu_busy", "cpc_cpc_tciu_idle", "cpc_cpc_utcl2iu_busy",
	"cpc_cpc_utcl2iu_idle", "cpc_cpc_utcl2iu_stall", "cpc_me1_busy_for_packet_decode", "cpc_me1_dc0_spi_busy", "cpc_utcl1_stall_on_translation",
	"cpc_always_count", "cpc_adc_valid_chunk_not_avail", "cpc_adc_dispatch_alloc_done", "cpc_adc_valid_chunk_end", "cpc_sync_fifo_full_level",
	"cpc_sync_fifo_full", "cpc_gd_busy", "cpc_tg_send", "cpc_walk_next_chunk", "cpc_stalled_by_se0_spi", "cpc_stalled_by_se1_spi",
	"cpc_stalled_by_se2_spi", "cpc_stalled_by_se3_spi", "cpc_lte_all", "cpc_sync_wrreq_fifo_busy", "cpc_cane_busy", "cpc_cane_stall",
	"cpf_cmp_utcl1_stall_on_translation", "cpf_cpf_stat_busy", "cpf_cpf_stat_idle", "cpf_cpf_stat_stall", "cpf_cpf_tciu_busy", "cpf_cpf_tciu_idle",
	"cpf_cpf_tciu_stall", "occupancy_percent", "tensor_active_percent", "valu_pipe_issue_util", "sm_active", "occupancy_elapsed",
	"occupancy_per_active_cu", "occupancy_per_cu", "simd_utilization",
}

// compatList is all 194 names.
func compatList() []compatName {
	list := append([]compatName(nil), compatNames...)
	for _, s := range compatSeverities {
		list = append(list, compatName{
			name: "gpu_ecc_" + s.theirs + "_total", help: "Errors, " + s.ours + ", of all parts of the GPU since its driver was loaded.",
			ours: `gpu_ecc_errors_total{severity="` + s.ours + `"}`,
		})
		for _, b := range compatBlocks {
			list = append(list, compatName{
				name: "gpu_ecc_" + s.theirs + "_" + b.theirs, help: "Errors, " + s.ours + ", of the part " + b.theirs + ".",
				ours: `gpu_ecc_block_errors_total{block="` + b.ours + `",severity="` + s.ours + `"}`,
			})
		}
	}
	for _, p := range compatProfiler {
		list = append(list, compatName{name: "gpu_prof_" + p, absent: noProfiler})
	}
	return list
}
