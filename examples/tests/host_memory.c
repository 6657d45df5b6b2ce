/* Host memory that devices use: pinned, registered in place, and managed. Kernels
 * get the device's addresses, which need not be the host's. */
#include "test.h"

#include <unistd.h>

EMBED(vector_add);

#define N 1024 /* floats of a vector */

static int devices, can_use_host_pointer;

/* device_of is where a device sees host memory. */
static void *device_of(void *host)
{
	void *d = NULL;
	CHECK(hipHostGetDevicePointer(&d, host, 0));
	ASSERT(d != NULL);
	if (can_use_host_pointer)
		ASSERT(d == host);
	return d;
}

/* add has the current device add vectors of n floats, which the host sees afterwards. */
static void add(void *a, void *b, void *c, int n)
{
	static hipFunction_t kernels[64];
	int device;
	CHECK(hipGetDevice(&device));
	if (!kernels[device])
		kernels[device] = kernel(IMAGE(vector_add), "vector_add");
	void *args[] = {&a, &b, &c, &n};
	CHECK(hipModuleLaunchKernel(kernels[device], (n + 255) / 256, 1, 1, 256, 1, 1, 0, 0, args, NULL));
	CHECK(hipDeviceSynchronize());
}

static void fill(float *p, int n, float first)
{
	for (int i = 0; i < n; i++)
		p[i] = first + i;
}

/* sums_in checks what add made of two vectors that fill wrote. */
static void sums_in(const char *what, const float *c, int n, float first)
{
	for (int i = 0; i < n; i++)
		if (c[i] != first + 2 * i) {
			FAIL("%s: element %d is %g, not %g", what, i, c[i], first + 2 * i);
			return;
		}
}

/* used has every device that may read and write a vector through its own address. */
static void used(const char *what, float *a, float *b, float *c, int n, int portable)
{
	for (int d = 0; d < (portable ? devices : 1); d++) {
		CHECK(hipSetDevice(d));
		for (int round = 0; round < 2; round++) { /* what the host writes in between is read */
			fill(a, n, 1 + round);
			fill(b, n, 10 + d);
			memset(c, 0xff, n * sizeof *c);
			add(device_of(a), device_of(b), device_of(c), n);
			sums_in(what, c, n, 11 + round + d);
		}
	}
	CHECK(hipSetDevice(0));
}

static void pinned(void)
{
	static const struct {
		const char *name;
		unsigned int flags;
	} kinds[] = {
		{"default", hipHostMallocDefault},
		{"portable", hipHostMallocPortable},
		{"mapped", hipHostMallocMapped},
		{"write-combined", hipHostMallocWriteCombined},
		{"coherent", hipHostMallocCoherent},
		{"not coherent", hipHostMallocNonCoherent},
		{"mapped, portable, write-combined", hipHostMallocMapped | hipHostMallocPortable | hipHostMallocWriteCombined},
		{"mapped, coherent", hipHostMallocMapped | hipHostMallocCoherent},
	};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		float *p = NULL;
		unsigned int flags = ~0u;
		CHECK(hipHostMalloc((void **)&p, 3 * N * sizeof *p, kinds[i].flags));
		ASSERT(p != NULL);
		CHECK(hipHostGetFlags(&flags, p));
		ASSERT((flags & kinds[i].flags) == kinds[i].flags);
		ASSERT((flags & hipHostMallocPortable) == (kinds[i].flags & hipHostMallocPortable));
		ASSERT((char *)device_of(p + 77) - (char *)device_of(p) == 77 * sizeof *p);
		used(kinds[i].name, p, p + N, p + 2 * N, N, kinds[i].flags & hipHostMallocPortable);
		CHECK(hipHostFree(p));
	}
	float *p = (float *)&p;
	CHECK(hipHostMalloc((void **)&p, 0, 0));
	ASSERT(p == NULL);
	CHECK(hipHostFree(NULL));
	CHECK(hipHostAlloc((void **)&p, 3 * N * sizeof *p, 0));
	used("hipHostAlloc", p, p + N, p + 2 * N, N, 0);
	CHECK(hipHostFree(p));
}

