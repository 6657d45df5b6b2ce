/* Asks a libamd_smi for figures of its second card, and prints one "name value" a line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "amd_smi/amdsmi.h"

static void need(amdsmi_status_t st, const char *what)
{
	const char *name = "?";

	if (st == AMDSMI_STATUS_SUCCESS)
		return;
	amdsmi_status_code_to_string(st, &name);
	printf("%s failed: %u %s\n", what, st, name);
	exit(1);
}

#define NEED(call) need(call, #call)
#define U(name, value) printf("%s %llu\n", name, (unsigned long long)(value))
#define S(name, value) printf("%s %s\n", name, value)

int main(void)
{
	amdsmi_socket_handle sockets[64];
	amdsmi_processor_handle cards[64];
	uint32_t n = 64, k = 0, one;
	amdsmi_processor_handle c;

	U("before init", amdsmi_get_gpu_activity(cards, (amdsmi_engine_usage_t *)sockets));
	NEED(amdsmi_init(AMDSMI_INIT_AMD_GPUS));
	NEED(amdsmi_get_socket_handles(&n, sockets));
	for (uint32_t i = 0; i < n; i++) {
		one = 64 - k;
		NEED(amdsmi_get_processor_handles(sockets[i], &one, cards + k));
		k += one;
	}
	U("cards", k);
	c = cards[1];

	amdsmi_engine_usage_t usage;
	NEED(amdsmi_get_gpu_activity(c, &usage));
	U("gfx", usage.gfx_activity);
	U("umc", usage.umc_activity);

	amdsmi_clk_info_t clk;
	NEED(amdsmi_get_clock_info(c, AMDSMI_CLK_TYPE_MEM, &clk));
	U("mem clock", clk.clk);
	U("mem clock min", clk.min_clk);
	U("mem clock max", clk.max_clk);
	U("mem clock locked", clk.clk_locked);

	amdsmi_frequencies_t freqs;
	NEED(amdsmi_get_clk_freq(c, AMDSMI_CLK_TYPE_MEM, &freqs));
	U("mem levels", freqs.num_supported);
	U("mem level", freqs.current);
	U("mem frequency", freqs.frequency[1]);

	int64_t t;
	NEED(amdsmi_get_temp_metric(c, AMDSMI_TEMPERATURE_TYPE_HOTSPOT, AMDSMI_TEMP_CURRENT, &t));
	U("hot spot", t);
	NEED(amdsmi_get_temp_metric(c, AMDSMI_TEMPERATURE_TYPE_VRAM, AMDSMI_TEMP_CRITICAL, &t));
	U("vram limit", t);
	U("edge", amdsmi_get_temp_metric(c, AMDSMI_TEMPERATURE_TYPE_EDGE, AMDSMI_TEMP_CURRENT, &t));

	amdsmi_power_info_t power;
	NEED(amdsmi_get_power_info(c, &power));
	U("power", power.socket_power);
	U("average power", power.average_socket_power);
	U("gfx voltage", power.gfx_voltage);
	U("power limit", power.power_limit);

	amdsmi_power_cap_info_t cap;
	NEED(amdsmi_get_power_cap_info(c, 0, &cap));
	U("cap", cap.power_cap);
	U("cap max", cap.max_power_cap);

	uint64_t energy, when, total, used;
	float step;
	NEED(amdsmi_get_energy_count(c, &energy, &step, &when));
	printf("energy %.6f\n", energy * (double)step * 1e-6);

	NEED(amdsmi_get_gpu_memory_total(c, AMDSMI_MEM_TYPE_VRAM, &total));
	NEED(amdsmi_get_gpu_memory_usage(c, AMDSMI_MEM_TYPE_VRAM, &used));
	U("vram total", total);
	U("vram used", used);

	amdsmi_gpu_metrics_t *m = calloc(1, sizeof(*m));
	NEED(amdsmi_get_gpu_metrics_info(c, m));
	U("m.hot spot", m->temperature_hotspot);
	U("m.power", m->current_socket_power);
	U("m.gfx clock of die 7", m->current_gfxclks[7]);
	U("m.replays", m->pcie_replay_count_acc);
	U("m.parts", m->num_partition);
	U("m.gfx of die 7", m->xcp_stats[0].gfx_busy_inst[7]);
	U("m.gfx of another part", m->xcp_stats[7].gfx_busy_inst[7]);
	U("m.hbm stack 7", m->temperature_hbm_stacks[7]);
	U("m.bandwidth", m->vram_max_bandwidth);
	U("m.xgmi link 7", m->xgmi_link_status[7]);
	U("m.apu", m->apu_metrics != NULL);

	amdsmi_violation_status_t *v = calloc(1, sizeof(*v));
	NEED(amdsmi_get_violation_status(c, v));
	U("v.hbm", v->acc_hbm_thrm);
	U("v.hbm now", v->active_hbm_thrm);
	U("v.die", v->active_gfx_clk_below_host_limit_total[7][7]);

	amdsmi_pcie_info_t pcie;
	NEED(amdsmi_get_pcie_info(c, &pcie));
	U("pcie width", pcie.pcie_static.max_pcie_width);
	U("pcie slot", pcie.pcie_static.slot_type);
	U("pcie speed", pcie.pcie_metric.pcie_speed);
	U("pcie naks", pcie.pcie_metric.pcie_nak_received_count);

	amdsmi_error_count_t errors;
	NEED(amdsmi_get_gpu_ecc_count(c, AMDSMI_GPU_BLOCK_UMC, &errors));
	U("umc errors", errors.correctable_count);

	amdsmi_retired_page_record_t pages[4];
	one = 4;
	NEED(amdsmi_get_gpu_bad_page_info(c, &one, pages));
	U("bad pages", one);
	U("bad page", pages[0].page_address);

	uint32_t procs = 8;
	amdsmi_proc_info_t *list = calloc(procs, sizeof(*list));
	NEED(amdsmi_get_gpu_process_list(c, &procs, list));
	U("processes", procs);
	U("pid", list[3].pid);
	S("name", list[3].name);
	U("memory", list[3].memory_usage.vram_mem);
	S("container", list[3].container_name);
	U("units", list[3].cu_occupancy);
	U("sdma", list[3].sdma_usage);

	char text[8];
	NEED(amdsmi_get_gpu_compute_partition(c, text, sizeof(text)));
	S("compute partition", text);
	amdsmi_accelerator_partition_profile_config_t *parts = calloc(1, sizeof(*parts));
	NEED(amdsmi_get_gpu_accelerator_partition_profile_config(c, parts));
	U("profiles", parts->num_profiles);
	U("parts of profile 3", parts->profiles[3].num_partitions);
	U("memory of profile 3", parts->profiles[3].memory_caps.nps_cap_mask);
	U("resource 13 shared by", parts->resource_profiles[13].num_partitions_share_resource);

	uint64_t hops, weight;
	amdsmi_link_type_t type;
	NEED(amdsmi_topo_get_link_type(cards[1], cards[2], &hops, &type));
	NEED(amdsmi_topo_get_link_weight(cards[1], cards[2], &weight));
	U("link", type);
	U("hops", hops);
	U("weight", weight);
	amdsmi_topology_nearest_t near;
	NEED(amdsmi_get_link_topology_nearest(c, AMDSMI_LINK_TYPE_XGMI, &near));
	U("near", near.count);
	U("nearest", near.processor_list[0] == cards[0]);
	amdsmi_link_metrics_t links;
	NEED(amdsmi_get_link_metrics(c, &links));
	U("links", links.num_links);
	U("peer", links.links[1].bdf.bus_number);
	U("link rate", links.links[1].bit_rate);

	NEED(amdsmi_set_power_cap(c, 0, 400000000));
	U("cap too high", amdsmi_set_power_cap(c, 0, 4000000000));
	NEED(amdsmi_init_gpu_event_notification(c));
	NEED(amdsmi_set_gpu_event_notification_mask(c, ~0ULL));
	amdsmi_evt_notification_data_t event;
	one = 1;
	U("no event", amdsmi_get_gpu_event_notification(1, &one, &event));
	NEED(amdsmi_stop_gpu_event_notification(c));

	U("no pointer", amdsmi_get_gpu_activity(c, NULL));
	U("no handle", amdsmi_get_gpu_activity(NULL, &usage));
	U("a strange handle", amdsmi_get_gpu_activity(&usage, &usage));
	U("not supported", amdsmi_get_gpu_overdrive_level(c, &one));
	NEED(amdsmi_shut_down());
	U("after shutdown", amdsmi_get_gpu_activity(c, &usage));
	return 0;
}
