/* Graphs of the real library's own. */
#ifndef ROCWIRE_ROCM_GRAPH_H
#define ROCWIRE_ROCM_GRAPH_H
#include <stdint.h>
#include "library.h"

/* What a node is, and thereby what its parameters are. */
enum rocm_node {
	ROCM_NODE_EMPTY,
	ROCM_NODE_KERNEL,      /* struct rocm_kernel_node */
	ROCM_NODE_COOPERATIVE, /* likewise */
	ROCM_NODE_COPY,        /* hipMemcpy3DParms, of which the rows have no gaps: one line */
	ROCM_NODE_COPY_BOX,    /* hipMemcpy3DParms */
	ROCM_NODE_COPY_ARRAY,  /* HIP_MEMCPY3D */
	ROCM_NODE_RECORD,      /* hipEvent_t */
	ROCM_NODE_WAIT,        /* hipEvent_t */
};

/* rocm_kernel_node is a launch with its packed arguments; offsets says where each
 * of them begins. The node has its own copy of them. */
struct rocm_kernel_node {
	struct rocm_launch launch;
	void *args;
	const uint32_t *offsets;
	size_t count;
};

/* The functions answer hipErrorNotSupported if the library lacks one of its own that they need. */
hipError_t rocm_graph_create(const struct rocm_table *table, int32_t device, uint64_t *graph);
hipError_t rocm_graph_destroy(const struct rocm_table *table, int32_t device, uint64_t graph);

/* rocm_graph_add adds a node behind n others. */
hipError_t rocm_graph_add(const struct rocm_table *table, int32_t device, uint64_t graph, const uint64_t *after, size_t n,
			  int32_t kind, const void *params, uint64_t *node);
hipError_t rocm_graph_instantiate(const struct rocm_table *table, int32_t device, uint64_t graph, uint64_t *exec);

/* rocm_graph_set gives a node other parameters for the launches to come. */
hipError_t rocm_graph_set(const struct rocm_table *table, int32_t device, uint64_t exec, uint64_t node, int32_t kind,
			  const void *params);
/* rocm_graph_enable is for kernels, copies and sets. */
hipError_t rocm_graph_enable(const struct rocm_table *table, int32_t device, uint64_t exec, uint64_t node, int32_t on);
hipError_t rocm_graph_launch(const struct rocm_table *table, int32_t device, uint64_t exec, uint64_t stream);
hipError_t rocm_graph_exec_destroy(const struct rocm_table *table, int32_t device, uint64_t exec);
#endif
