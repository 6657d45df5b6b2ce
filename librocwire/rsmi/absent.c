/*
 * Functions that programs may be linked with and that are not served: performance counters, overdrive, notices of events, iterators over
 * what is supported, and what AMD SMI does not tell. They answer that they are not supported.
 */
#include "rsmi.h"

#define ABSENT(function) \
	RSMI rsmi_status_t function(void) \
	{ \
		return RSMI_STATUS_NOT_SUPPORTED; \
	}

ABSENT(rsmi_counter_available_counters_get)
ABSENT(rsmi_counter_control)
ABSENT(rsmi_counter_read)
ABSENT(rsmi_dev_activity_metric_get)
ABSENT(rsmi_dev_compute_partition_reset)
ABSENT(rsmi_dev_counter_create)
ABSENT(rsmi_dev_counter_destroy)
ABSENT(rsmi_dev_counter_group_supported)
ABSENT(rsmi_dev_device_identifiers_get)
ABSENT(rsmi_dev_firmware_version_get)
ABSENT(rsmi_dev_memory_partition_capabilities_get)
ABSENT(rsmi_dev_memory_partition_reset)
ABSENT(rsmi_dev_metrics_header_info_get)
ABSENT(rsmi_dev_metrics_log_get)
ABSENT(rsmi_dev_od_volt_curve_regions_get)
ABSENT(rsmi_dev_od_volt_info_get)
ABSENT(rsmi_dev_od_volt_info_set)
ABSENT(rsmi_dev_overdrive_level_set)
ABSENT(rsmi_dev_overdrive_level_set_v1)
ABSENT(rsmi_dev_power_profile_presets_get)
ABSENT(rsmi_dev_power_profile_set)
ABSENT(rsmi_dev_sku_get)
ABSENT(rsmi_dev_supported_func_iterator_close)
ABSENT(rsmi_dev_supported_func_iterator_open)
ABSENT(rsmi_dev_supported_variant_iterator_open)
ABSENT(rsmi_dev_xgmi_hive_id_get)
ABSENT(rsmi_dev_xgmi_physical_id_get)
ABSENT(rsmi_event_notification_get)
ABSENT(rsmi_event_notification_init)
ABSENT(rsmi_event_notification_mask_set)
ABSENT(rsmi_event_notification_stop)
ABSENT(rsmi_func_iter_next)
ABSENT(rsmi_func_iter_value_get)
