/* What a card is. */
#include <stdlib.h>
#include <string.h>

#include "rsmi.h"

/* Numbers of the card and its board. */
#define ASIC_NUMBER(function, type, field) \
	RSMI rsmi_status_t function(uint32_t index, type *to) \
	{ \
		CARD(index); \
		INFO(amdsmi_asic_info_t, info, amdsmi_get_gpu_asic_info(card, &info)); \
		GIVE(to, (type)info.field); \
	}

ASIC_NUMBER(rsmi_dev_id_get, uint16_t, device_id)
ASIC_NUMBER(rsmi_dev_revision_get, uint16_t, rev_id)
ASIC_NUMBER(rsmi_dev_vendor_id_get, uint16_t, vendor_id)
ASIC_NUMBER(rsmi_dev_subsystem_id_get, uint16_t, subsystem_id)
ASIC_NUMBER(rsmi_dev_subsystem_vendor_id_get, uint16_t, subvendor_id)
ASIC_NUMBER(rsmi_dev_target_graphics_version_get, uint64_t, target_graphics_version)

/* The serial number of the chip, which AMD SMI tells as text. */
RSMI rsmi_status_t rsmi_dev_unique_id_get(uint32_t index, uint64_t *id)
{
	CARD(index);
	INFO(amdsmi_asic_info_t, info, amdsmi_get_gpu_asic_info(card, &info));
	char *end;
	uint64_t value = strtoull(info.asic_serial, &end, 16);
	if (end == info.asic_serial || *end)
		return RSMI_STATUS_NOT_SUPPORTED;
	GIVE(id, value);
}

#define TEXT(function, size, type, field, call) \
	RSMI rsmi_status_t function(uint32_t index, char *to, size len) \
	{ \
		CARD(index); \
		INFO(type, info, call(card, &info)); \
		if (!info.field[0]) \
			return RSMI_STATUS_NOT_SUPPORTED; \
		return rw_text(to, len, info.field); \
	}

TEXT(rsmi_dev_name_get, size_t, amdsmi_asic_info_t, market_name, amdsmi_get_gpu_asic_info)
TEXT(rsmi_dev_market_name_get, uint32_t, amdsmi_asic_info_t, market_name, amdsmi_get_gpu_asic_info)
TEXT(rsmi_dev_brand_get, uint32_t, amdsmi_asic_info_t, market_name, amdsmi_get_gpu_asic_info)
TEXT(rsmi_dev_vendor_name_get, size_t, amdsmi_asic_info_t, vendor_name, amdsmi_get_gpu_asic_info)
TEXT(rsmi_dev_serial_number_get, uint32_t, amdsmi_board_info_t, product_serial, amdsmi_get_gpu_board_info)
TEXT(rsmi_dev_subsystem_name_get, size_t, amdsmi_board_info_t, product_name, amdsmi_get_gpu_board_info)
TEXT(rsmi_dev_vbios_version_get, uint32_t, amdsmi_vbios_info_t, part_number, amdsmi_get_gpu_vbios_info)
TEXT(rsmi_dev_vram_vendor_get, uint32_t, amdsmi_vram_info_t, vram_vendor, amdsmi_get_gpu_vram_info)

/* How the card is divided, "SPX" and "NPS1". */
#define MODE(function, call) \
	RSMI rsmi_status_t function(uint32_t index, char *to, uint32_t len) \
	{ \
		CARD(index); \
		char mode[64] = ""; \
		rsmi_status_t s = rw_status(call(card, mode, sizeof(mode))); \
		return s == RSMI_STATUS_SUCCESS ? rw_text(to, len, mode) : s; \
	}

MODE(rsmi_dev_compute_partition_get, amdsmi_get_gpu_compute_partition)
MODE(rsmi_dev_memory_partition_get, amdsmi_get_gpu_memory_partition)

/* Where the card is. */
RSMI rsmi_status_t rsmi_dev_pci_id_get(uint32_t index, uint64_t *id)
{
	CARD(index);
	ASK(uint64_t, id, amdsmi_get_gpu_bdf_id(card, out));
}

RSMI rsmi_status_t rsmi_dev_drm_render_minor_get(uint32_t index, uint32_t *minor)
{
	CARD(index);
	INFO(amdsmi_enumeration_info_t, info, amdsmi_get_gpu_enumeration_info(card, &info));
	if (info.drm_render == UINT32_MAX)
		return RSMI_STATUS_NOT_SUPPORTED;
	GIVE(minor, info.drm_render);
}

#define KFD_NUMBER(function, type, field, none) \
	RSMI rsmi_status_t function(uint32_t index, type *to) \
	{ \
		CARD(index); \
		INFO(amdsmi_kfd_info_t, info, amdsmi_get_gpu_kfd_info(card, &info)); \
		if (info.field == none) \
			return RSMI_STATUS_NOT_SUPPORTED; \
		GIVE(to, info.field); \
	}

KFD_NUMBER(rsmi_dev_guid_get, uint64_t, kfd_id, UINT64_MAX)
KFD_NUMBER(rsmi_dev_node_id_get, uint32_t, node_id, UINT32_MAX)
KFD_NUMBER(rsmi_dev_partition_id_get, uint32_t, current_partition_id, UINT32_MAX)
