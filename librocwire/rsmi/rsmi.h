/*
 * ROCm SMI's C interface (librocm_smi64.so.1, 7.x) as far as it is served, in front of AMD SMI's: the older interface has the same
 * questions under other names, cards by number and not by handle, and statuses and some structs of its own. What is not served
 * answers RSMI_STATUS_NOT_SUPPORTED (absent.c).
 */
#ifndef ROCWIRE_RSMI_H
#define ROCWIRE_RSMI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* AMD SMI's library has two functions of this interface, too: see smi.S. */
#define rsmi_init rw_rsmi_init
#define rsmi_is_P2P_accessible rw_rsmi_is_P2P_accessible
#include "amd_smi/amdsmi.h"
#undef rsmi_init
#undef rsmi_is_P2P_accessible

#define RSMI __attribute__((visibility("default")))

typedef uint32_t rsmi_status_t;

enum {
	RSMI_STATUS_SUCCESS = 0,
	RSMI_STATUS_INVALID_ARGS = 1,
	RSMI_STATUS_NOT_SUPPORTED = 2,
	RSMI_STATUS_FILE_ERROR = 3,
	RSMI_STATUS_PERMISSION = 4,
	RSMI_STATUS_OUT_OF_RESOURCES = 5,
	RSMI_STATUS_INTERNAL_EXCEPTION = 6,
	RSMI_STATUS_INPUT_OUT_OF_BOUNDS = 7,
	RSMI_STATUS_INIT_ERROR = 8,
	RSMI_STATUS_NOT_YET_IMPLEMENTED = 9,
	RSMI_STATUS_NOT_FOUND = 10,
	RSMI_STATUS_INSUFFICIENT_SIZE = 11,
	RSMI_STATUS_INTERRUPT = 12,
	RSMI_STATUS_UNEXPECTED_SIZE = 13,
	RSMI_STATUS_NO_DATA = 14,
	RSMI_STATUS_UNEXPECTED_DATA = 15,
	RSMI_STATUS_BUSY = 16,
	RSMI_STATUS_REFCOUNT_OVERFLOW = 17,
	RSMI_STATUS_SETTING_UNAVAILABLE = 18,
	RSMI_STATUS_AMDGPU_RESTART_ERR = 19,
	RSMI_STATUS_DRM_ERROR = 20,
	RSMI_STATUS_FAIL_LOAD_MODULE = 21,
	RSMI_STATUS_FAIL_LOAD_SYMBOL = 22,
	RSMI_STATUS_UNKNOWN_ERROR = 0xFFFFFFFF,
};

typedef struct {
	uint32_t major, minor, patch;
	const char *build;
} rsmi_version_t;

typedef struct {
	uint32_t process_id, pasid;
	uint64_t vram_usage, sdma_usage; /* bytes; microseconds */
	uint32_t cu_occupancy;
} rsmi_process_info_t;

typedef struct {
	uint64_t correctable_err, uncorrectable_err;
} rsmi_error_count_t;

typedef struct {
	uint32_t type;
	uint64_t value;
} rsmi_utilization_counter_t;

/* A part of a divided card in rsmi_gpu_metrics_t. */
typedef struct {
	uint32_t gfx_busy_inst[8];
	uint16_t jpeg_busy[32], vcn_busy[4];
	uint64_t gfx_busy_acc[8], gfx_below_host_limit_acc[8];
} rsmi_xcp_t;

