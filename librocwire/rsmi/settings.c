/* What is changed. Who may is AMD SMI's business. */
#include "rsmi.h"

#define SET(function, call, ...) \
	RSMI rsmi_status_t function(uint32_t index, __VA_ARGS__) \
	{ \
		CARD(index); \
		return rw_status(call); \
	}
#define DO(function, call) \
	RSMI rsmi_status_t function(uint32_t index) \
	{ \
		CARD(index); \
		return rw_status(call(card)); \
	}

SET(rsmi_dev_perf_level_set, amdsmi_set_gpu_perf_level(card, level), amdsmi_dev_perf_level_t level)
SET(rsmi_dev_perf_level_set_v1, amdsmi_set_gpu_perf_level(card, level), amdsmi_dev_perf_level_t level)
SET(rsmi_perf_determinism_mode_set, amdsmi_set_gpu_perf_determinism_mode(card, mhz), uint64_t mhz)
SET(rsmi_dev_gpu_clk_freq_set, amdsmi_set_clk_freq(card, clock, mask), amdsmi_clk_type_t clock, uint64_t mask)
SET(rsmi_dev_od_clk_info_set, amdsmi_set_gpu_od_clk_info(card, which, mhz, clock), amdsmi_freq_ind_t which, uint64_t mhz, amdsmi_clk_type_t clock)
SET(rsmi_dev_clk_extremum_set, amdsmi_set_gpu_clk_limit(card, clock, which == AMDSMI_FREQ_IND_MIN ? CLK_LIMIT_MIN : CLK_LIMIT_MAX, mhz), amdsmi_freq_ind_t which, uint64_t mhz,
    amdsmi_clk_type_t clock)
SET(rsmi_dev_power_cap_set, amdsmi_set_power_cap(card, sensor, microwatts), uint32_t sensor, uint64_t microwatts)
SET(rsmi_dev_fan_speed_set, amdsmi_set_gpu_fan_speed(card, sensor, speed), uint32_t sensor, uint64_t speed)
SET(rsmi_dev_fan_reset, amdsmi_reset_gpu_fan(card, sensor), uint32_t sensor)
SET(rsmi_dev_pci_bandwidth_set, amdsmi_set_gpu_pci_bandwidth(card, mask), uint64_t mask)
SET(rsmi_dev_compute_partition_set, amdsmi_set_gpu_compute_partition(card, mode), amdsmi_compute_partition_type_t mode)
DO(rsmi_dev_gpu_reset, amdsmi_reset_gpu)
DO(rsmi_dev_xgmi_error_reset, amdsmi_reset_gpu_xgmi_error)

RSMI rsmi_status_t rsmi_dev_clk_range_set(uint32_t index, uint64_t min, uint64_t max, amdsmi_clk_type_t clock)
{
	CARD(index);
	if (min > max)
		return RSMI_STATUS_INVALID_ARGS;
	rsmi_status_t s = rw_status(amdsmi_set_gpu_clk_limit(card, clock, CLK_LIMIT_MAX, max));
	return s == RSMI_STATUS_SUCCESS ? rw_status(amdsmi_set_gpu_clk_limit(card, clock, CLK_LIMIT_MIN, min)) : s;
}

/* Modes are numbered here, and are how many parts there are there. */
RSMI rsmi_status_t rsmi_dev_memory_partition_set(uint32_t index, uint32_t mode)
{
	CARD(index);
	if (mode < 1 || mode > 4)
		return RSMI_STATUS_INVALID_ARGS;
	return rw_status(amdsmi_set_gpu_memory_partition(card, (amdsmi_memory_partition_type_t)(1U << (mode - 1))));
}
