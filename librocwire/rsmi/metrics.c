/* rsmi_gpu_metrics_t, from the larger struct that AMD SMI has. */
#include <string.h>

#include "rsmi.h"

/* Figures that there are none of have all bits set, also in fewer bits. */
#define EACH(to, from) \
	for (size_t i = 0; i < sizeof(to) / sizeof(*(to)); i++) \
		(to)[i] = (from)[i]

RSMI rsmi_status_t rsmi_dev_gpu_metrics_info_get(uint32_t index, rsmi_gpu_metrics_t *to)
{
	CARD(index);
	INFO(amdsmi_gpu_metrics_t, m, amdsmi_get_gpu_metrics_info(card, &m));
	if (!to)
		return RSMI_STATUS_INVALID_ARGS;
	memset(to, 0, sizeof(*to));
	to->common_header.structure_size = sizeof(*to);
	to->common_header.format_revision = m.common_header.format_revision;
	to->common_header.content_revision = m.common_header.content_revision;
#define ONE(field) to->field = m.field
	ONE(temperature_edge), ONE(temperature_hotspot), ONE(temperature_mem), ONE(temperature_vrgfx), ONE(temperature_vrsoc), ONE(temperature_vrmem);
	ONE(average_gfx_activity), ONE(average_umc_activity), ONE(average_mm_activity), ONE(average_socket_power);
	ONE(energy_accumulator), ONE(system_clock_counter);
	ONE(average_gfxclk_frequency), ONE(average_socclk_frequency), ONE(average_uclk_frequency), ONE(average_vclk0_frequency), ONE(average_dclk0_frequency);
	ONE(average_vclk1_frequency), ONE(average_dclk1_frequency);
	ONE(current_gfxclk), ONE(current_socclk), ONE(current_uclk), ONE(current_vclk0), ONE(current_dclk0), ONE(current_vclk1), ONE(current_dclk1);
	ONE(throttle_status), ONE(current_fan_speed), ONE(pcie_link_width), ONE(pcie_link_speed);
	to->gfx_activity_acc = (uint32_t)m.gfx_activity_acc;
	to->mem_activity_acc = (uint32_t)m.mem_activity_acc;
	EACH(to->temperature_hbm, m.temperature_hbm);
	ONE(firmware_timestamp), ONE(voltage_soc), ONE(voltage_gfx), ONE(voltage_mem), ONE(indep_throttle_status), ONE(current_socket_power);
	EACH(to->vcn_activity, m.vcn_activity);
	ONE(gfxclk_lock_status), ONE(xgmi_link_width), ONE(xgmi_link_speed);
	ONE(pcie_bandwidth_acc), ONE(pcie_bandwidth_inst), ONE(pcie_l0_to_recov_count_acc), ONE(pcie_replay_count_acc), ONE(pcie_replay_rover_count_acc);
	EACH(to->xgmi_read_data_acc, m.xgmi_read_data_acc);
	EACH(to->xgmi_write_data_acc, m.xgmi_write_data_acc);
	EACH(to->current_gfxclks, m.current_gfxclks);
	EACH(to->current_socclks, m.current_socclks);
	EACH(to->current_vclk0s, m.current_vclk0s);
	EACH(to->current_dclk0s, m.current_dclk0s);
	EACH(to->jpeg_activity, m.jpeg_activity);
	to->pcie_nak_sent_count_acc = (uint32_t)m.pcie_nak_sent_count_acc;
	to->pcie_nak_rcvd_count_acc = (uint32_t)m.pcie_nak_rcvd_count_acc;
	ONE(accumulation_counter), ONE(prochot_residency_acc), ONE(ppt_residency_acc), ONE(socket_thm_residency_acc), ONE(vr_thm_residency_acc);
	ONE(hbm_thm_residency_acc), ONE(num_partition);
	for (size_t k = 0; k < sizeof(to->xcp_stats) / sizeof(*to->xcp_stats); k++) {
		EACH(to->xcp_stats[k].gfx_busy_inst, m.xcp_stats[k].gfx_busy_inst);
		EACH(to->xcp_stats[k].jpeg_busy, m.xcp_stats[k].jpeg_busy);
		EACH(to->xcp_stats[k].vcn_busy, m.xcp_stats[k].vcn_busy);
		EACH(to->xcp_stats[k].gfx_busy_acc, m.xcp_stats[k].gfx_busy_acc);
		EACH(to->xcp_stats[k].gfx_below_host_limit_acc, m.xcp_stats[k].gfx_below_host_limit_acc);
	}
	to->pcie_lc_perf_other_end_recovery = (uint32_t)m.pcie_lc_perf_other_end_recovery;
	ONE(vram_max_bandwidth);
	EACH(to->xgmi_link_status, m.xgmi_link_status);
	return RSMI_STATUS_SUCCESS;
}