/* Up to accumulation_counter each figure of AMD SMI's struct has its place here too, some in fewer bits. */
typedef struct {
	struct {
		uint16_t structure_size;
		uint8_t format_revision, content_revision;
	} common_header;
	uint16_t temperature_edge, temperature_hotspot, temperature_mem, temperature_vrgfx, temperature_vrsoc, temperature_vrmem;
	uint16_t average_gfx_activity, average_umc_activity, average_mm_activity, average_socket_power;
	uint64_t energy_accumulator, system_clock_counter;
	uint16_t average_gfxclk_frequency, average_socclk_frequency, average_uclk_frequency, average_vclk0_frequency, average_dclk0_frequency;
	uint16_t average_vclk1_frequency, average_dclk1_frequency;
	uint16_t current_gfxclk, current_socclk, current_uclk, current_vclk0, current_dclk0, current_vclk1, current_dclk1;
	uint32_t throttle_status;
	uint16_t current_fan_speed, pcie_link_width, pcie_link_speed;
	uint32_t gfx_activity_acc, mem_activity_acc;
	uint16_t temperature_hbm[4];
	uint64_t firmware_timestamp;
	uint16_t voltage_soc, voltage_gfx, voltage_mem;
	uint64_t indep_throttle_status;
	uint16_t current_socket_power, vcn_activity[4];
	uint32_t gfxclk_lock_status;
	uint16_t xgmi_link_width, xgmi_link_speed;
	uint64_t pcie_bandwidth_acc, pcie_bandwidth_inst, pcie_l0_to_recov_count_acc, pcie_replay_count_acc, pcie_replay_rover_count_acc;
	uint64_t xgmi_read_data_acc[8], xgmi_write_data_acc[8];
	uint16_t current_gfxclks[8], current_socclks[4], current_vclk0s[4], current_dclk0s[4], jpeg_activity[32];
	uint32_t pcie_nak_sent_count_acc, pcie_nak_rcvd_count_acc;
	uint64_t accumulation_counter, prochot_residency_acc, ppt_residency_acc, socket_thm_residency_acc, vr_thm_residency_acc, hbm_thm_residency_acc;
	uint16_t num_partition;
	rsmi_xcp_t xcp_stats[8];
	uint32_t pcie_lc_perf_other_end_recovery;
	uint64_t vram_max_bandwidth;
	uint16_t xgmi_link_status[8];
} rsmi_gpu_metrics_t;

#include "layout.h"

#pragma GCC visibility push(hidden)

/* rsmi_status is what an answer of AMD SMI is called here. */
rsmi_status_t rw_status(amdsmi_status_t s);

/* rw_card is the handle of a card by its number. */
rsmi_status_t rw_card(uint32_t index, amdsmi_processor_handle *card);

/* rw_number is the number of a card by its handle; rw_cards how many there are. */
uint32_t rw_cards(void);

/* rw_text gives a text: what does not fit is cut, and that is told. */
rsmi_status_t rw_text(char *to, size_t len, const char *text);

#pragma GCC visibility pop

/* CARD begins a function that is about the card of a number. */
#define CARD(index) \
	amdsmi_processor_handle card; \
	rsmi_status_t found = rw_card(index, &card); \
	if (found != RSMI_STATUS_SUCCESS) \
		return found

/* ASK answers with what call writes to out. Nowhere to write to is a question too, whether there is an answer: INVALID_ARGS is yes. */
#define ASK(type, to, call) \
	do { \
		type value, *out = &value; \
		memset(out, 0, sizeof(*out)); \
		rsmi_status_t answer = rw_status(call); \
		if (answer != RSMI_STATUS_SUCCESS) \
			return answer; \
		if (!(to)) \
			return RSMI_STATUS_INVALID_ARGS; \
		*(to) = value; \
		return answer; \
	} while (0)

/* INFO reads a struct of AMD SMI. */
#define INFO(type, name, call) \
	type name; \
	memset(&name, 0, sizeof(name)); \
	do { \
		rsmi_status_t answer = rw_status(call); \
		if (answer != RSMI_STATUS_SUCCESS) \
			return answer; \
	} while (0)

/* GIVE answers with a value that is at hand. */
#define GIVE(to, value) \
	do { \
		if (!(to)) \
			return RSMI_STATUS_INVALID_ARGS; \
		*(to) = (value); \
		return RSMI_STATUS_SUCCESS; \
	} while (0)

#endif
