/* Every function may be the first: it finds the devices, and answers as it does
 * later.
 *
 *   first            with devices
 *   first hidden     after hiding them all: hipErrorNoDevice from each
 *   first chosen N   after choosing device N: it is the only one */
#include "test.h"

static void graphs(void)
{
	hipGraph_t g;
	hipGraphExec_t x;
	CHECK(hipGraphCreate(&g, 0));
	CHECK(hipGraphInstantiate(&x, g, NULL, NULL, 0));
	CHECK(hipGraphExecDestroy(x));
	CHECK(hipGraphDestroy(g));
}

static void none(void)
{
	int n = -1;
	void *p;
	hipStream_t s;
	hipGraph_t g;
	hipEvent_t e;
	hipStreamCaptureStatus status;
	EXPECT(hipGraphCreate(&g, 0), hipErrorNoDevice);
	EXPECT(hipGetDeviceCount(&n), hipErrorNoDevice);
	ASSERT(n == 0);
	EXPECT(hipMalloc(&p, 16), hipErrorNoDevice);
	EXPECT(hipHostMalloc(&p, 16, 0), hipErrorNoDevice);
	EXPECT(hipHostFree(NULL), hipErrorNoDevice);
	EXPECT(hipSetDevice(0), hipErrorNoDevice);
	EXPECT(hipStreamCreate(&s), hipErrorNoDevice);
	EXPECT(hipEventCreate(&e), hipErrorNoDevice);
	EXPECT(hipStreamIsCapturing(NULL, &status), hipErrorNoDevice);
	EXPECT(hipDeviceSynchronize(), hipErrorNoDevice);
}

int main(int argc, char **argv)
{
	if (argc == 1) {
		graphs();
	} else if (!strcmp(argv[1], "hidden")) {
		setenv("HIP_VISIBLE_DEVICES", "-1", 1);
		none();
	} else {
		int n = 0, all = 0;
		char bus[32];
		setenv("HIP_VISIBLE_DEVICES", argv[2], 1);
		CHECK(hipGetDeviceCount(&n));
		ASSERT(n == 1);
		setenv("HIP_VISIBLE_DEVICES", "0", 1); /* too late */
		CHECK(hipGetDeviceCount(&all));
		ASSERT(all == 1);
		CHECK(hipDeviceGetPCIBusId(bus, sizeof bus, 0));
		printf("bus %s\n", bus);
	}
	return result("first");
}
