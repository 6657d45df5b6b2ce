#include <stdlib.h>
#include <string.h>
#include "graph.h"
#include "need.h"

hipError_t rocm_graph_create(const struct rocm_table *table, int32_t device, uint64_t *graph)
{
	hipGraph_t g = NULL;
	hipError_t e;

	NEED(hipGraphCreate);
	if (!table->hipGraphDestroy || !table->hipGraphInstantiateWithFlags || !table->hipGraphLaunch || !table->hipGraphExecDestroy)
		return hipErrorNotSupported;
	e = table->hipGraphCreate(&g, 0);
	*graph = (uint64_t)(uintptr_t)g;
	return e;
}

hipError_t rocm_graph_destroy(const struct rocm_table *table, int32_t device, uint64_t graph)
{
	NEED(hipGraphDestroy);
	return table->hipGraphDestroy(HANDLE(hipGraph_t, graph));
}

hipError_t rocm_graph_instantiate(const struct rocm_table *table, int32_t device, uint64_t graph, uint64_t *exec)
{
	hipGraphExec_t x = NULL;
	hipError_t e;

	NEED(hipGraphInstantiateWithFlags);
	e = table->hipGraphInstantiateWithFlags(&x, HANDLE(hipGraph_t, graph), 0);
	*exec = (uint64_t)(uintptr_t)x;
	return e;
}

hipError_t rocm_graph_launch(const struct rocm_table *table, int32_t device, uint64_t exec, uint64_t stream)
{
	NEED(hipGraphLaunch);
	return table->hipGraphLaunch(HANDLE(hipGraphExec_t, exec), HANDLE(hipStream_t, stream));
}

hipError_t rocm_graph_exec_destroy(const struct rocm_table *table, int32_t device, uint64_t exec)
{
	NEED(hipGraphExecDestroy);
	return table->hipGraphExecDestroy(HANDLE(hipGraphExec_t, exec));
}

hipError_t rocm_graph_enable(const struct rocm_table *table, int32_t device, uint64_t exec, uint64_t node, int32_t on)
{
	NEED(hipGraphNodeSetEnabled);
	return table->hipGraphNodeSetEnabled(HANDLE(hipGraphExec_t, exec), HANDLE(hipGraphNode_t, node), (unsigned int)on);
}

/* kernel_params are those of a launch, with the arguments one by one in memory
 * that the caller frees, or null. */
static void **kernel_params(const struct rocm_kernel_node *k, hipKernelNodeParams *p)
{
	const struct rocm_launch *l = &k->launch;
	void **args = calloc(k->count + 1, sizeof(*args));

	if (!args)
		return NULL;
	for (size_t i = 0; i < k->count; i++)
		args[i] = (char *)k->args + k->offsets[i];
	*p = (hipKernelNodeParams){
		.func = HANDLE(void *, l->function),
		.gridDim = {l->grid[0], l->grid[1], l->grid[2]},
		.blockDim = {l->block[0], l->block[1], l->block[2]},
		.sharedMemBytes = l->shared,
		.kernelParams = args,
	};
	return args;
}

static hipError_t add_kernel(const struct rocm_table *table, hipGraphNode_t *node, hipGraph_t g, const hipGraphNode_t *after, size_t n,
			     const struct rocm_kernel_node *k, int cooperative)
{
	hipKernelNodeParams p;
	void **args;
	hipError_t e;

	if (!table->hipGraphAddKernelNode || (cooperative && !table->hipGraphKernelNodeSetAttribute))
		return hipErrorNotSupported;
	if (!(args = kernel_params(k, &p)))
		return hipErrorOutOfMemory;
	e = table->hipGraphAddKernelNode(node, g, after, n, &p);
	free(args);
	if (e == hipSuccess && cooperative) {
		hipLaunchAttributeValue v;

		memset(&v, 0, sizeof(v));
		v.cooperative = 1;
		e = table->hipGraphKernelNodeSetAttribute(*node, hipLaunchAttributeCooperative, &v);
	}
	return e;
}

/* context is the current device's, for the functions that insist on one. */
static hipCtx_t context(const struct rocm_table *table, int32_t device)
{
	hipCtx_t c = NULL;

	if (table->hipDevicePrimaryCtxRetain && table->hipDevicePrimaryCtxRetain(&c, device) != hipSuccess)
		return NULL;
	return c;
}

