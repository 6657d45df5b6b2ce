/* The objects that garbage.h hands to functions, and how many values each kind of argument has: for those that call what zz_garbage.c
 * emits, here and in conformance/hipcheck. */
#ifndef OBJECTS_H
#define OBJECTS_H
struct objects live, stale;
_Alignas(64) char buffers[16][MEMORY], values[16][256];

/* HAVE is a call that make needs; the first that fails is kept, and what is made of its object is nothing. What the card has not is no failure. */
static const char *lacking;
static hipError_t lacking_code;
#define HAVE(call) \
	do { \
		hipError_t have_ = (call); \
		if (have_ != hipSuccess && have_ != hipErrorNotSupported && !lacking) \
			lacking = #call, lacking_code = have_; \
	} while (0)

/* make has every object there, whatever the last call has destroyed. lacking is then the call that failed, 0 for none. */
static void make(void)
{
	lacking = 0;
	HAVE(hipSetDevice(0));
	if (hipStreamQuery(live.stream) == hipErrorContextIsDestroyed || !live.stream)
		HAVE(hipStreamCreate(&live.stream));
	if (!live.event || hipEventQuery(live.event) == hipErrorInvalidHandle)
		HAVE(hipEventCreate(&live.event));
	size_t n = 0;
	if (!live.memory || hipMemPtrGetInfo(live.memory, &n) != hipSuccess || n < MEMORY)
		HAVE(hipMalloc(&live.memory, MEMORY));
	HAVE(hipDeviceGetDefaultMemPool(&live.mempool, 0));
	HAVE(hipDevicePrimaryCtxRetain(&live.ctx, 0));
	hipGraphNodeType kind;
	if (!live.graph || hipGraphNodeGetType(live.graphnode, &kind) != hipSuccess) {
		HAVE(hipGraphCreate(&live.graph, 0));
		HAVE(hipGraphAddEmptyNode(&live.graphnode, live.graph, 0, 0));
	}
	unsigned long long bits_of;
	if (!live.graphexec || hipGraphExecGetFlags(live.graphexec, &bits_of) != hipSuccess)
		HAVE(hipGraphInstantiate(&live.graphexec, live.graph, 0, 0, 0));
	int value_of;
	if (!live.module || hipFuncGetAttribute(&value_of, HIP_FUNC_ATTRIBUTE_BINARY_VERSION, live.function) != hipSuccess) {
		HAVE(hipModuleLoad(&live.module, getenv("GARBAGE_MODULE")));
		HAVE(hipModuleGetFunction(&live.function, live.module, getenv("GARBAGE_KERNEL")));
	}
	HIP_ARRAY3D_DESCRIPTOR array_of;
	if (!live.array || hipArray3DGetDescriptor(&array_of, live.array) != hipSuccess) {
		hipChannelFormatDesc pixel = hipCreateChannelDesc(32, 0, 0, 0, hipChannelFormatKindFloat);
		HAVE(hipMallocArray(&live.array, &pixel, 64, 64, hipArrayDefault));
	}
	if (!live.userobject || hipUserObjectRetain(live.userobject, 1) != hipSuccess)
		HAVE(hipUserObjectCreate(&live.userobject, 0, (hipHostFn_t)nothing, 1, hipUserObjectNoDestructorSync));
	(void)hipGetLastError();
}

/* How many values a letter has. */
static int choices(char letter)
{
	switch (letter) {
	case 'a': case 'h': case 'i': case 'n': case 'e': case 'd': return 5;
	case 'z': return 7;
	case 'b': case 'l': case 't': return 4;
	case 'g': case 's': case 'r': return 3;
	default: return 2;
	}
}
#endif
