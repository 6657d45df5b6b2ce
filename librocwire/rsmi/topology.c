/* How cards reach each other. */
#include <string.h>

#include "rsmi.h"

#define PAIR(from, to) \
	CARD(from); \
	amdsmi_processor_handle other; \
	if ((found = rw_card(to, &other)) != RSMI_STATUS_SUCCESS) \
		return found

RSMI rsmi_status_t rsmi_topo_get_numa_node_number(uint32_t index, uint32_t *node)
{
	CARD(index);
	ASK(uint32_t, node, amdsmi_topo_get_numa_node_number(card, out));
}

RSMI rsmi_status_t rsmi_topo_numa_affinity_get(uint32_t index, int32_t *node)
{
	CARD(index);
	ASK(int32_t, node, amdsmi_get_gpu_topo_numa_affinity(card, out));
}

RSMI rsmi_status_t rsmi_topo_get_link_weight(uint32_t from, uint32_t to, uint64_t *weight)
{
	PAIR(from, to);
	ASK(uint64_t, weight, amdsmi_topo_get_link_weight(card, other, out));
}

/* Types are PCIe (1) and XGMI (2) as there, and 0 for all others. */
RSMI rsmi_status_t rsmi_topo_get_link_type(uint32_t from, uint32_t to, uint64_t *hops, uint32_t *type)
{
	PAIR(from, to);
	if (!hops || !type)
		return RSMI_STATUS_INVALID_ARGS;
	amdsmi_link_type_t link = AMDSMI_LINK_TYPE_UNKNOWN;
	rsmi_status_t s = rw_status(amdsmi_topo_get_link_type(card, other, hops, &link));
	if (s == RSMI_STATUS_SUCCESS)
		*type = link == AMDSMI_LINK_TYPE_PCIE || link == AMDSMI_LINK_TYPE_XGMI ? (uint32_t)link : 0;
	return s;
}

RSMI rsmi_status_t rsmi_minmax_bandwidth_get(uint32_t from, uint32_t to, uint64_t *min, uint64_t *max)
{
	PAIR(from, to);
	if (!min || !max)
		return RSMI_STATUS_INVALID_ARGS;
	return rw_status(amdsmi_get_minmax_bandwidth_between_processors(card, other, min, max));
}

RSMI rsmi_status_t rsmi_is_P2P_accessible(uint32_t from, uint32_t to, bool *accessible)
{
	PAIR(from, to);
	ASK(bool, accessible, amdsmi_is_P2P_accessible(card, other, out));
}
