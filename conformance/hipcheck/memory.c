/* Memory: what can be allocated, freed, registered, asked about and limited; copies of every kind between memory of every kind. */
#include "groups.h"
#include <sys/mman.h>

static void limits(void)
{
	for (int l = -1; l < 6; l++) {
		size_t v = 99, w;
		if (begin("limit %d", l)) {
			hipError_t e = hipDeviceGetLimit(&v, (hipLimit_t)l);
			answer("%s %zu", hipGetErrorName(e), v);
		}
		static const size_t to[] = {0, 1, 1024, 1025, 1 << 20, 1 << 27, 1ull << 40, -1ull};
		for (int k = 0; k < 8; k++) {
			IS(hipDeviceSetLimit((hipLimit_t)l, to[k]), "set limit %d to %zu", l, to[k]);
			w = 99;
			if (begin("limit %d after %zu", l, to[k])) {
				hipError_t e = hipDeviceGetLimit(&w, (hipLimit_t)l);
				answer("%s %zu", hipGetErrorName(e), w);
			}
		}
	}
	for (int c = -1; c < 6; c++) {
		hipFuncCache_t cache = (hipFuncCache_t)99;
		hipSharedMemConfig config = (hipSharedMemConfig)99;
		IS(hipDeviceSetCacheConfig((hipFuncCache_t)c), "set cache config %d", c);
		if (begin("cache config after %d", c)) {
			hipError_t e = hipDeviceGetCacheConfig(&cache);
			answer("%s %d", hipGetErrorName(e), cache);
		}
		IS(hipDeviceSetSharedMemConfig((hipSharedMemConfig)c), "set shared memory config %d", c);
		if (begin("shared memory config after %d", c)) {
			hipError_t e = hipDeviceGetSharedMemConfig(&config);
			answer("%s %d", hipGetErrorName(e), config);
		}
	}
	for (int f = 0; f < 64; f++) {
		unsigned got = 99;
		IS(hipSetDeviceFlags((unsigned)f), "set device flags %d", f);
		if (begin("device flags after %d", f)) {
			hipError_t e = hipGetDeviceFlags(&got);
			answer("%s %u", hipGetErrorName(e), got);
		}
	}
	IS(hipSetDeviceFlags(0), "set device flags back");
}

static void host(void)
{
	void *p, *d;
	unsigned got;
	for (int b = -1; b < 32; b++) {
		unsigned flags = b < 0 ? 0 : 1u << b;
		p = 0, got = 99;
		if (IS(hipHostMalloc(&p, 4096, flags), "hipHostMalloc with flags 0x%x", flags) == hipSuccess) {
			if (begin("flags of hipHostMalloc with 0x%x", flags)) {
				hipError_t e = hipHostGetFlags(&got, p);
				answer("%s 0x%x", hipGetErrorName(e), got);
			}
			if (begin("device pointer of hipHostMalloc with 0x%x", flags)) {
				hipError_t e = hipHostGetDevicePointer(&d, p, 0);
				answer("%s, %s", hipGetErrorName(e), d == p ? "the same" : "another");
			}
			IS(hipHostFree(p), "hipHostFree of 0x%x", flags);
		}
		p = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (IS(hipHostRegister(p, 8192, flags), "hipHostRegister with flags 0x%x", flags) == hipSuccess) {
			if (begin("flags of hipHostRegister with 0x%x", flags)) {
				hipError_t e = hipHostGetFlags(&got, p);
				answer("%s 0x%x", hipGetErrorName(e), got);
			}
			IS(hipHostRegister(p, 8192, flags), "hipHostRegister again, flags 0x%x", flags);
			IS(hipHostUnregister(p), "hipHostUnregister of 0x%x", flags);
		}
		munmap(p, 8192);
		if (IS(hipExtMallocWithFlags(&p, 4096, flags), "hipExtMallocWithFlags 0x%x", flags) == hipSuccess)
			IS(hipFree(p), "hipFree of hipExtMallocWithFlags 0x%x", flags);
		if (IS(hipMallocManaged(&p, 4096, flags), "hipMallocManaged with flags 0x%x", flags) == hipSuccess)
			IS(hipFree(p), "hipFree of hipMallocManaged 0x%x", flags);
	}
	static char block[16384];
	IS(hipHostRegister(block, 16384, 0), "register");
	IS(hipHostRegister(block + 4096, 4096, 0), "register inside");
	IS(hipHostGetDevicePointer(&d, block + 100, 0), "device pointer inside");
	IS(hipHostGetFlags(&got, block + 100), "flags inside");
	IS(hipHostUnregister(block + 100), "unregister inside");
	IS(hipHostUnregister(block), "unregister");
	IS(hipHostUnregister(block), "unregister again");
	IS(hipHostGetDevicePointer(&d, block, 0), "device pointer of what is not registered");
	IS(hipHostGetFlags(&got, block), "flags of what is not registered");
	IS(hipHostFree(block), "hipHostFree of what is not HIP's");
	IS(hipHostRegister(block, 0, 0), "register nothing");
	IS(hipHostRegister(block + 1, 100, 0), "register what is not aligned");
	(void)hipHostUnregister(block + 1);
}

