/* Virtual memory of the stub: two devices of 64 MiB whose physical memory is
 * memory files. It keeps account, and refuses what a real library takes badly. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "hip/hip_runtime_api.h"

#define MiB (1ull << 20)
#define CAPACITY (64 * MiB)

struct physical {
	size_t size;
	int fd, device, owners; /* the program and each mapping */
};

struct mapping {
	char *at;
	size_t size;
	struct physical *of;
	int access[2];
};

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static char *range;
static size_t range_size;
static struct mapping maps[64];
static size_t used[2];

static const char *setting(const char *name) { const char *s = getenv(name); return s ? s : ""; }

/* As AMD's library, which believes what it is told. */
static int trusts(void) { return *setting("STUB_TRUSTS") != 0; }

hipError_t hipDeviceGetAttribute(int *v, hipDeviceAttribute_t a, int d)
{
	(void)d;
	*v = a == hipDeviceAttributeVirtualMemoryManagementSupported && strcmp(setting("STUB_VMM"), "no");
	return hipSuccess;
}

hipError_t hipMemGetAllocationGranularity(size_t *g, const hipMemAllocationProp *p, hipMemAllocationGranularity_flags f)
{
	(void)f;
	if (p->type != hipMemAllocationTypePinned || p->location.type != hipMemLocationTypeDevice || p->location.id < 0 || p->location.id > 1)
		return hipErrorInvalidValue;
	*g = strcmp(setting("STUB_VMM"), "huge") ? 65536 : 1ull << 30;
	return hipSuccess;
}

hipError_t hipDeviceCanAccessPeer(int *can, int d, int peer)
{
	(void)peer;
	*can = strcmp(setting("STUB_VMM"), "apart") && (d == 0 || strcmp(setting("STUB_VMM"), "one way"));
	return hipSuccess;
}

/* One reservation, which is what there may be. "elsewhere" does not take the
 * hint, and has no more than 8 GiB. */
