/* ROCm SMI's interface says of the cards what AMD SMI's says, with its own units, numbers and statuses. */
#include "rsmi/rsmi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

rsmi_status_t rsmi_init(uint64_t), rsmi_shut_down(void), rsmi_num_monitor_devices(uint32_t *), rsmi_status_string(rsmi_status_t, const char **);
rsmi_status_t rsmi_version_get(rsmi_version_t *), rsmi_version_str_get(uint32_t, char *, uint32_t);
rsmi_status_t rsmi_dev_id_get(uint32_t, uint16_t *), rsmi_dev_unique_id_get(uint32_t, uint64_t *), rsmi_dev_pci_id_get(uint32_t, uint64_t *);
rsmi_status_t rsmi_dev_name_get(uint32_t, char *, size_t), rsmi_dev_brand_get(uint32_t, char *, uint32_t), rsmi_dev_drm_render_minor_get(uint32_t, uint32_t *);
rsmi_status_t rsmi_dev_target_graphics_version_get(uint32_t, uint64_t *);
rsmi_status_t rsmi_dev_gpu_clk_freq_get(uint32_t, uint32_t, amdsmi_frequencies_t *), rsmi_dev_gpu_clk_freq_set(uint32_t, uint32_t, uint64_t);
rsmi_status_t rsmi_dev_perf_level_set(uint32_t, uint32_t), rsmi_dev_power_ave_get(uint32_t, uint32_t, uint64_t *);
rsmi_status_t rsmi_dev_power_cap_get(uint32_t, uint32_t, uint64_t *), rsmi_dev_power_cap_set(uint32_t, uint32_t, uint64_t);
rsmi_status_t rsmi_dev_temp_metric_get(uint32_t, uint32_t, uint32_t, int64_t *), rsmi_dev_memory_total_get(uint32_t, uint32_t, uint64_t *);
rsmi_status_t rsmi_dev_gpu_metrics_info_get(uint32_t, rsmi_gpu_metrics_t *), rsmi_dev_metrics_xcd_counter_get(uint32_t, uint16_t *);
rsmi_status_t rsmi_topo_get_numa_node_number(uint32_t, uint32_t *), rsmi_topo_get_link_weight(uint32_t, uint32_t, uint64_t *);
rsmi_status_t rsmi_topo_get_link_type(uint32_t, uint32_t, uint64_t *, uint32_t *), rsmi_minmax_bandwidth_get(uint32_t, uint32_t, uint64_t *, uint64_t *);
rsmi_status_t rsmi_compute_process_info_by_pid_get(uint32_t, rsmi_process_info_t *), rsmi_utilization_count_get(uint32_t, rsmi_utilization_counter_t *, uint32_t, uint64_t *);
rsmi_status_t rsmi_dev_memory_partition_set(uint32_t, uint32_t), rsmi_dev_od_volt_info_get(uint32_t, void *), rsmi_dev_ecc_count_get(uint32_t, uint64_t, rsmi_error_count_t *);
rsmi_status_t rsmi_is_P2P_accessible(uint32_t, uint32_t, bool *);

static int failed;

