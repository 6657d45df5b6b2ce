/* Graphs of stub.c's runtime: nodes are executed in the order in which they were
 * added. Every call is a line of the file that STUB_GRAPH_LOG names. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "hip/hip_runtime_api.h"

static void say(const char *format, ...)
{
	const char *path = getenv("STUB_GRAPH_LOG");
	FILE *f = path ? fopen(path, "a") : NULL;
	va_list ap;

	if (!f)
		return;
	va_start(ap, format);
	vfprintf(f, format, ap);
	va_end(ap);
	fputc('\n', f);
	fclose(f);
}

struct node {
	char kind; /* e k 1 3 s */
	int off, cooperative;
	hipKernelNodeParams kernel;
	char args[28];
	hipMemcpy3DParms copy;
};

struct graph {
	struct node nodes[16];
	int n;
};

#ifndef WITHOUT_GRAPHS
hipError_t hipGraphCreate(hipGraph_t *g, unsigned flags)
{
	say("create %u", flags);
	*g = calloc(1, sizeof(struct graph));
	return hipSuccess;
}
#endif

hipError_t hipGraphDestroy(hipGraph_t g)
{
	say("destroy");
	free(g);
	return hipSuccess;
}

/* new_node checks that a node waits for nodes of its graph. */
static struct node *new_node(hipGraph_t graph, char kind, const hipGraphNode_t *deps, size_t n, hipGraphNode_t *out)
{
	struct graph *g = (struct graph *)graph;
	char list[64] = "";

	for (size_t i = 0; i < n; i++) {
		long k = (struct node *)deps[i] - g->nodes;
		if (k < 0 || k >= g->n)
			return NULL;
		snprintf(list + strlen(list), sizeof(list) - strlen(list), " %ld", k);
	}
	say("add %c%s", kind, list);
	g->nodes[g->n].kind = kind;
	*out = (hipGraphNode_t)&g->nodes[g->n];
	return &g->nodes[g->n++];
}

hipError_t hipGraphAddEmptyNode(hipGraphNode_t *out, hipGraph_t g, const hipGraphNode_t *deps, size_t n)
{
	return new_node(g, 'e', deps, n, out) ? hipSuccess : hipErrorInvalidValue;
}

static hipError_t kernel(struct node *v, const hipKernelNodeParams *p)
{
	if (p->func != (void *)0x2000 || p->extra || !p->kernelParams || p->kernelParams[4])
		return hipErrorInvalidDeviceFunction;
	v->kernel = *p;
	for (int i = 0; i < 4; i++)
		memcpy(v->args + 8 * i, p->kernelParams[i], i < 3 ? 8 : 4);
	return hipSuccess;
}

hipError_t hipGraphAddKernelNode(hipGraphNode_t *out, hipGraph_t g, const hipGraphNode_t *deps, size_t n, const hipKernelNodeParams *p)
{
	return kernel(new_node(g, 'k', deps, n, out), p);
}

hipError_t hipGraphKernelNodeSetAttribute(hipGraphNode_t node, hipLaunchAttributeID id, const hipLaunchAttributeValue *v)
{
	if (id != hipLaunchAttributeCooperative || v->cooperative != 1)
		return hipErrorInvalidValue;
	say("cooperative");
	((struct node *)node)->cooperative = 1;
	return hipSuccess;
}

hipError_t hipGraphAddMemcpyNode1D(hipGraphNode_t *out, hipGraph_t g, const hipGraphNode_t *deps, size_t n, void *dst, const void *src,
				   size_t count, hipMemcpyKind kind)
{
	struct node *v;

	if (!dst)
		return hipErrorInvalidDevicePointer;
	v = new_node(g, '1', deps, n, out);
	v->copy = (hipMemcpy3DParms){.dstPtr = {.ptr = dst}, .srcPtr = {.ptr = (void *)src}, .extent = {count, 1, 1}, .kind = kind};
	return hipSuccess;
}