/* in_place registers a piece of memory and lets it go again: what lies around it stays as it is. */
static void in_place(const char *what, size_t offset, size_t size, unsigned int flags)
{
	const size_t page = sysconf(_SC_PAGESIZE), whole = 8 * page;
	unsigned char *base = aligned_alloc(page, whole);
	ASSERT(offset + size <= whole);
	for (int again = 0; again < 2; again++) { /* memory may be registered again */
		memset(base, 0xa5, whole);
		float *p = (float *)(base + offset);
		int n = size / sizeof *p / 3;
		CHECK(hipHostRegister(p, size, flags));
		ASSERT((char *)device_of(p + n) - (char *)device_of(p) == (long)(n * sizeof *p));
		used(what, p, p + n, p + 2 * n, n, flags & hipHostRegisterPortable);
		/* Half a vector from a stream, and a byte of it from a memset. */
		hipStream_t s;
		float *d;
		CHECK(hipStreamCreate(&s));
		CHECK(hipMalloc((void **)&d, size));
		fill(p, n, 5);
		CHECK(hipMemcpyAsync(d, p, n * sizeof *p, hipMemcpyHostToDevice, s));
		CHECK(hipMemcpyAsync(p + n, d, n * sizeof *p, hipMemcpyDeviceToHost, s));
		CHECK(hipMemsetAsync(device_of(p + 2 * n), 0, n * sizeof *p, s));
		CHECK(hipStreamSynchronize(s));
		ASSERT(memcmp(p, p + n, n * sizeof *p) == 0 && p[0] == 5 && p[2 * n] == 0 && p[3 * n - 1] == 0);
		CHECK(hipFree(d));
		CHECK(hipStreamDestroy(s));
		CHECK(hipHostUnregister(p));
		ASSERT(p[n - 1] == 5 + n - 1); /* the memory is the program's, with what is in it */
		p[0] = 6;
		for (size_t i = 0; i < whole; i++)
			if ((i < offset || i >= offset + 3 * n * sizeof *p) && base[i] != 0xa5) {
				FAIL("%s: byte %zu beside it is %#x", what, i, base[i]);
				break;
			}
		void *none;
		EXPECT(hipHostGetDevicePointer(&none, p, 0), hipErrorInvalidValue);
		EXPECT(hipHostUnregister(p), hipErrorHostMemoryNotRegistered);
	}
	free(base);
}

static void registered(void)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	in_place("a page", 0, page, hipHostRegisterDefault);
	in_place("a part of a page", 400, 600, hipHostRegisterMapped);
	in_place("the end of a page", page - 240, 240, hipHostRegisterDefault);
	in_place("over the edge of a page", page - 120, 240, hipHostRegisterPortable);
	in_place("several pages", page, 6 * page, hipHostRegisterPortable | hipHostRegisterMapped);
	in_place("several pages and parts of two", page + 1000, 4 * page + 800, hipHostRegisterDefault);

	/* Two pieces of one page; one ends before the other. */
	float *p = aligned_alloc(page, page), *q = p + page / sizeof *p / 2;
	CHECK(hipHostRegister(p, 1200, 0));
	CHECK(hipHostRegister(q, 1200, 0));
	used("the first piece", p, p + 100, p + 200, 100, 0);
	used("the second piece", q, q + 100, q + 200, 100, 0);
	fill(p, 100, 3);
	fill(p + 100, 100, 4);
	add(device_of(p), device_of(p + 100), device_of(q), 100); /* from one to the other */
	sums_in("both pieces", q, 100, 7);
	CHECK(hipHostUnregister(p));
	used("the second piece alone", q, q + 100, q + 200, 100, 0);
	CHECK(hipHostUnregister(q));
	free(p);
}

enum { PLAIN, PINNED, REGISTERED, MANAGED, DEVICE, KINDS };

static const char *const names[KINDS] = {"plain", "pinned", "registered", "managed", "device"};

/* Every kind of memory to every other one, and the kinds of copies that may be said of it. */
static void copies(void)
{
	enum { SIZE = 10000 };
	unsigned char *p[KINDS], *in = malloc(SIZE), *out = malloc(SIZE);
	p[PLAIN] = malloc(SIZE);
	p[REGISTERED] = malloc(SIZE);
	CHECK(hipHostMalloc((void **)&p[PINNED], SIZE, 0));
	CHECK(hipHostRegister(p[REGISTERED], SIZE, 0));
	CHECK(hipMallocManaged((void **)&p[MANAGED], SIZE, hipMemAttachGlobal));
	CHECK(hipMalloc((void **)&p[DEVICE], SIZE));
	for (int from = 0; from < KINDS; from++)
		for (int to = 0; to < KINDS; to++) {
			if (from == to)
				continue;
			hipMemcpyKind said = from == DEVICE ? hipMemcpyDeviceToHost : to == DEVICE ? hipMemcpyHostToDevice : hipMemcpyHostToHost;
			for (int kind = 0; kind < 2; kind++) {
				for (int i = 0; i < SIZE; i++)
					in[i] = i * 7 + from * 31 + to * 5 + kind;
				CHECK(hipMemcpy(p[from], in, SIZE, hipMemcpyDefault));
				CHECK(hipMemset(p[DEVICE], 0, from == DEVICE ? 0 : SIZE));
				CHECK(hipMemcpy(p[to] + 3, p[from] + 1, SIZE - 100, kind ? said : hipMemcpyDefault));
				CHECK(hipMemcpy(out, p[to] + 3, SIZE - 100, hipMemcpyDefault));
				if (memcmp(out, in + 1, SIZE - 100) != 0)
					FAIL("from %s to %s memory, %s: not what was copied", names[from], names[to], kind ? "as it is said" : "by its addresses");
			}
		}
	CHECK(hipFree(p[DEVICE]));
	CHECK(hipFree(p[MANAGED]));
	CHECK(hipHostUnregister(p[REGISTERED]));
	CHECK(hipHostFree(p[PINNED]));
	free(p[PLAIN]);
	free(p[REGISTERED]);
	free(in);
	free(out);
}