#define IS(what, want) \
	do { \
		long long got_ = (long long)(what), want_ = (long long)(want); \
		if (got_ != want_) { \
			printf("line %d: %s is %lld, not %lld\n", __LINE__, #what, got_, want_); \
			failed = 1; \
		} \
	} while (0)

int main(int argc, char **argv)
{
	(void)argc;
	int writes = atoi(argv[1]);
	uint32_t n = 7, u32;
	uint64_t u64;
	int64_t i64;
	uint16_t u16;
	char text[256];
	IS(rsmi_num_monitor_devices(&n), RSMI_STATUS_INIT_ERROR);
	IS(rsmi_dev_id_get(0, &u16), RSMI_STATUS_INIT_ERROR);
	IS(rsmi_shut_down(), RSMI_STATUS_INIT_ERROR);
	IS(rsmi_init(0), 0);
	IS(rsmi_init(0), 0);
	IS(rsmi_shut_down(), 0); /* the first one is open still */
	IS(rsmi_num_monitor_devices(&n), 0);
	IS(rsmi_num_monitor_devices(NULL), RSMI_STATUS_INVALID_ARGS);
	IS(rsmi_dev_id_get(n, &u16), RSMI_STATUS_INVALID_ARGS);

	const char *said = NULL;
	rsmi_version_t version;
	IS(rsmi_status_string(RSMI_STATUS_PERMISSION, &said), 0);
	IS(strncmp(said, "RSMI_STATUS_PERMISSION", 22), 0);
	IS(rsmi_status_string(12345, &said), 0);
	IS(strncmp(said, "RSMI_STATUS_UNKNOWN_ERROR", 25), 0);
	IS(rsmi_version_get(&version), 0);
	IS(version.major, 7);
	IS(rsmi_version_str_get(0, text, sizeof(text)), 0);
	IS(rsmi_version_str_get(1, text, sizeof(text)), RSMI_STATUS_INVALID_ARGS);

	amdsmi_socket_handle sockets[16];
	amdsmi_processor_handle cards[16];
	uint32_t nsockets = 16, ncards = 0;
	IS(amdsmi_init(AMDSMI_INIT_AMD_GPUS), 0);
	IS(amdsmi_get_socket_handles(&nsockets, sockets), 0);
	for (uint32_t s = 0; s < nsockets; s++) {
		uint32_t room = 16 - ncards;
		IS(amdsmi_get_processor_handles(sockets[s], &room, cards + ncards), 0);
		ncards += room;
	}
	IS(n, ncards);
	for (uint32_t i = 0; i < n; i++) {
		amdsmi_asic_info_t asic;
		IS(amdsmi_get_gpu_asic_info(cards[i], &asic), 0);
		IS(rsmi_dev_id_get(i, &u16), 0);
		IS(u16, asic.device_id);
		IS(rsmi_dev_id_get(i, NULL), RSMI_STATUS_INVALID_ARGS);
		IS(rsmi_dev_name_get(i, text, sizeof(text)), 0);
		IS(strcmp(text, asic.market_name), 0);
		IS(rsmi_dev_brand_get(i, text, 4), RSMI_STATUS_INSUFFICIENT_SIZE);
		IS(strlen(text), 3);
		IS(rsmi_dev_brand_get(i, NULL, 4), RSMI_STATUS_INVALID_ARGS);
		IS(rsmi_dev_unique_id_get(i, &u64), 0);
		IS(u64, strtoull(asic.asic_serial, NULL, 16));
		IS(rsmi_dev_target_graphics_version_get(i, &u64), 0);
		IS(u64, asic.target_graphics_version);
		uint64_t bdf;
		IS(rsmi_dev_pci_id_get(i, &u64), 0);
		IS(amdsmi_get_gpu_bdf_id(cards[i], &bdf), 0);
		IS(u64, bdf);
		amdsmi_enumeration_info_t place;
		IS(amdsmi_get_gpu_enumeration_info(cards[i], &place), 0);
		if (place.drm_render == UINT32_MAX)
			IS(rsmi_dev_drm_render_minor_get(i, &u32), RSMI_STATUS_NOT_SUPPORTED);
		else {
			IS(rsmi_dev_drm_render_minor_get(i, &u32), 0);
			IS(u32, place.drm_render);
		}

		amdsmi_frequencies_t f, g;
		IS(rsmi_dev_gpu_clk_freq_get(i, AMDSMI_CLK_TYPE_SYS, &f), 0);
		IS(amdsmi_get_clk_freq(cards[i], AMDSMI_CLK_TYPE_SYS, &g), 0);
		IS(f.num_supported, g.num_supported);
		IS(f.frequency[0], g.frequency[0]);
		IS(rsmi_dev_gpu_clk_freq_get(i, 77, &f), RSMI_STATUS_INVALID_ARGS);
		IS(rsmi_dev_power_ave_get(i, 0, &u64), 0);
		IS(u64 % 1000000, 0);
		IS(u64 > 10000000 && u64 < 2000000000, 1);
		IS(rsmi_dev_power_ave_get(i, 3, &u64), RSMI_STATUS_NOT_SUPPORTED);
		amdsmi_power_cap_info_t cap;
		IS(amdsmi_get_power_cap_info(cards[i], 0, &cap), 0);
		IS(rsmi_dev_power_cap_get(i, 0, &u64), 0);
		IS(u64, cap.power_cap);
		IS(rsmi_dev_temp_metric_get(i, AMDSMI_TEMPERATURE_TYPE_HOTSPOT, AMDSMI_TEMP_CURRENT, &i64), 0);
		IS(i64 > 10000 && i64 < 120000, 1); /* thousandths of a degree */
		IS(rsmi_dev_temp_metric_get(i, 7, AMDSMI_TEMP_CURRENT, &i64), RSMI_STATUS_INVALID_ARGS);
		uint64_t total;
		IS(rsmi_dev_memory_total_get(i, AMDSMI_MEM_TYPE_VRAM, &u64), 0);
		IS(amdsmi_get_gpu_memory_total(cards[i], AMDSMI_MEM_TYPE_VRAM, &total), 0);
		IS(u64, total);

		static amdsmi_gpu_metrics_t theirs;
		struct {
			rsmi_gpu_metrics_t m;
			uint64_t behind;
		} ours = {.behind = 0x1122334455667788};
		IS(rsmi_dev_gpu_metrics_info_get(i, &ours.m), 0);
		IS(amdsmi_get_gpu_metrics_info(cards[i], &theirs), 0);
		IS(ours.behind, 0x1122334455667788);
		IS(ours.m.common_header.structure_size, sizeof(ours.m));
		IS(ours.m.common_header.format_revision, theirs.common_header.format_revision);
		IS(ours.m.temperature_hotspot, theirs.temperature_hotspot);
		IS(ours.m.current_gfxclks[1], theirs.current_gfxclks[1]);
		IS(ours.m.num_partition, theirs.num_partition);
		IS(ours.m.xcp_stats[7].gfx_busy_acc[7], theirs.xcp_stats[7].gfx_busy_acc[7]);
		IS(ours.m.vram_max_bandwidth, theirs.vram_max_bandwidth);
		IS(ours.m.pcie_nak_sent_count_acc, (uint32_t)theirs.pcie_nak_sent_count_acc);
		uint16_t xcds;
		IS(rsmi_dev_metrics_xcd_counter_get(i, &u16), 0);
		IS(amdsmi_get_gpu_xcd_counter(cards[i], &xcds), 0);
		IS(u16, xcds);

		rsmi_error_count_t errors;
		amdsmi_error_count_t counted;
		int there = amdsmi_get_gpu_ecc_count(cards[i], AMDSMI_GPU_BLOCK_UMC, &counted);
		IS(rsmi_dev_ecc_count_get(i, AMDSMI_GPU_BLOCK_UMC, &errors), there ? RSMI_STATUS_NOT_SUPPORTED : 0);
		if (!there)
			IS(errors.correctable_err, counted.correctable_count);
		rsmi_utilization_counter_t busy[2] = {{.type = 0}, {.type = 1}};
		amdsmi_utilization_counter_t theirs_busy = {.type = AMDSMI_COARSE_GRAIN_GFX_ACTIVITY};
		IS(rsmi_utilization_count_get(i, busy, 2, &u64), amdsmi_get_utilization_count(cards[i], &theirs_busy, 1, &u64));
		busy[0].type = 100;
		IS(rsmi_utilization_count_get(i, busy, 2, &u64), RSMI_STATUS_INVALID_ARGS);

		uint32_t node;
		IS(rsmi_topo_get_numa_node_number(i, &u32), amdsmi_topo_get_numa_node_number(cards[i], &node));
		IS(u32, node);
		IS(rsmi_dev_od_volt_info_get(i, NULL), RSMI_STATUS_NOT_SUPPORTED);
		IS(rsmi_dev_memory_partition_set(i, 9), RSMI_STATUS_INVALID_ARGS);
		IS(rsmi_dev_power_cap_set(i, 0, cap.max_power_cap), writes ? RSMI_STATUS_SUCCESS : RSMI_STATUS_PERMISSION);
		if (writes) {
			IS(rsmi_dev_perf_level_set(i, AMDSMI_DEV_PERF_LEVEL_MANUAL), 0);
			IS(rsmi_dev_perf_level_set(i, AMDSMI_DEV_PERF_LEVEL_AUTO), 0);
		}
	}
	if (n > 1) {
		uint64_t hops, weight, min, max, other;
		bool reach, reaches;
		amdsmi_link_type_t link;
		IS(amdsmi_topo_get_link_type(cards[0], cards[1], &hops, &link), 0);
		IS(rsmi_topo_get_link_type(0, 1, &u64, &u32), 0);
		IS(u64, hops);
		IS(u32, link);
		IS(rsmi_topo_get_link_weight(0, 1, &weight), 0);
		IS(amdsmi_topo_get_link_weight(cards[0], cards[1], &other), 0);
		IS(weight, other);
		int there = amdsmi_get_minmax_bandwidth_between_processors(cards[0], cards[1], &min, &max);
		IS(rsmi_minmax_bandwidth_get(0, 1, &u64, &other) != 0, there != 0);
		IS(rsmi_topo_get_link_type(0, n, &u64, &u32), RSMI_STATUS_INVALID_ARGS);
		IS(rsmi_is_P2P_accessible(0, 1, &reach), 0);
		IS(amdsmi_is_P2P_accessible(cards[0], cards[1], &reaches), 0);
		IS(reach, reaches);
	}
	rsmi_process_info_t process;
	IS(rsmi_compute_process_info_by_pid_get(0x7ffffff0, &process), RSMI_STATUS_NOT_FOUND);
	IS(rsmi_shut_down(), 0);
	IS(rsmi_num_monitor_devices(&n), RSMI_STATUS_INIT_ERROR);
	IS(amdsmi_shut_down(), 0);
	if (!failed)
		printf("rsmi: %u cards ok\n", ncards);
	return failed;
}
