/* What a card does now. */
#include <string.h>

#include "rsmi.h"

/* Power is in microwatts here and in watts there, where all bits set are no figure. */
static rsmi_status_t power(amdsmi_processor_handle card, uint64_t *to, uint32_t *type, bool average)
{
	INFO(amdsmi_power_info_t, info, amdsmi_get_power_info(card, &info));
	bool current = info.current_socket_power != UINT32_MAX && info.current_socket_power != UINT16_MAX;
	bool mean = info.average_socket_power != UINT32_MAX && info.average_socket_power != UINT16_MAX;
	if (!current && !mean)
		return RSMI_STATUS_NOT_SUPPORTED;
	average = mean && (average || !current);
	if (type)
		*type = average ? 0 : 1;
	GIVE(to, (uint64_t)(average ? info.average_socket_power : info.current_socket_power) * 1000000);
}

RSMI rsmi_status_t rsmi_dev_power_ave_get(uint32_t index, uint32_t sensor, uint64_t *to)
{
	CARD(index);
	return sensor ? RSMI_STATUS_NOT_SUPPORTED : power(card, to, NULL, true);
}

RSMI rsmi_status_t rsmi_dev_current_socket_power_get(uint32_t index, uint64_t *to)
{
	CARD(index);
	return power(card, to, NULL, false);
}

RSMI rsmi_status_t rsmi_dev_power_get(uint32_t index, uint64_t *to, uint32_t *type)
{
	CARD(index);
	return type ? power(card, to, type, false) : RSMI_STATUS_INVALID_ARGS;
}

RSMI rsmi_status_t rsmi_dev_power_cap_get(uint32_t index, uint32_t sensor, uint64_t *to)
{
	CARD(index);
	INFO(amdsmi_power_cap_info_t, info, amdsmi_get_power_cap_info(card, sensor, &info));
	GIVE(to, info.power_cap);
}

RSMI rsmi_status_t rsmi_dev_power_cap_default_get(uint32_t index, uint64_t *to)
{
	CARD(index);
	INFO(amdsmi_power_cap_info_t, info, amdsmi_get_power_cap_info(card, 0, &info));
	GIVE(to, info.default_power_cap);
}

RSMI rsmi_status_t rsmi_dev_power_cap_range_get(uint32_t index, uint32_t sensor, uint64_t *max, uint64_t *min)
{
	CARD(index);
	INFO(amdsmi_power_cap_info_t, info, amdsmi_get_power_cap_info(card, sensor, &info));
	if (!max || !min)
		return RSMI_STATUS_INVALID_ARGS;
	*max = info.max_power_cap;
	*min = info.min_power_cap;
	return RSMI_STATUS_SUCCESS;
}

RSMI rsmi_status_t rsmi_dev_energy_count_get(uint32_t index, uint64_t *count, float *resolution, uint64_t *time)
{
	CARD(index);
	if (!count || !resolution || !time)
		return RSMI_STATUS_INVALID_ARGS;
	return rw_status(amdsmi_get_energy_count(card, count, resolution, time));
}

/* Degrees there, thousandths of one here. */
RSMI rsmi_status_t rsmi_dev_temp_metric_get(uint32_t index, uint32_t sensor, uint32_t metric, int64_t *to)
{
	CARD(index);
	if (sensor > AMDSMI_TEMPERATURE_TYPE_HBM_3 || metric > AMDSMI_TEMP_HIGHEST)
		return RSMI_STATUS_INVALID_ARGS;
	int64_t t = 0;
	rsmi_status_t s = rw_status(amdsmi_get_temp_metric(card, (amdsmi_temperature_type_t)sensor, (amdsmi_temperature_metric_t)metric, &t));
	if (s != RSMI_STATUS_SUCCESS)
		return s;
	GIVE(to, t * 1000);
}

RSMI rsmi_status_t rsmi_dev_volt_metric_get(uint32_t index, uint32_t sensor, uint32_t metric, int64_t *to)
{
	CARD(index);
	ASK(int64_t, to, amdsmi_get_gpu_volt_metric(card, (amdsmi_voltage_type_t)sensor, (amdsmi_voltage_metric_t)metric, out));
}

#define PLAIN(function, type, call) \
	RSMI rsmi_status_t function(uint32_t index, type *to) \
	{ \
		CARD(index); \
		ASK(type, to, call(card, out)); \
	}
#define SENSOR(function, type, call) \
	RSMI rsmi_status_t function(uint32_t index, uint32_t sensor, type *to) \
	{ \
		CARD(index); \
		ASK(type, to, call(card, sensor, out)); \
	}