static void freeing(void)
{
	void *p, *q;
	MUST(hipMalloc(&p, 4096));
	IS(hipFree((char *)p + 64), "hipFree of the inside");
	IS(hipHostFree(p), "hipHostFree of hipMalloc's");
	IS(hipFree(p), "hipFree");
	IS(hipFree(p), "hipFree again");
	MUST(hipHostMalloc(&q, 4096, 0));
	IS(hipHostFree((char *)q + 64), "hipHostFree of the inside");
	IS(hipFree(q), "hipFree of hipHostMalloc's");
	IS(hipHostFree(q), "hipHostFree after it");
	MUST(hipMallocManaged(&q, 4096, hipMemAttachGlobal));
	IS(hipHostFree(q), "hipHostFree of managed memory");
	IS(hipFree(q), "hipFree of managed memory after it");
	IS(hipFree(&p), "hipFree of the stack");
	IS(hipHostFree(0), "hipHostFree of null");
	size_t pitch = 0;
	static const size_t widths[] = {0, 1, 64, 100, 128, 129, 256, 257, 512, 513, 4095};
	for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
		p = 0, pitch = 99;
		if (begin("hipMallocPitch of %zu", widths[i])) {
			hipError_t e = hipMallocPitch(&p, &pitch, widths[i], 4);
			answer("%s, pitch %zu, %s", hipGetErrorName(e), pitch, p ? "an address" : "null");
		}
		hipPitchedPtr pp = {0};
		if (begin("hipMalloc3D of %zu", widths[i])) {
			hipError_t e = hipMalloc3D(&pp, (hipExtent){widths[i], 4, 2});
			answer("%s, pitch %zu, xsize %zu, ysize %zu", hipGetErrorName(e), pp.pitch, pp.xsize, pp.ysize);
		}
		for (unsigned elem = 1; elem <= 32; elem *= 2)
			if (begin("hipMemAllocPitch of %zu, elements of %u", widths[i], elem)) {
				hipError_t e = hipMemAllocPitch((hipDeviceptr_t *)&p, &pitch, widths[i], 4, elem);
				answer("%s, pitch %zu", hipGetErrorName(e), pitch);
			}
	}
	static const size_t amounts[] = {1, 255, 256, 4095, 4096, 4097, 1 << 20, (1 << 21) + 1};
	for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++)
		if (begin("hipMalloc of %zu", amounts[i])) {
			hipDeviceptr_t base;
			size_t n = 0, m = 0;
			hipError_t e = hipMalloc(&p, amounts[i]), f = hipMemGetAddressRange(&base, &n, p), g = hipMemPtrGetInfo(p, &m);
			answer("%s, at a multiple of %s, range %s %zu, info %s %zu", hipGetErrorName(e), (uintptr_t)p % 4096 ? "less than 4096" : "4096", hipGetErrorName(f), n, hipGetErrorName(g), m);
		}
	hipDeviceptr_t base;
	size_t n;
	MUST(hipMalloc(&p, 4096));
	if (begin("range of the inside")) {
		hipError_t e = hipMemGetAddressRange(&base, &n, (char *)p + 100);
		answer("%s, %s, %zu", hipGetErrorName(e), base == p ? "the beginning" : "another place", n);
	}
	IS(hipMemGetAddressRange(&base, &n, (char *)p + 4096), "range of the end");
	IS(hipMemPtrGetInfo((char *)p + 100, &n), "info of the inside");
	IS(hipMemPtrGetInfo(&n, &n), "info of the stack");
}

