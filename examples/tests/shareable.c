/* Memory that a file descriptor stands for, for who has it. */
#include "test.h"

#include <unistd.h>

static size_t size;

static const hipMemAllocationProp plain = {
	.type = hipMemAllocationTypePinned,
	.location = {hipMemLocationTypeDevice, 0},
};

/* mapped is a handle's memory at addresses of its own, which may be used. */
static void *mapped(hipMemGenericAllocationHandle_t h)
{
	hipMemAccessDesc d = {{hipMemLocationTypeDevice, 0}, hipMemAccessFlagsProtReadWrite};
	void *p;
	CHECK(hipMemAddressReserve(&p, size, 0, NULL, 0));
	CHECK(hipMemMap(p, size, 0, h, 0));
	CHECK(hipMemSetAccess(p, size, &d, 1));
	return p;
}

static void unmapped(void *p)
{
	CHECK(hipMemUnmap(p, size));
	CHECK(hipMemAddressFree(p, size));
}

int main(void)
{
	hipMemAllocationProp p = plain;
	hipMemGenericAllocationHandle_t h, g;
	int fd = -1, x = 81, got = 0;
	void *a, *b;
	CHECK(hipMemGetAllocationGranularity(&size, &plain, hipMemAllocationGranularityRecommended));
	CHECK(hipMemCreate(&h, size, &plain, 0));
	EXPECT(hipMemExportToShareableHandle(&fd, h, hipMemHandleTypePosixFileDescriptor, 0), hipErrorInvalidValue); /* not made for that */
	CHECK(hipMemRelease(h));
	p.requestedHandleType = hipMemHandleTypePosixFileDescriptor;
	CHECK(hipMemCreate(&h, size, &p, 0));
	EXPECT(hipMemExportToShareableHandle(&fd, h, hipMemHandleTypePosixFileDescriptor, 1), hipErrorInvalidValue);
	EXPECT(hipMemExportToShareableHandle(&fd, NULL, hipMemHandleTypePosixFileDescriptor, 0), hipErrorInvalidValue);
	CHECK(hipMemExportToShareableHandle(&fd, h, hipMemHandleTypePosixFileDescriptor, 0));
	ASSERT(fd >= 0);
	a = mapped(h);
	CHECK(hipMemcpy(a, &x, 4, hipMemcpyHostToDevice));
	CHECK(hipMemImportFromShareableHandle(&g, (void *)(uintptr_t)fd, hipMemHandleTypePosixFileDescriptor));
	close(fd);
	b = mapped(g);
	CHECK(hipMemcpy(&got, b, 4, hipMemcpyDeviceToHost));
	ASSERT(got == 81);
	unmapped(b);
	CHECK(hipMemRelease(g));
	unmapped(a);
	CHECK(hipMemRelease(h));
	EXPECT(hipMemImportFromShareableHandle(&g, NULL, hipMemHandleTypePosixFileDescriptor), hipErrorInvalidValue);
	EXPECT(hipMemImportFromShareableHandle(NULL, (void *)(uintptr_t)fd, hipMemHandleTypePosixFileDescriptor), hipErrorInvalidValue);
	EXPECT(hipMemImportFromShareableHandle(&g, (void *)(uintptr_t)2, hipMemHandleTypePosixFileDescriptor), hipErrorInvalidValue); /* a descriptor of something else */
	return result("shareable memory");
}
