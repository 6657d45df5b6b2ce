/* Memory pools: their attributes, access, and what comes of memory that is used wrongly. */
#include "groups.h"

static void attributes_of(const char *what, hipMemPool_t pool)
{
	for (int at = -1; at < 10; at++) {
		uint64_t v[2] = {0x5555555555555555, 0x5555555555555555};
		if (begin("%s, attribute %d", what, at)) {
			hipError_t e = hipMemPoolGetAttribute(pool, (hipMemPoolAttr)at, v);
			answer("%s %llx", hipGetErrorName(e), (unsigned long long)v[0]);
		}
		for (int k = 0; k < 3; k++) {
			uint64_t to = k == 0 ? 0 : k == 1 ? 1 : 1 << 20;
			IS(hipMemPoolSetAttribute(pool, (hipMemPoolAttr)at, &to), "%s, set attribute %d to %llu", what, at, (unsigned long long)to);
			v[0] = 0x5555555555555555;
			if (begin("%s, attribute %d after %llu", what, at, (unsigned long long)to)) {
				hipError_t e = hipMemPoolGetAttribute(pool, (hipMemPoolAttr)at, v);
				answer("%s %llx", hipGetErrorName(e), (unsigned long long)v[0]);
			}
		}
	}
}

static uint64_t value_of(hipMemPool_t pool, hipMemPoolAttr at)
{
	uint64_t v = 0;
	(void)hipMemPoolGetAttribute(pool, at, &v);
	return v;
}

static void sizes(const char *when, hipMemPool_t pool)
{
	if (begin("%s, sizes", when))
		answer("reserved %llu, at most %llu; used %llu, at most %llu", (unsigned long long)value_of(pool, hipMemPoolAttrReservedMemCurrent),
			(unsigned long long)value_of(pool, hipMemPoolAttrReservedMemHigh), (unsigned long long)value_of(pool, hipMemPoolAttrUsedMemCurrent),
			(unsigned long long)value_of(pool, hipMemPoolAttrUsedMemHigh));
}