/* ADD calls one of the library's functions that add a node. */
#define ADD(name, ...) (table->name ? table->name(&out, g, deps, n, __VA_ARGS__) : hipErrorNotSupported)

hipError_t rocm_graph_add(const struct rocm_table *table, int32_t device, uint64_t graph, const uint64_t *after, size_t n,
			  int32_t kind, const void *params, uint64_t *node)
{
	_Static_assert(sizeof(hipGraphNode_t) == sizeof(uint64_t), "handles are numbers of 64 bits");
	const hipGraphNode_t *deps = n ? (const hipGraphNode_t *)after : NULL;
	hipGraph_t g = HANDLE(hipGraph_t, graph);
	const hipMemcpy3DParms *copy = params;
	hipGraphNode_t out = NULL;
	hipError_t e = hipErrorInvalidValue;

	NEED(hipSetDevice);
	switch ((enum rocm_node)kind) {
	case ROCM_NODE_EMPTY:
		e = table->hipGraphAddEmptyNode ? table->hipGraphAddEmptyNode(&out, g, deps, n) : hipErrorNotSupported;
		break;
	case ROCM_NODE_KERNEL:
	case ROCM_NODE_COOPERATIVE:
		e = add_kernel(table, &out, g, deps, n, params, kind == ROCM_NODE_COOPERATIVE);
		break;
	case ROCM_NODE_COPY:
		e = ADD(hipGraphAddMemcpyNode1D, copy->dstPtr.ptr, copy->srcPtr.ptr, copy->extent.width, copy->kind);
		break;
	case ROCM_NODE_COPY_BOX:
		e = ADD(hipGraphAddMemcpyNode, copy);
		break;
	case ROCM_NODE_COPY_ARRAY:
		e = ADD(hipDrvGraphAddMemcpyNode, params, context(table, device));
		break;
	case ROCM_NODE_RECORD:
		e = ADD(hipGraphAddEventRecordNode, *(const hipEvent_t *)params);
		break;
	case ROCM_NODE_WAIT:
		e = ADD(hipGraphAddEventWaitNode, *(const hipEvent_t *)params);
		break;
	}
	*node = (uint64_t)(uintptr_t)out;
	return e;
}

/* SET calls one of the library's functions that change a node of an executable graph. */
#define SET(name, ...) (table->name ? table->name(x, v, __VA_ARGS__) : hipErrorNotSupported)

hipError_t rocm_graph_set(const struct rocm_table *table, int32_t device, uint64_t exec, uint64_t node, int32_t kind,
			  const void *params)
{
	hipGraphExec_t x = HANDLE(hipGraphExec_t, exec);
	hipGraphNode_t v = HANDLE(hipGraphNode_t, node);
	hipMemcpy3DParms copy;

	NEED(hipSetDevice);
	switch ((enum rocm_node)kind) {
	case ROCM_NODE_EMPTY:
		return hipSuccess;
	case ROCM_NODE_KERNEL:
	case ROCM_NODE_COOPERATIVE: {
		hipKernelNodeParams p;
		void **args = kernel_params(params, &p);
		hipError_t e;

		if (!args)
			return hipErrorOutOfMemory;
		e = SET(hipGraphExecKernelNodeSetParams, &p);
		free(args);
		return e;
	}
	case ROCM_NODE_COPY:
		copy = *(const hipMemcpy3DParms *)params;
		return SET(hipGraphExecMemcpyNodeSetParams1D, copy.dstPtr.ptr, copy.srcPtr.ptr, copy.extent.width, copy.kind);
	case ROCM_NODE_COPY_BOX:
		copy = *(const hipMemcpy3DParms *)params; /* the library's parameter is not const */
		return SET(hipGraphExecMemcpyNodeSetParams, &copy);
	case ROCM_NODE_COPY_ARRAY:
		return SET(hipDrvGraphExecMemcpyNodeSetParams, params, context(table, device));
	case ROCM_NODE_RECORD:
		return SET(hipGraphExecEventRecordNodeSetEvent, *(const hipEvent_t *)params);
	case ROCM_NODE_WAIT:
		return SET(hipGraphExecEventWaitNodeSetEvent, *(const hipEvent_t *)params);
	}
	return hipErrorInvalidValue;
}
