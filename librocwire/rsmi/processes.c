/* Who uses the cards. */
#include <stdlib.h>
#include <string.h>

#include "rsmi.h"

static rsmi_process_info_t of(const amdsmi_process_info_t *p)
{
	return (rsmi_process_info_t){.process_id = p->process_id, .vram_usage = p->vram_usage, .sdma_usage = p->sdma_usage, .cu_occupancy = p->cu_occupancy};
}

RSMI rsmi_status_t rsmi_compute_process_info_get(rsmi_process_info_t *list, uint32_t *n)
{
	if (!n)
		return RSMI_STATUS_INVALID_ARGS;
	if (!list)
		return rw_status(amdsmi_get_gpu_compute_process_info(NULL, n));
	uint32_t room = *n;
	amdsmi_process_info_t *all = calloc(room ? room : 1, sizeof(*all));
	if (!all)
		return RSMI_STATUS_OUT_OF_RESOURCES;
	rsmi_status_t s = rw_status(amdsmi_get_gpu_compute_process_info(all, n));
	if (s == RSMI_STATUS_SUCCESS || s == RSMI_STATUS_INSUFFICIENT_SIZE)
		for (uint32_t i = 0; i < *n && i < room; i++)
			list[i] = of(&all[i]);
	free(all);
	return s;
}

RSMI rsmi_status_t rsmi_compute_process_info_by_pid_get(uint32_t pid, rsmi_process_info_t *to)
{
	INFO(amdsmi_process_info_t, p, amdsmi_get_gpu_compute_process_info_by_pid(pid, &p));
	GIVE(to, of(&p));
}

RSMI rsmi_status_t rsmi_compute_process_gpus_get(uint32_t pid, uint32_t *list, uint32_t *n)
{
	return rw_status(amdsmi_get_gpu_compute_process_gpus(pid, list, n));
}

/* One process on one card. */
RSMI rsmi_status_t rsmi_compute_process_info_by_device_get(uint32_t pid, uint32_t index, rsmi_process_info_t *to)
{
	CARD(index);
	uint32_t n = 0;
	amdsmi_status_t s = amdsmi_get_gpu_process_list(card, &n, NULL);
	if (s != AMDSMI_STATUS_SUCCESS && s != AMDSMI_STATUS_OUT_OF_RESOURCES)
		return rw_status(s);
	n += 16; /* of those that come meanwhile */
	amdsmi_proc_info_t *list = calloc(n, sizeof(*list));
	if (!list)
		return RSMI_STATUS_OUT_OF_RESOURCES;
	s = amdsmi_get_gpu_process_list(card, &n, list);
	rsmi_status_t answer = s == AMDSMI_STATUS_SUCCESS ? RSMI_STATUS_NOT_FOUND : rw_status(s);
	for (uint32_t i = 0; s == AMDSMI_STATUS_SUCCESS && i < n; i++) {
		if (list[i].pid != pid)
			continue;
		answer = to ? RSMI_STATUS_SUCCESS : RSMI_STATUS_INVALID_ARGS;
		if (to)
			*to = (rsmi_process_info_t){.process_id = pid, .vram_usage = list[i].memory_usage.vram_mem, .sdma_usage = list[i].sdma_usage, .cu_occupancy = list[i].cu_occupancy};
		break;
	}
	free(list);
	return answer;
}