void pool(void)
{
	hipMemPool_t standard = 0, current = 0, mine = 0;
	hipStream_t s, t;
	void *p = 0, *q = 0;
	MUST(hipStreamCreate(&s));
	MUST(hipStreamCreate(&t));
	IS(hipDeviceGetDefaultMemPool(&standard, 0), "default");
	IS(hipDeviceGetMemPool(&current, 0), "current");
	SAW("current is the default", "%d", current == standard);
	attributes_of("default", standard);
	for (int type = -1; type < 3; type++)
		for (int location = 0; location < 4; location++)
			for (int handle = 0; handle < 4; handle++) {
				hipMemPoolProps props = {.allocType = (hipMemAllocationType)type, .handleTypes = (hipMemAllocationHandleType)handle,
					.location = {(hipMemLocationType)location, 0}};
				hipMemPool_t m = 0;
				if (IS(hipMemPoolCreate(&m, &props), "create, type %d, location %d, handle %d", type, location, handle) == hipSuccess)
					(void)hipMemPoolDestroy(m);
			}
	for (int id = -2; id < 4; id++) {
		hipMemPoolProps props = {.allocType = hipMemAllocationTypePinned, .location = {hipMemLocationTypeDevice, id}};
		IS(hipMemPoolCreate(&mine, &props), "create on device %d", id);
	}
	hipMemPoolProps props = {.allocType = hipMemAllocationTypePinned, .location = {hipMemLocationTypeDevice, 0}};
	MUST(hipMemPoolCreate(&mine, &props));
	attributes_of("created", mine);
	sizes("fresh", mine);
	IS(hipMallocFromPoolAsync(&p, 100, mine, s), "allocate");
	sizes("one", mine);
	IS(hipMallocFromPoolAsync(&q, 3 << 20, mine, s), "allocate more");
	sizes("two", mine);
	IS(hipFreeAsync(p, s), "free");
	sizes("one freed", mine);
	IS(hipStreamSynchronize(s), "synchronize");
	sizes("synchronized", mine);
	IS(hipMemPoolTrimTo(mine, 0), "trim");
	sizes("trimmed", mine);
	IS(hipFreeAsync(p, s), "free again");
	IS(hipFreeAsync(q, t), "free on another stream");
	IS(hipStreamSynchronize(t), "synchronize another stream");
	sizes("all freed", mine);
	uint64_t zero = 0;
	IS(hipMemPoolSetAttribute(mine, hipMemPoolAttrUsedMemHigh, &zero), "reset the mark of what is used");
	IS(hipMemPoolSetAttribute(mine, hipMemPoolAttrReservedMemHigh, &zero), "reset the mark of what is reserved");
	sizes("marks reset", mine);
	IS(hipMallocAsync(&p, 0, s), "allocate nothing");
	SAW("nothing's address", "%s", p ? "one" : "null");
	IS(hipMallocFromPoolAsync(&p, 64, 0, s), "allocate from null");
	IS(hipMallocFromPoolAsync(&p, 1ull << 50, mine, s), "allocate too much");
	IS(hipMallocAsync(&p, 64, s), "allocate from the default");
	IS(hipFree(p), "hipFree memory of a pool");
	MUST(hipMalloc(&p, 64));
	IS(hipFreeAsync(p, s), "free hipMalloc's");
	IS(hipFreeAsync((void *)&zero, s), "free the host's");
	IS(hipFreeAsync(0, s), "free null");
	IS(hipMallocAsync(&p, 4096, s), "allocate");
	IS(hipFreeAsync((char *)p + 64, s), "free the inside");
	for (int flags = -1; flags < 5; flags++) {
		hipMemAccessDesc d = {{hipMemLocationTypeDevice, 0}, (hipMemAccessFlags)flags};
		IS(hipMemPoolSetAccess(mine, &d, 1), "set access %d", flags);
	}
	hipMemAccessDesc far = {{hipMemLocationTypeDevice, 77}, hipMemAccessFlagsProtReadWrite};
	IS(hipMemPoolSetAccess(mine, &far, 1), "set access of no device");
	IS(hipMemPoolSetAccess(mine, 0, 0), "set access of nobody");
	for (int id = -1; id < 3; id++) {
		hipMemLocation l = {hipMemLocationTypeDevice, id};
		hipMemAccessFlags f = (hipMemAccessFlags)99;
		if (begin("get access of %d", id)) {
			hipError_t e = hipMemPoolGetAccess(&f, mine, &l);
			answer("%s %d", hipGetErrorName(e), f);
		}
	}
	IS(hipDeviceSetMemPool(0, mine), "make it the current one");
	IS(hipDeviceGetMemPool(&current, 0), "current after that");
	SAW("it is the current one", "%d", current == mine);
	IS(hipMallocAsync(&p, 64, s), "allocate from the current one");
	IS(hipMemPoolDestroy(mine), "destroy the current one");
	IS(hipDeviceGetMemPool(&current, 0), "current after it was destroyed");
	SAW("the default is the current one again", "%d", current == standard);
	IS(hipFreeAsync(p, s), "free of a destroyed pool");
	IS(hipMemPoolDestroy(mine), "destroy again");
	IS(hipMemPoolDestroy(standard), "destroy the default");
	IS(hipDeviceSetMemPool(0, mine), "make a destroyed one current");
	hipMemPoolPtrExportData data;
	MUST(hipMallocAsync(&p, 64, s));
	IS(hipMemPoolExportPointer(&data, p), "export a pointer of a pool that is not shared");
	int fd = -1;
	for (int type = 0; type < 5; type++)
		IS(hipMemPoolExportToShareableHandle(&fd, standard, (hipMemAllocationHandleType)type, 0), "export the default as %d", type);
}