static void managed(void)
{
	static const unsigned int flags[] = {hipMemAttachGlobal, hipMemAttachHost};
	for (int i = 0; i < 2; i++) {
		float *p;
		CHECK(hipMallocManaged((void **)&p, 3 * N * sizeof *p, flags[i]));
		for (int round = 0; round < 3; round++) { /* at one address for all */
			fill(p, N, round);
			fill(p + N, N, 1);
			add(p, p + N, p + 2 * N, N);
			sums_in("managed", p + 2 * N, N, 1 + round);
		}
		CHECK(hipMemset(p, 0, N * sizeof *p));
		CHECK(hipDeviceSynchronize());
		ASSERT(p[0] == 0 && p[N - 1] == 0 && p[N] == 1);
		CHECK(hipFree(p));
	}
	void *p;
	EXPECT(hipMallocManaged(NULL, 64, hipMemAttachGlobal), hipErrorInvalidValue);
	EXPECT(hipMallocManaged(&p, 0, hipMemAttachGlobal), hipErrorInvalidValue);
	EXPECT(hipMallocManaged(&p, 64, 0), hipErrorInvalidValue);
	EXPECT(hipMallocManaged(&p, 64, 99), hipErrorInvalidValue);
}

static void refusals(void)
{
	void *p, *d, *device;
	unsigned int flags;
	char *plain = malloc(4096);
	EXPECT(hipHostMalloc(NULL, 64, 0), hipErrorInvalidValue);
	EXPECT(hipHostMalloc(&p, 64, hipHostMallocCoherent | hipHostMallocNonCoherent), hipErrorInvalidValue);
	EXPECT(hipHostMalloc(&p, (size_t)1 << 60, 0), hipErrorOutOfMemory);
	CHECK(hipHostMalloc(&p, 4096, 0));
	CHECK(hipMalloc(&device, 4096));
	EXPECT(hipHostGetDevicePointer(NULL, p, 0), hipErrorInvalidValue);
	EXPECT(hipHostGetDevicePointer(&d, p, 1), hipErrorInvalidValue);
	EXPECT(hipHostGetDevicePointer(&d, NULL, 0), hipErrorInvalidValue);
	EXPECT(hipHostGetDevicePointer(&d, plain, 0), hipErrorInvalidValue);
	EXPECT(hipHostGetFlags(NULL, p), hipErrorInvalidValue);
	EXPECT(hipHostGetFlags(&flags, NULL), hipErrorInvalidValue);
	EXPECT(hipHostGetFlags(&flags, plain), hipErrorInvalidValue);
	EXPECT(hipHostGetFlags(&flags, device), hipErrorInvalidValue);
	EXPECT(hipHostRegister(NULL, 64, 0), hipErrorInvalidValue);
	EXPECT(hipHostRegister(plain, 0, 0), hipErrorInvalidValue);
	EXPECT(hipHostRegister(plain, 4096, 16), hipErrorInvalidValue);
	EXPECT(hipHostUnregister(NULL), hipErrorInvalidValue);
	EXPECT(hipHostUnregister(plain), hipErrorHostMemoryNotRegistered);
	EXPECT(hipHostFree(plain), hipErrorInvalidValue);
	CHECK(hipFree(device));
	CHECK(hipHostFree(p));
	EXPECT(hipHostFree(p), hipErrorInvalidValue);
	EXPECT(hipHostGetDevicePointer(&d, p, 0), hipErrorInvalidValue);
	free(plain);
}

int main(void)
{
	CHECK(hipGetDeviceCount(&devices));
	CHECK(hipDeviceGetAttribute(&can_use_host_pointer, hipDeviceAttributeCanUseHostPointerForRegisteredMem, 0));
	pinned();
	registered();
	copies();
	managed();
	refusals();
	return result("host memory");
}
