/* What is answered after a kernel went astray. Each kind is a process of its own, as a library may end it. */
#include "groups.h"

static hipStream_t s, other;
static void *p, *q;
static hipEvent_t before, after;
static uint32_t value = 7;
static uint64_t far = 1ull << 45;

/* aftermath is everything that is asked after a fault. */
static void aftermath(void)
{
	void *n;
	IS(hipStreamSynchronize(s), "synchronize");
	IS(hipGetLastError(), "last error");
	IS(hipGetLastError(), "last error again");
	IS(hipStreamSynchronize(s), "synchronize again");
	IS(hipStreamQuery(s), "query");
	IS(hipStreamSynchronize(other), "synchronize another stream");
	IS(hipDeviceSynchronize(), "synchronize the device");
	IS(hipEventQuery(before), "event before");
	IS(hipEventQuery(after), "event after");
	IS(hipEventSynchronize(after), "synchronize the event after");
	IS(hipMalloc(&n, 64), "hipMalloc");
	IS(hipFree(p), "hipFree");
	IS(hipMemcpy(&value, q, 4, hipMemcpyDeviceToHost), "hipMemcpy");
	IS(hipMemsetAsync(q, 0, 64, other), "hipMemsetAsync");
	IS(hipStreamCreate(&(hipStream_t){0}), "hipStreamCreate");
	IS(hipGetDeviceCount(&(int){0}), "hipGetDeviceCount");
	IS(hipDeviceGetAttribute(&(int){0}, hipDeviceAttributeWarpSize, 0), "hipDeviceGetAttribute");
	IS(hipModuleLoad(&(hipModule_t){0}, "/nowhere"), "hipModuleLoad of no file");
	IS(hipDeviceReset(), "hipDeviceReset");
	IS(hipMalloc(&n, 64), "hipMalloc after hipDeviceReset");
	IS(hipGetLastError(), "last error at the end");
}

static void prepare(void)
{
	MUST(hipStreamCreate(&s));
	MUST(hipStreamCreate(&other));
	MUST(hipEventCreate(&before));
	MUST(hipEventCreate(&after));
	MUST(hipMalloc(&p, 4096));
	MUST(hipMalloc(&q, 4096));
	MUST(hipMemset(p, 1, 4096));
	MUST(hipDeviceSynchronize());
	MUST(hipEventRecord(before, s));
}

static void run(const char *name, void **args)
{
	prepare();
	hipFunction_t f = kernel("fault", name);
	IS(hipModuleLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, s, args, 0), "launch");
	IS(hipEventRecord(after, s), "record after it");
	aftermath();
}

void fault_store(void) { run("store_at", (void *[]){&p, &far, &value}); }
void fault_load(void) { run("load_at", (void *[]){&p, &far, &q}); }
void fault_trap(void) { run("trap_if", (void *[]){&p, &value}); }

void fault_graph(void)
{
	hipGraph_t g;
	hipGraphNode_t n;
	hipGraphExec_t x;
	prepare();
	void *args[] = {&p, &far, &value};
	hipKernelNodeParams kp = {.func = kernel("fault", "store_at"), .gridDim = {1, 1, 1}, .blockDim = {64, 1, 1}, .kernelParams = args};
	MUST(hipGraphCreate(&g, 0));
	MUST(hipGraphAddKernelNode(&n, g, 0, 0, &kp));
	MUST(hipGraphInstantiate(&x, g, 0, 0, 0));
	IS(hipGraphLaunch(x, s), "launch");
	IS(hipEventRecord(after, s), "record after it");
	aftermath();
}

/* What goes wrong without ending anything. */
void faults(void)
{
	prepare();
	hipFunction_t f = kernel("fault", "store_at");
	uint64_t near = 16;
	IS(hipModuleLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, s, (void *[]){&p, &near, &value}, 0), "a store that is right");
	IS(hipStreamSynchronize(s), "synchronize it");
	IS(hipMemcpyAsync(p, (void *)16, 64, hipMemcpyDeviceToDevice, s), "copy on the device from a wild address");
	IS(hipStreamSynchronize(s), "synchronize it after a wild copy");
	IS(hipMemsetAsync((void *)16, 0, 64, s), "memset of a wild address");
	IS(hipStreamSynchronize(s), "synchronize it after a wild memset");
	IS(hipStreamWriteValue32(s, (void *)16, 1, 0), "write to a wild address");
	IS(hipStreamSynchronize(s), "synchronize it after a wild write");
	IS(hipGetLastError(), "last error");
}
