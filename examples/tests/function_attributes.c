/* What kernels say of themselves, and how many workgroups of them are resident. */
#include "test.h"

EMBED(vector_add);

int main(void)
{
	hipFunction_t f = kernel(IMAGE(vector_add), "vector_add");
	hipDeviceProp_t p;
	int v = -1, regs = -1, few = 0, many = 0, grid = 0, block = 0;
	CHECK(hipGetDeviceProperties(&p, 0));
	CHECK(hipFuncGetAttribute(&v, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f));
	ASSERT(v > 0 && v <= p.maxThreadsPerBlock);
	CHECK(hipFuncGetAttribute(&regs, HIP_FUNC_ATTRIBUTE_NUM_REGS, f));
	ASSERT(regs > 0 && regs <= 512);
	CHECK(hipFuncGetAttribute(&v, HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f));
	ASSERT(v == 0);
	CHECK(hipFuncGetAttribute(&v, HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, f));
	ASSERT(v >= 0);
	CHECK(hipFuncGetAttribute(&v, HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, f));
	ASSERT(v > 0 && (size_t)v <= p.sharedMemPerBlock);
	EXPECT(hipFuncGetAttribute(NULL, HIP_FUNC_ATTRIBUTE_NUM_REGS, f), hipErrorInvalidValue);
	EXPECT(hipFuncGetAttribute(&v, (hipFunction_attribute)77, f), hipErrorInvalidValue);
	CHECK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&few, f, p.maxThreadsPerBlock, 0));
	CHECK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&many, f, p.warpSize, 0));
	ASSERT(few > 0 && many > few && few * p.maxThreadsPerBlock <= p.maxThreadsPerMultiProcessor);
	CHECK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&v, f, p.warpSize, p.sharedMemPerBlock));
	ASSERT(v == 1); /* each has all of the local memory */
	CHECK(hipModuleOccupancyMaxPotentialBlockSize(&grid, &block, f, 0, 0));
	ASSERT(block > 0 && block <= p.maxThreadsPerBlock && block % p.warpSize == 0 && grid >= p.multiProcessorCount);
	CHECK(hipModuleOccupancyMaxPotentialBlockSize(&grid, &block, f, 0, 128));
	ASSERT(block <= 128);
	EXPECT(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(NULL, f, 64, 0), hipErrorInvalidValue);
	EXPECT(hipModuleOccupancyMaxPotentialBlockSize(NULL, &block, f, 0, 0), hipErrorInvalidValue);
	EXPECT(hipModuleOccupancyMaxPotentialBlockSize(&grid, NULL, f, 0, 0), hipErrorInvalidValue);
	return result("function attributes");
}