PLAIN(rsmi_dev_busy_percent_get, uint32_t, amdsmi_get_gpu_busy_percent)
PLAIN(rsmi_dev_pci_replay_counter_get, uint64_t, amdsmi_get_gpu_pci_replay_counter)
PLAIN(rsmi_dev_overdrive_level_get, uint32_t, amdsmi_get_gpu_overdrive_level)
PLAIN(rsmi_dev_mem_overdrive_level_get, uint32_t, amdsmi_get_gpu_mem_overdrive_level)
PLAIN(rsmi_dev_perf_level_get, amdsmi_dev_perf_level_t, amdsmi_get_gpu_perf_level)
PLAIN(rsmi_dev_metrics_xcd_counter_get, uint16_t, amdsmi_get_gpu_xcd_counter)
PLAIN(rsmi_dev_ecc_enabled_get, uint64_t, amdsmi_get_gpu_ecc_enabled)
PLAIN(rsmi_dev_xgmi_error_status, amdsmi_xgmi_status_t, amdsmi_gpu_xgmi_error_status)
PLAIN(rsmi_dev_pci_bandwidth_get, amdsmi_pcie_bandwidth_t, amdsmi_get_gpu_pci_bandwidth)
SENSOR(rsmi_dev_fan_rpms_get, int64_t, amdsmi_get_gpu_fan_rpms)
SENSOR(rsmi_dev_fan_speed_get, int64_t, amdsmi_get_gpu_fan_speed)
SENSOR(rsmi_dev_fan_speed_max_get, uint64_t, amdsmi_get_gpu_fan_speed_max)
SENSOR(rsmi_dev_memory_total_get, uint64_t, amdsmi_get_gpu_memory_total)
SENSOR(rsmi_dev_memory_usage_get, uint64_t, amdsmi_get_gpu_memory_usage)
SENSOR(rsmi_dev_gpu_clk_freq_get, amdsmi_frequencies_t, amdsmi_get_clk_freq)

RSMI rsmi_status_t rsmi_dev_memory_busy_percent_get(uint32_t index, uint32_t *to)
{
	CARD(index);
	INFO(amdsmi_engine_usage_t, use, amdsmi_get_gpu_activity(card, &use));
	if (use.umc_activity > 100)
		return RSMI_STATUS_NOT_SUPPORTED;
	GIVE(to, use.umc_activity);
}

RSMI rsmi_status_t rsmi_dev_activity_avg_mm_get(uint32_t index, uint16_t *to)
{
	CARD(index);
	INFO(amdsmi_engine_usage_t, use, amdsmi_get_gpu_activity(card, &use));
	if (use.mm_activity > 100)
		return RSMI_STATUS_NOT_SUPPORTED;
	GIVE(to, (uint16_t)use.mm_activity);
}

RSMI rsmi_status_t rsmi_dev_pci_throughput_get(uint32_t index, uint64_t *sent, uint64_t *received, uint64_t *most)
{
	CARD(index);
	return rw_status(amdsmi_get_gpu_pci_throughput(card, sent, received, most));
}

/* The counters that this interface has are two of those there, one by one: the structs differ. */
RSMI rsmi_status_t rsmi_utilization_count_get(uint32_t index, rsmi_utilization_counter_t *list, uint32_t n, uint64_t *time)
{
	CARD(index);
	if (!list || !time || n == 0)
		return RSMI_STATUS_INVALID_ARGS;
	for (uint32_t i = 0; i < n; i++) {
		if (list[i].type > AMDSMI_COARSE_GRAIN_MEM_ACTIVITY)
			return RSMI_STATUS_INVALID_ARGS;
		amdsmi_utilization_counter_t one = {.type = (amdsmi_utilization_counter_type_t)list[i].type};
		rsmi_status_t s = rw_status(amdsmi_get_utilization_count(card, &one, 1, time));
		if (s != RSMI_STATUS_SUCCESS)
			return s;
		list[i].value = one.value;
	}
	return RSMI_STATUS_SUCCESS;
}

RSMI rsmi_status_t rsmi_dev_ecc_count_get(uint32_t index, uint64_t block, rsmi_error_count_t *to)
{
	CARD(index);
	INFO(amdsmi_error_count_t, n, amdsmi_get_gpu_ecc_count(card, (amdsmi_gpu_block_t)block, &n));
	GIVE(to, ((rsmi_error_count_t){n.correctable_count, n.uncorrectable_count}));
}

RSMI rsmi_status_t rsmi_dev_ecc_status_get(uint32_t index, uint64_t block, amdsmi_ras_err_state_t *to)
{
	CARD(index);
	ASK(amdsmi_ras_err_state_t, to, amdsmi_get_gpu_ecc_status(card, (amdsmi_gpu_block_t)block, out));
}

RSMI rsmi_status_t rsmi_dev_memory_reserved_pages_get(uint32_t index, uint32_t *n, amdsmi_retired_page_record_t *list)
{
	CARD(index);
	return rw_status(amdsmi_get_gpu_memory_reserved_pages(card, n, list));
}
