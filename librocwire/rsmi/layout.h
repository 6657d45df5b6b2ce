/*
 * What the vendor's header (ROCm SMI 7.6) says of sizes and places: programs are compiled with that one. The last three are AMD SMI's
 * structs, which are passed on as they are.
 */
#ifndef ROCWIRE_RSMI_LAYOUT_H
#define ROCWIRE_RSMI_LAYOUT_H

#define RW_CHECK(c) _Static_assert(c, #c)

RW_CHECK(sizeof(rsmi_version_t) == 24);
RW_CHECK(offsetof(rsmi_version_t, major) == 0);
RW_CHECK(offsetof(rsmi_version_t, minor) == 4);
RW_CHECK(offsetof(rsmi_version_t, patch) == 8);
RW_CHECK(offsetof(rsmi_version_t, build) == 16);
RW_CHECK(sizeof(rsmi_process_info_t) == 32);
RW_CHECK(offsetof(rsmi_process_info_t, process_id) == 0);
RW_CHECK(offsetof(rsmi_process_info_t, pasid) == 4);
RW_CHECK(offsetof(rsmi_process_info_t, vram_usage) == 8);
RW_CHECK(offsetof(rsmi_process_info_t, sdma_usage) == 16);
RW_CHECK(offsetof(rsmi_process_info_t, cu_occupancy) == 24);
RW_CHECK(sizeof(rsmi_error_count_t) == 16);
RW_CHECK(offsetof(rsmi_error_count_t, correctable_err) == 0);
RW_CHECK(offsetof(rsmi_error_count_t, uncorrectable_err) == 8);
RW_CHECK(sizeof(rsmi_utilization_counter_t) == 16);
RW_CHECK(offsetof(rsmi_utilization_counter_t, type) == 0);
RW_CHECK(offsetof(rsmi_utilization_counter_t, value) == 8);
RW_CHECK(sizeof(rsmi_gpu_metrics_t) == 2368);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, common_header) == 0);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, temperature_edge) == 4);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, temperature_hotspot) == 6);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, temperature_mem) == 8);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, temperature_vrgfx) == 10);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, temperature_vrsoc) == 12);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, temperature_vrmem) == 14);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, average_gfx_activity) == 16);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, average_umc_activity) == 18);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, average_mm_activity) == 20);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, average_socket_power) == 22);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, energy_accumulator) == 24);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, system_clock_counter) == 32);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, average_gfxclk_frequency) == 40);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, average_socclk_frequency) == 42);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, average_uclk_frequency) == 44);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, average_vclk0_frequency) == 46);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, average_dclk0_frequency) == 48);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, average_vclk1_frequency) == 50);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, average_dclk1_frequency) == 52);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, current_gfxclk) == 54);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, current_socclk) == 56);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, current_uclk) == 58);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, current_vclk0) == 60);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, current_dclk0) == 62);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, current_vclk1) == 64);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, current_dclk1) == 66);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, throttle_status) == 68);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, current_fan_speed) == 72);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, pcie_link_width) == 74);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, pcie_link_speed) == 76);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, gfx_activity_acc) == 80);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, mem_activity_acc) == 84);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, temperature_hbm) == 88);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, firmware_timestamp) == 96);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, voltage_soc) == 104);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, voltage_gfx) == 106);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, voltage_mem) == 108);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, indep_throttle_status) == 112);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, current_socket_power) == 120);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, vcn_activity) == 122);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, gfxclk_lock_status) == 132);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, xgmi_link_width) == 136);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, xgmi_link_speed) == 138);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, pcie_bandwidth_acc) == 144);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, pcie_bandwidth_inst) == 152);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, pcie_l0_to_recov_count_acc) == 160);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, pcie_replay_count_acc) == 168);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, pcie_replay_rover_count_acc) == 176);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, xgmi_read_data_acc) == 184);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, xgmi_write_data_acc) == 248);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, current_gfxclks) == 312);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, current_socclks) == 328);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, current_vclk0s) == 336);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, current_dclk0s) == 344);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, jpeg_activity) == 352);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, pcie_nak_sent_count_acc) == 416);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, pcie_nak_rcvd_count_acc) == 420);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, accumulation_counter) == 424);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, prochot_residency_acc) == 432);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, ppt_residency_acc) == 440);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, socket_thm_residency_acc) == 448);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, vr_thm_residency_acc) == 456);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, hbm_thm_residency_acc) == 464);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, num_partition) == 472);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, xcp_stats) == 480);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, pcie_lc_perf_other_end_recovery) == 2336);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, vram_max_bandwidth) == 2344);
RW_CHECK(offsetof(rsmi_gpu_metrics_t, xgmi_link_status) == 2352);
RW_CHECK(sizeof(rsmi_xcp_t) == 232);
RW_CHECK(sizeof(amdsmi_frequencies_t) == 280);
RW_CHECK(offsetof(amdsmi_frequencies_t, has_deep_sleep) == 0);
RW_CHECK(offsetof(amdsmi_frequencies_t, num_supported) == 4);
RW_CHECK(offsetof(amdsmi_frequencies_t, current) == 8);
RW_CHECK(offsetof(amdsmi_frequencies_t, frequency) == 16);
RW_CHECK(sizeof(amdsmi_pcie_bandwidth_t) == 416);
RW_CHECK(offsetof(amdsmi_pcie_bandwidth_t, transfer_rate) == 0);
RW_CHECK(offsetof(amdsmi_pcie_bandwidth_t, lanes) == 280);
RW_CHECK(sizeof(amdsmi_retired_page_record_t) == 24);
RW_CHECK(offsetof(amdsmi_retired_page_record_t, page_address) == 0);
RW_CHECK(offsetof(amdsmi_retired_page_record_t, page_size) == 8);
RW_CHECK(offsetof(amdsmi_retired_page_record_t, status) == 16);

#undef RW_CHECK

#endif