hipError_t hipGraphAddMemcpyNode(hipGraphNode_t *out, hipGraph_t g, const hipGraphNode_t *deps, size_t n, const hipMemcpy3DParms *p)
{
	new_node(g, '3', deps, n, out)->copy = *p;
	return hipSuccess;
}

/* An executable graph is a copy, whose nodes are found by their places. */
struct exec {
	struct graph g;
	const struct graph *of;
};

hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t *out, hipGraph_t g, unsigned long long flags)
{
	struct exec *x = calloc(1, sizeof(*x));

	say("instantiate %llu", flags);
	x->g = *(struct graph *)g;
	x->of = (struct graph *)g;
	*out = (hipGraphExec_t)x;
	return hipSuccess;
}

hipError_t hipGraphExecDestroy(hipGraphExec_t x)
{
	say("end");
	free(x);
	return hipSuccess;
}

static struct node *cloned(hipGraphExec_t exec, hipGraphNode_t node, char kind)
{
	struct exec *x = (struct exec *)exec;
	struct node *v = &x->g.nodes[(struct node *)node - x->of->nodes];

	say("set %c", kind);
	return v->kind == kind ? v : NULL;
}

hipError_t hipGraphExecKernelNodeSetParams(hipGraphExec_t x, hipGraphNode_t n, const hipKernelNodeParams *p)
{
	struct node *v = cloned(x, n, 'k');
	return v ? kernel(v, p) : hipErrorInvalidValue;
}

hipError_t hipGraphExecMemcpyNodeSetParams1D(hipGraphExec_t x, hipGraphNode_t n, void *dst, const void *src, size_t count, hipMemcpyKind kind)
{
	struct node *v = cloned(x, n, '1');

	if (!v || v->copy.kind != kind) /* as AMD's */
		return hipErrorInvalidValue;
	v->copy.dstPtr.ptr = dst;
	v->copy.srcPtr.ptr = (void *)src;
	v->copy.extent.width = count;
	return hipSuccess;
}

hipError_t hipGraphExecMemcpyNodeSetParams(hipGraphExec_t x, hipGraphNode_t n, hipMemcpy3DParms *p)
{
	struct node *v = cloned(x, n, '3');

	if (!v || v->copy.kind != p->kind)
		return hipErrorInvalidValue;
	v->copy = *p;
	return hipSuccess;
}

hipError_t hipGraphNodeSetEnabled(hipGraphExec_t exec, hipGraphNode_t node, unsigned on)
{
	struct exec *x = (struct exec *)exec;
	struct node *v = &x->g.nodes[(struct node *)node - x->of->nodes];

	if (!strchr("k13", v->kind))
		return hipErrorInvalidValue;
	say("enable %u", on);
	v->off = !on;
	return hipSuccess;
}

static hipError_t execute(struct node *v)
{
	const hipMemcpy3DParms *c = &v->copy;
	float *p[3];

	switch (v->kind) {
	case 'k':
		memcpy(p, v->args, sizeof(p));
		for (unsigned i = 0; i < *(unsigned *)(v->args + 24); i++)
			p[2][i] = p[0][i] + p[1][i];
		break;
	case '1':
		memcpy(c->dstPtr.ptr, c->srcPtr.ptr, c->extent.width);
		break;
	case '3':
		for (size_t z = 0; z < c->extent.depth; z++)
			for (size_t y = 0; y < c->extent.height; y++)
				memcpy((char *)c->dstPtr.ptr + (z * c->dstPtr.ysize + y) * c->dstPtr.pitch,
				       (char *)c->srcPtr.ptr + (z * c->srcPtr.ysize + y) * c->srcPtr.pitch, c->extent.width);
		break;
	}
	return hipSuccess;
}

hipError_t hipGraphLaunch(hipGraphExec_t exec, hipStream_t s)
{
	struct exec *x = (struct exec *)exec;

	say("launch on %zu", (size_t)s & 1);
	for (int i = 0; i < x->g.n; i++) {
		hipError_t e = x->g.nodes[i].off ? hipSuccess : execute(&x->g.nodes[i]);
		if (e != hipSuccess)
			return e;
	}
	return hipSuccess;
}
