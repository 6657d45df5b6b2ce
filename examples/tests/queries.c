/* What devices say of themselves: the same in every form in which they are asked. */
#include "test.h"

static void of(int d)
{
	static const struct {
		hipDeviceAttribute_t attribute;
		size_t offset;
	} ints[] = {
#define FIELD(a, f) {hipDeviceAttribute##a, offsetof(hipDeviceProp_t, f)}
		FIELD(WarpSize, warpSize), FIELD(MaxThreadsPerBlock, maxThreadsPerBlock), FIELD(MultiprocessorCount, multiProcessorCount),
		FIELD(ClockRate, clockRate), FIELD(MemoryClockRate, memoryClockRate), FIELD(MemoryBusWidth, memoryBusWidth),
		FIELD(MaxThreadsPerMultiProcessor, maxThreadsPerMultiProcessor), FIELD(PciBusId, pciBusID), FIELD(PciDeviceId, pciDeviceID),
		FIELD(ConcurrentKernels, concurrentKernels), FIELD(Integrated, integrated), FIELD(CooperativeLaunch, cooperativeLaunch),
		FIELD(ManagedMemory, managedMemory), FIELD(ComputeCapabilityMajor, major), FIELD(ComputeCapabilityMinor, minor),
	};
	hipDeviceProp_t p;
	hipDevice_t handle = -1;
	hipUUID id;
	char name[256], bus[64], again[64];
	size_t total = 0, available = 0, all = 0;
	int v, back = -1;
	CHECK(hipSetDevice(d));
	CHECK(hipDeviceGet(&handle, d));
	CHECK(hipGetDeviceProperties(&p, d));
	for (size_t i = 0; i < sizeof ints / sizeof *ints; i++) {
		v = -1;
		CHECK(hipDeviceGetAttribute(&v, ints[i].attribute, d));
		if (v != *(int *)((char *)&p + ints[i].offset))
			FAIL("attribute %d is %d, and among the properties %d", (int)ints[i].attribute, v, *(int *)((char *)&p + ints[i].offset));
	}
	CHECK(hipDeviceGetAttribute(&v, hipDeviceAttributeMaxBlockDimX, d));
	ASSERT(v == p.maxThreadsDim[0] && v >= p.maxThreadsPerBlock);
	CHECK(hipDeviceGetAttribute(&v, hipDeviceAttributeMaxSharedMemoryPerBlock, d));
	ASSERT((size_t)v == p.sharedMemPerBlock);
	/* These two are addresses, all eight bytes of them. */
	unsigned *mem = (unsigned *)-1, *reg = (unsigned *)-1;
	CHECK(hipDeviceGetAttribute((int *)&mem, hipDeviceAttributeHdpMemFlushCntl, d));
	CHECK(hipDeviceGetAttribute((int *)&reg, hipDeviceAttributeHdpRegFlushCntl, d));
	ASSERT(mem == p.hdpMemFlushCntl && reg == p.hdpRegFlushCntl);
	CHECK(hipDeviceGetName(name, sizeof name, handle));
	ASSERT(name[0] != 0 && strcmp(name, p.name) == 0);
	CHECK(hipDeviceTotalMem(&total, handle));
	CHECK(hipMemGetInfo(&available, &all));
	ASSERT(total == p.totalGlobalMem && all == total && available <= all);
	CHECK(hipDeviceGetUuid(&id, handle));
	CHECK(hipDeviceGetPCIBusId(bus, sizeof bus, d));
	CHECK(hipDeviceGetByPCIBusId(&back, bus));
	/* devices of several machines may have one address: the first of them is meant */
	CHECK(hipDeviceGetPCIBusId(again, sizeof again, back));
	ASSERT(back <= d && strcmp(again, bus) == 0);
	EXPECT(hipDeviceGetPCIBusId(NULL, sizeof bus, d), hipErrorInvalidValue);
	EXPECT(hipDeviceGetPCIBusId(bus, 0, d), hipErrorInvalidValue);
	EXPECT(hipDeviceGetByPCIBusId(NULL, bus), hipErrorInvalidValue);
	EXPECT(hipDeviceGetName(NULL, sizeof name, handle), hipErrorInvalidValue);
	EXPECT(hipDeviceGetName(name, 0, handle), hipErrorInvalidValue);
	EXPECT(hipDeviceGetAttribute(NULL, hipDeviceAttributeWarpSize, d), hipErrorInvalidValue);
	EXPECT(hipDeviceGetAttribute(&v, (hipDeviceAttribute_t)-1, d), hipErrorInvalidValue);
	EXPECT(hipDeviceTotalMem(NULL, handle), hipErrorInvalidValue);
}

int main(void)
{
	hipDeviceProp_t p;
	char name[8];
	size_t n;
	int count = 0, v;
	CHECK(hipGetDeviceCount(&count));
	ASSERT(count > 0);
	for (int d = 0; d < count; d++)
		of(d);
	for (int none = -1; none <= count; none += count + 1) {
		EXPECT(hipSetDevice(none), hipErrorInvalidDevice);
		EXPECT(hipGetDeviceProperties(&p, none), hipErrorInvalidDevice);
		EXPECT(hipDeviceGetAttribute(&v, hipDeviceAttributeWarpSize, none), hipErrorInvalidDevice);
		EXPECT(hipDeviceGetName(name, sizeof name, none), hipErrorInvalidDevice);
		EXPECT(hipDeviceTotalMem(&n, none), hipErrorInvalidDevice);
		EXPECT(hipDeviceGetPCIBusId(name, sizeof name, none), hipErrorInvalidDevice);
	}
	EXPECT(hipGetDeviceCount(NULL), hipErrorInvalidValue);
	return result("queries");
}
