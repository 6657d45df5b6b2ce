package amdsmi

// function is one of the library's functions that this package calls.
type function int

const (
	fnInit function = iota
	fnShutDown
	fnLibVersion
	fnSocketHandles
	fnProcessorHandles
	fnProcessorType
	fnDeviceBDF
	fnDeviceUUID
	fnASICInfo
	fnKFDInfo
	fnEnumerationInfo
	fnBoardInfo
	fnVBIOSInfo
	fnDriverInfo
	fnVRAMInfo
	fnCacheInfo
	fnPCIeInfo
	fnNUMANode
	fnNUMAAffinity
	fnCPUAffinity
	fnVirtualization
	fnPowerCapInfo
	fnPowerInfo
	fnEnergyCount
	fnActivity
	fnMemoryTotal
	fnMemoryUsage
	fnClockInfo
	fnTempMetric
	fnFanRPMs
	fnFanSpeed
	fnFanSpeedMax
	fnGPUMetrics
	fnPerfLevel
	fnPowerManagement
	fnViolationStatus
	fnProcessList
	fnFirmware
	fnTotalECC
	fnBlockECC
	fnECCEnabled
	fnRASFeature
	fnBadPageInfo
	fnBadPageThreshold
	fnXGMIInfo
	fnLinkMetrics
	fnXGMILinkStatus
	fnXGMIErrorStatus
	fnComputePartition
	fnMemoryPartition
	fnMemoryPartitionConfig
	fnPartitionProfiles
	fnLinkType
	fnLinkWeight
	fnP2PStatus
	fnP2PAccessible
	fnMinMaxBandwidth
	fnEventInit
	fnEventMask
	fnEventGet
	fnEventStop
	fnSetPowerCap
	fnSetPerfLevel
	fnSetClockLimit
	fnSetDeterminism
	fnSetFanSpeed
	fnResetFan
	fnSetComputePartition
	fnSetMemoryPartition
	fnResetGPU
	numFunctions
)

// functionNames are the C names. Their parameters are the same in all ABIs known,
// but for what they point to.
var functionNames = [numFunctions]string{
	fnInit:                  "amdsmi_init",
	fnShutDown:              "amdsmi_shut_down",
	fnLibVersion:            "amdsmi_get_lib_version",
	fnSocketHandles:         "amdsmi_get_socket_handles",
	fnProcessorHandles:      "amdsmi_get_processor_handles",
	fnProcessorType:         "amdsmi_get_processor_type",
	fnDeviceBDF:             "amdsmi_get_gpu_device_bdf",
	fnDeviceUUID:            "amdsmi_get_gpu_device_uuid",
	fnASICInfo:              "amdsmi_get_gpu_asic_info",
	fnKFDInfo:               "amdsmi_get_gpu_kfd_info",
	fnEnumerationInfo:       "amdsmi_get_gpu_enumeration_info",
	fnBoardInfo:             "amdsmi_get_gpu_board_info",
	fnVBIOSInfo:             "amdsmi_get_gpu_vbios_info",
	fnDriverInfo:            "amdsmi_get_gpu_driver_info",
	fnVRAMInfo:              "amdsmi_get_gpu_vram_info",
	fnCacheInfo:             "amdsmi_get_gpu_cache_info",
	fnPCIeInfo:              "amdsmi_get_pcie_info",
	fnNUMANode:              "amdsmi_topo_get_numa_node_number",
	fnNUMAAffinity:          "amdsmi_get_gpu_topo_numa_affinity",
	fnCPUAffinity:           "amdsmi_get_cpu_affinity_with_scope",
	fnVirtualization:        "amdsmi_get_gpu_virtualization_mode",
	fnPowerCapInfo:          "amdsmi_get_power_cap_info",
	fnPowerInfo:             "amdsmi_get_power_info",
	fnEnergyCount:           "amdsmi_get_energy_count",
	fnActivity:              "amdsmi_get_gpu_activity",
	fnMemoryTotal:           "amdsmi_get_gpu_memory_total",
	fnMemoryUsage:           "amdsmi_get_gpu_memory_usage",
	fnClockInfo:             "amdsmi_get_clock_info",
	fnTempMetric:            "amdsmi_get_temp_metric",
	fnFanRPMs:               "amdsmi_get_gpu_fan_rpms",
	fnFanSpeed:              "amdsmi_get_gpu_fan_speed",
	fnFanSpeedMax:           "amdsmi_get_gpu_fan_speed_max",
	fnGPUMetrics:            "amdsmi_get_gpu_metrics_info",
	fnPerfLevel:             "amdsmi_get_gpu_perf_level",
	fnPowerManagement:       "amdsmi_is_gpu_power_management_enabled",
	fnViolationStatus:       "amdsmi_get_violation_status",
	fnProcessList:           "amdsmi_get_gpu_process_list",
	fnFirmware:              "amdsmi_get_fw_info",
	fnTotalECC:              "amdsmi_get_gpu_total_ecc_count",
	fnBlockECC:              "amdsmi_get_gpu_ecc_count",
	fnECCEnabled:            "amdsmi_get_gpu_ecc_enabled",
	fnRASFeature:            "amdsmi_get_gpu_ras_feature_info",
	fnBadPageInfo:           "amdsmi_get_gpu_bad_page_info",
	fnBadPageThreshold:      "amdsmi_get_gpu_bad_page_threshold",
	fnXGMIInfo:              "amdsmi_get_xgmi_info",
	fnLinkMetrics:           "amdsmi_get_link_metrics",
	fnXGMILinkStatus:        "amdsmi_get_gpu_xgmi_link_status",
	fnXGMIErrorStatus:       "amdsmi_gpu_xgmi_error_status",
	fnComputePartition:      "amdsmi_get_gpu_compute_partition",
	fnMemoryPartition:       "amdsmi_get_gpu_memory_partition",
	fnMemoryPartitionConfig: "amdsmi_get_gpu_memory_partition_config",
	fnPartitionProfiles:     "amdsmi_get_gpu_accelerator_partition_profile_config",
	fnLinkType:              "amdsmi_topo_get_link_type",
	fnLinkWeight:            "amdsmi_topo_get_link_weight",
	fnP2PStatus:             "amdsmi_topo_get_p2p_status",
	fnP2PAccessible:         "amdsmi_is_P2P_accessible",
	fnMinMaxBandwidth:       "amdsmi_get_minmax_bandwidth_between_processors",
	fnEventInit:             "amdsmi_init_gpu_event_notification",
	fnEventMask:             "amdsmi_set_gpu_event_notification_mask",
	fnEventGet:              "amdsmi_get_gpu_event_notification",
	fnEventStop:             "amdsmi_stop_gpu_event_notification",
	fnSetPowerCap:           "amdsmi_set_power_cap",
	fnSetPerfLevel:          "amdsmi_set_gpu_perf_level",
	fnSetClockLimit:         "amdsmi_set_gpu_clk_limit",
	fnSetDeterminism:        "amdsmi_set_gpu_perf_determinism_mode",
	fnSetFanSpeed:           "amdsmi_set_gpu_fan_speed",
	fnResetFan:              "amdsmi_reset_gpu_fan",
	fnSetComputePartition:   "amdsmi_set_gpu_compute_partition",
	fnSetMemoryPartition:    "amdsmi_set_gpu_memory_partition",
	fnResetGPU:              "amdsmi_reset_gpu",
}

// needed are the functions without which there is nothing to be told.
var needed = []function{fnInit, fnShutDown, fnLibVersion, fnSocketHandles, fnProcessorHandles}