hipError_t hipMemAddressReserve(void **p, size_t size, size_t alignment, void *hint, unsigned long long flags)
{
	(void)alignment;
	if (flags || !size || size % (2 * MiB) || range)
		return hipErrorInvalidValue;
	int elsewhere = !strcmp(setting("STUB_VMM"), "elsewhere");
	if (elsewhere && size > 8192 * MiB)
		return hipErrorOutOfMemory;
	if (elsewhere)
		hint = (char *)hint + 4096 * MiB;
	void *got = mmap(hint, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	if (got == MAP_FAILED)
		return hipErrorOutOfMemory;
	*p = range = got;
	range_size = size;
	return hipSuccess;
}

hipError_t hipMemAddressFree(void *p, size_t size)
{
	if (p != range || size != range_size) {
		if (trusts())
			abort();
		return hipErrorInvalidValue;
	}
	munmap(p, size);
	range = NULL;
	return hipSuccess;
}

hipError_t hipMemCreate(hipMemGenericAllocationHandle_t *h, size_t size, const hipMemAllocationProp *prop, unsigned long long flags)
{
	struct physical *x;
	hipError_t e = hipSuccess;

	if (flags || !size || size % 65536)
		return hipErrorInvalidValue;
	pthread_mutex_lock(&mu);
	int d = prop->location.id;
	if (size > CAPACITY - used[d]) {
		e = hipErrorOutOfMemory;
	} else {
		x = calloc(1, sizeof(*x));
		*x = (struct physical){.size = size, .device = d, .owners = 1, .fd = memfd_create("stub", 0)};
		if (ftruncate(x->fd, (off_t)size))
			abort();
		char *p = mmap(NULL, size, PROT_WRITE, MAP_SHARED, x->fd, 0);
		memset(p, 0xdd, 65536); /* memory is not zero */
		munmap(p, size);
		used[d] += size;
		*h = (hipMemGenericAllocationHandle_t)x;
	}
	pthread_mutex_unlock(&mu);
	return e;
}

static void drop(struct physical *x)
{
	if (!x->owners && trusts())
		abort();
	if (--x->owners)
		return;
	used[x->device] -= x->size;
	close(x->fd);
	free(x);
}

hipError_t hipMemRelease(hipMemGenericAllocationHandle_t h)
{
	pthread_mutex_lock(&mu);
	drop((struct physical *)h);
	pthread_mutex_unlock(&mu);
	return hipSuccess;
}

static struct mapping *find(const void *p, size_t size)
{
	for (int i = 0; i < 64; i++)
		if (maps[i].of && maps[i].at == p && maps[i].size == size)
			return &maps[i];
	return NULL;
}

hipError_t hipMemMap(void *p, size_t size, size_t offset, hipMemGenericAllocationHandle_t h, unsigned long long flags)
{
	struct physical *x = (struct physical *)h;
	hipError_t e = hipErrorInvalidValue;
	int i = 64;

	pthread_mutex_lock(&mu);
	for (int k = 0; k < 64; k++) {
		if (!maps[k].of)
			i = k;
		else if (maps[k].at < (char *)p + size && (char *)p < maps[k].at + maps[k].size)
			size = 0; /* taken */
	}
	if (i < 64 && !offset && !flags && size == x->size && (char *)p >= range && (char *)p + size <= range + range_size &&
	    mmap(p, size, PROT_NONE, MAP_SHARED | MAP_FIXED, x->fd, 0) == p) {
		maps[i] = (struct mapping){.at = p, .size = size, .of = x};
		x->owners++;
		e = hipSuccess;
	}
	pthread_mutex_unlock(&mu);
	return trusts() ? hipSuccess : e;
}

/* The device is "stuck" until it is reset. */
static volatile int was_reset;

hipError_t hipMemUnmap(void *p, size_t size)
{
	while (!was_reset && !strcmp(setting("STUB_VMM"), "stuck"))
		usleep(1000);
	pthread_mutex_lock(&mu);
	struct mapping *m = find(p, size);
	if (m) {
		mmap(p, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
		drop(m->of);
		m->of = NULL;
	}
	pthread_mutex_unlock(&mu);
	if (!m && trusts())
		abort();
	return m ? hipSuccess : hipErrorInvalidValue;
}

hipError_t hipMemSetAccess(void *p, size_t size, const hipMemAccessDesc *desc, size_t n)
{
	hipError_t e = strcmp(setting("STUB_VMM"), "no access") ? hipSuccess : hipErrorInvalidValue;

	pthread_mutex_lock(&mu);
	struct mapping *m = find(p, size);
	for (size_t i = 0; m && i < n; i++)
		m->access[desc[i].location.id] = desc[i].flags;
	if (!m || e != hipSuccess || mprotect(p, size, PROT_READ | PROT_WRITE))
		e = hipErrorInvalidValue;
	pthread_mutex_unlock(&mu);
	return e;
}

/* What the mapping that begins at p says, and not p itself. */
hipError_t hipMemGetAccess(unsigned long long *flags, const hipMemLocation *l, void *p)
{
	hipError_t e = hipErrorInvalidValue;

	for (int i = 0; i < 64; i++)
		if (maps[i].of && maps[i].at == p) {
			*flags = (unsigned long long)maps[i].access[l->id];
			e = hipSuccess;
		}
	return e;
}

hipError_t hipIpcGetMemHandle(hipIpcMemHandle_t *h, void *p)
{
	(void)h, (void)p;
	return hipSuccess;
}

hipError_t hipMemGetInfo(size_t *unused, size_t *total)
{
	*unused = CAPACITY - used[0];
	*total = CAPACITY;
	return hipSuccess;
}

hipError_t hipDeviceSynchronize(void)
{
	return hipSuccess;
}

/* Fails while anything is mapped, of which a real library would lose sight. */
hipError_t hipDeviceReset(void)
{
	was_reset = 1;
	for (int i = 0; i < 64 && strcmp(setting("STUB_VMM"), "stuck"); i++)
		if (maps[i].of && maps[i].of->device == 0)
			return hipErrorUnknown;
	return hipSuccess;
}

/* What the library places itself: it needs as much to be free at the moment, and holds nothing. */
static hipError_t room(size_t size)
{
	pthread_mutex_lock(&mu);
	hipError_t e = size > CAPACITY - used[0] ? hipErrorOutOfMemory : hipSuccess;
	pthread_mutex_unlock(&mu);
	return e;
}

hipError_t hipExtMallocWithFlags(void **p, size_t size, unsigned flags)
{
	hipError_t e = flags ? hipErrorInvalidValue : room(size);
	return e ? e : hipMalloc(p, 16);
}

hipError_t hipArray3DCreate(hipArray_t *a, const HIP_ARRAY3D_DESCRIPTOR *d)
{
	hipError_t e = room(d->Width * d->Height * 4 * d->NumChannels);
	return e ? e : hipMalloc((void **)a, 16);
}

hipError_t hipArrayDestroy(hipArray_t a) { return hipFree(a); }

hipError_t hipMipmappedArrayCreate(hipMipmappedArray_t *m, HIP_ARRAY3D_DESCRIPTOR *d, unsigned levels)
{
	hipError_t e = room(d->Width * d->Height * 4 * d->NumChannels * levels);
	return e ? e : hipMalloc((void **)m, 16);
}

hipError_t hipMipmappedArrayDestroy(hipMipmappedArray_t m) { return hipFree(m); }