void memory(void)
{
	limits();
	host();
	freeing();
}

enum { SIZE = 4096 };
static char plain[SIZE], plain2[SIZE];

void copies(void)
{
	void *dev, *dev2, *pinned, *managed, *freed;
	hipStream_t s;
	static char registered[SIZE];
	MUST(hipStreamCreate(&s));
	MUST(hipMalloc(&dev, SIZE));
	MUST(hipMalloc(&dev2, SIZE));
	MUST(hipHostMalloc(&pinned, SIZE, 0));
	MUST(hipMallocManaged(&managed, SIZE, hipMemAttachGlobal));
	MUST(hipHostRegister(registered, SIZE, 0));
	MUST(hipMalloc(&freed, SIZE));
	MUST(hipFree(freed));
	struct { const char *name; void *p; } all[] = {{"device", dev}, {"device's inside", (char *)dev2 + 1000}, {"plain", plain}, {"pinned", pinned}, {"managed", managed}, {"registered", registered},
		{"null", 0}};
	const int n = sizeof all / sizeof *all;
	for (int i = 0; i < n; i++)
		for (int k = 0; k < n; k++)
			for (int kind = 0; kind < 5; kind++) {
				void *src = all[k].p == plain && all[i].p == plain ? plain2 : all[k].p;
				IS(hipMemcpy(all[i].p, src, 64, (hipMemcpyKind)kind), "hipMemcpy to %s from %s, kind %d", all[i].name, all[k].name, kind);
				if (begin("hipMemcpyAsync to %s from %s, kind %d", all[i].name, all[k].name, kind)) {
					hipError_t e = hipMemcpyAsync(all[i].p, src, 64, (hipMemcpyKind)kind, s);
					answer("%s, then %s", hipGetErrorName(e), hipGetErrorName(hipStreamSynchronize(s)));
				}
			}
	for (int i = 0; i < n; i++) {
		if (begin("hipMemset of %s", all[i].name))
			answered(hipMemset(all[i].p, 1, 64));
		if (begin("hipMemsetAsync of %s", all[i].name))
			answered(hipMemsetAsync(all[i].p, 1, 64, s));
		IS(hipMemset(all[i].p, 1, 0), "hipMemset of nothing of %s", all[i].name);
		IS(hipMemset(all[i].p, 1, SIZE + 1), "hipMemset of too much of %s", all[i].name);
		IS(hipMemcpy(all[i].p, plain2, 0, hipMemcpyDefault), "hipMemcpy of nothing to %s", all[i].name);
		IS(hipMemcpyHtoD(all[i].p, plain2, 64), "hipMemcpyHtoD to %s", all[i].name);
		IS(hipMemcpyDtoH(plain2, all[i].p, 64), "hipMemcpyDtoH from %s", all[i].name);
		IS(hipMemcpyDtoD(dev2, all[i].p, 64), "hipMemcpyDtoD from %s", all[i].name);
		IS(hipMemcpyPeer(dev, 0, all[i].p, 0, 64), "hipMemcpyPeer from %s", all[i].name);
	}
	for (int kind = -1; kind < 6; kind++) {
		static char big[2 * SIZE];
		IS(hipMemcpy(dev, big, SIZE + 1, (hipMemcpyKind)kind), "one byte too many to the device, kind %d", kind);
		IS(hipMemcpy(big, dev, SIZE + 1, (hipMemcpyKind)kind), "one byte too many from the device, kind %d", kind);
		IS(hipMemcpy(dev, dev2, SIZE + 1, (hipMemcpyKind)kind), "one byte too many on the device, kind %d", kind);
		IS(hipMemcpy((char *)dev + SIZE, big, 1, (hipMemcpyKind)kind), "to the device's end, kind %d", kind);
		IS(hipMemcpy2D(dev, 64, big, 64, 64, 4, (hipMemcpyKind)kind), "2-D, kind %d", kind);
		IS(hipMemcpy2D(dev, 32, big, 64, 64, 4, (hipMemcpyKind)kind), "2-D, a short pitch, kind %d", kind);
		IS(hipMemcpy2D(dev, 64, big, 32, 64, 4, (hipMemcpyKind)kind), "2-D, a short pitch of the source, kind %d", kind);
		IS(hipMemcpy2D(dev, 64, big, 64, 64, 65, (hipMemcpyKind)kind), "2-D, too high, kind %d", kind);
		IS(hipMemcpy2D(dev, 64, big, 64, 0, 4, (hipMemcpyKind)kind), "2-D, width 0, kind %d", kind);
		IS(hipMemcpy2D(dev, 64, big, 64, 64, 0, (hipMemcpyKind)kind), "2-D, height 0, kind %d", kind);
		IS(hipMemcpy2D(dev, 0, big, 0, 64, 1, (hipMemcpyKind)kind), "2-D, pitches 0, kind %d", kind);
		hipMemcpy3DParms p = {.srcPtr = {big, 64, 64, 4}, .dstPtr = {dev, 64, 64, 4}, .extent = {64, 4, 2}, .kind = (hipMemcpyKind)kind};
		IS(hipMemcpy3D(&p), "3-D, kind %d", kind);
		p.extent.depth = 0;
		IS(hipMemcpy3D(&p), "3-D, depth 0, kind %d", kind);
		p.extent = (hipExtent){64, 4, 100};
		IS(hipMemcpy3D(&p), "3-D, too deep, kind %d", kind);
		p.extent = (hipExtent){65, 4, 1};
		IS(hipMemcpy3D(&p), "3-D, wider than its pitch, kind %d", kind);
	}
	IS(hipMemset2D(dev, 64, 1, 64, 4), "memset 2-D");
	IS(hipMemset2D(dev, 32, 1, 64, 4), "memset 2-D, a short pitch");
	IS(hipMemset2D(dev, 64, 1, 64, 65), "memset 2-D, too high");
	IS(hipMemset2D(dev, 64, 1, 0, 4), "memset 2-D, width 0");
	IS(hipMemset2D(dev, 64, 1, 64, 0), "memset 2-D, height 0");
	IS(hipMemset3D((hipPitchedPtr){dev, 64, 64, 4}, 1, (hipExtent){64, 4, 2}), "memset 3-D");
	IS(hipMemset3D((hipPitchedPtr){dev, 64, 64, 4}, 1, (hipExtent){64, 4, 100}), "memset 3-D, too deep");
	IS(hipMemset3D((hipPitchedPtr){dev, 64, 64, 4}, 1, (hipExtent){64, 0, 1}), "memset 3-D, height 0");
	IS(hipMemset3D((hipPitchedPtr){dev, 64, 64, 4}, 1, (hipExtent){65, 4, 1}), "memset 3-D, wider than its pitch");
	IS(hipMemsetD16((hipDeviceptr_t)((char *)dev + 1), 1, 4), "memset of halves, not aligned");
	IS(hipMemsetD32((hipDeviceptr_t)((char *)dev + 2), 1, 4), "memset of words, not aligned");
	IS(hipMemsetD32((hipDeviceptr_t)dev, 1, SIZE / 4 + 1), "memset of words, too many");
	IS(hipMemcpy(freed, plain, 64, hipMemcpyHostToDevice), "to freed memory");
	IS(hipMemcpy(plain, freed, 64, hipMemcpyDeviceToHost), "from freed memory");
	IS(hipMemset(freed, 0, 64), "memset of freed memory");
	IS(hipMemcpy(freed, plain, 64, hipMemcpyDefault), "to freed memory, default");
}
