/* Two devices, whether they are one machine's or two workers': what one has the
 * other gets, in the order that streams and events say. */
#include <hip/hip_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call)                                                                                    \
	do {                                                                                           \
		hipError_t e_ = (call);                                                                \
		if (e_ != hipSuccess) {                                                                \
			printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, hipGetErrorName(e_));     \
			exit(1);                                                                       \
		}                                                                                      \
	} while (0)
#define EXPECT(what)                                                                                   \
	do {                                                                                           \
		if (!(what)) {                                                                         \
			printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #what);                      \
			exit(1);                                                                       \
		}                                                                                      \
	} while (0)

enum { N = 3 << 20, ROUNDS = 20 };

static void fill(unsigned char *p, unsigned seed)
{
	for (size_t i = 0; i < N; i++)
		p[i] = (unsigned char)(i * 31 + (i >> 9) + seed);
}

int main(void)
{
	int n = 0, can = -1;
	hipDevice_t dev[2];
	hipUUID id[2];
	unsigned char *p[2], *q[2], *host, *want = malloc(N), *pinned;
	hipStream_t s[2];
	hipEvent_t e[2];

	CHECK(hipGetDeviceCount(&n));
	EXPECT(n >= 2);
	for (int d = 0; d < 2; d++) {
		hipDeviceProp_t prop;
		size_t free, total;
		CHECK(hipSetDevice(d));
		CHECK(hipGetDeviceProperties(&prop, d));
		CHECK(hipMemGetInfo(&free, &total));
		EXPECT(free > 0 && free <= total);
		CHECK(hipDeviceGet(&dev[d], d));
		CHECK(hipDeviceGetUuid(&id[d], dev[d]));
		CHECK(hipMalloc((void **)&p[d], N));
		CHECK(hipMalloc((void **)&q[d], N));
		CHECK(hipStreamCreateWithFlags(&s[d], hipStreamNonBlocking));
		CHECK(hipEventCreateWithFlags(&e[d], hipEventDisableTiming));
	}
	CHECK(hipDeviceCanAccessPeer(&can, 0, 1));
	EXPECT(can == 0 || can == 1);
	EXPECT(hipDeviceCanAccessPeer(&can, 0, n) == hipErrorInvalidDevice);
	for (int d = 0; d < 2; d++) {
		hipPointerAttribute_t a;
		int of = -1;
		CHECK(hipPointerGetAttributes(&a, p[d]));
		EXPECT(a.device == d && a.type == hipMemoryTypeDevice);
		CHECK(hipStreamGetDevice(s[d], &of));
		EXPECT(of == d);
	}

	/* Back and forth between the devices, each step ordered behind the one before by an event alone. */
	host = malloc(N);
	fill(want, 1);
	CHECK(hipSetDevice(0));
	CHECK(hipMemcpy(p[0], want, N, hipMemcpyHostToDevice));
	for (int i = 0; i < ROUNDS; i++) {
		int from = i % 2, to = 1 - from;
		CHECK(hipSetDevice(from));
		CHECK(hipMemcpyAsync(q[from], p[from], N, hipMemcpyDeviceToDevice, s[from]));
		CHECK(hipMemcpyPeerAsync(p[to], to, q[from], from, N, s[from]));
		CHECK(hipMemsetAsync(q[from], i, N, s[from]));
		CHECK(hipEventRecord(e[from], s[from]));
		CHECK(hipSetDevice(to));
		CHECK(hipStreamWaitEvent(s[to], e[from], 0));
	}
	CHECK(hipStreamSynchronize(s[0]));
	CHECK(hipStreamSynchronize(s[1]));
	CHECK(hipMemcpy(host, p[ROUNDS % 2], N, hipMemcpyDefault));
	EXPECT(memcmp(host, want, N) == 0);

	/* Copies that wait, of rows, and by what the addresses say. */
	fill(want, 2);
	CHECK(hipMemcpy(p[1], want, N, hipMemcpyDefault));
	CHECK(hipMemset(p[0], 0, N));
	CHECK(hipMemcpyPeer(p[0], 0, p[1], 1, N));
	CHECK(hipMemcpy(host, p[0], N, hipMemcpyDefault));
	EXPECT(memcmp(host, want, N) == 0);
	CHECK(hipMemset(p[0], 0, N));
	CHECK(hipMemcpy2D(p[0], 3000, p[1], 3000, 1000, N / 3000, hipMemcpyDeviceToDevice));
	CHECK(hipMemcpy(host, p[0], N, hipMemcpyDefault));
	for (size_t i = 0; i < N / 3000 * 3000; i++)
		EXPECT(host[i] == (i % 3000 < 1000 ? want[i] : 0));
	EXPECT(hipMemcpyPeer(p[0], 0, p[1], n, N) == hipErrorInvalidDevice);

	/* Pinned memory is every device's. */
	CHECK(hipHostMalloc((void **)&pinned, N, hipHostMallocPortable));
	fill(pinned, 3);
	CHECK(hipSetDevice(0));
	CHECK(hipMemcpyAsync(p[0], pinned, N, hipMemcpyDefault, s[0]));
	CHECK(hipStreamSynchronize(s[0]));
	memset(pinned, 0, N);
	CHECK(hipSetDevice(1));
	CHECK(hipMemcpyPeerAsync(p[1], 1, p[0], 0, N, s[1]));
	CHECK(hipMemcpyAsync(pinned, p[1], N, hipMemcpyDefault, s[1]));
	CHECK(hipStreamSynchronize(s[1]));
	fill(want, 3);
	EXPECT(memcmp(pinned, want, N) == 0);
	CHECK(hipHostFree(pinned));

	for (int d = 0; d < 2; d++) {
		CHECK(hipSetDevice(1 - d)); /* from a thread of the other */
		CHECK(hipStreamDestroy(s[d]));
		CHECK(hipEventDestroy(e[d]));
		CHECK(hipFree(p[d]));
		CHECK(hipFree(q[d]));
	}
	printf("devices: ok\n");
	return 0;
}
