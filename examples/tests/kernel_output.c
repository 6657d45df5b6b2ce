/* What kernels print is on the program's own streams, in order with what it
 * prints itself, when a call returns that has waited for them; a failed
 * assertion ends the device's context with its message on standard error. */
#include "test.h"

EMBED(services);
EMBED(buffered);

static hipFunction_t get(hipModule_t m, const char *name)
{
	hipFunction_t f;
	CHECK(hipModuleGetFunction(&f, m, name));
	return f;
}

int main(void)
{
	hipModule_t services, buffered;
	void *lengths;
	uint32_t got[2];
	CHECK(hipModuleLoadData(&services, IMAGE(services)));
	CHECK(hipModuleLoadData(&buffered, IMAGE(buffered)));
	hipFunction_t lines = get(services, "print_lines"), late = get(buffered, "printf_lines"), trap = get(services, "print_and_trap");
	CHECK(hipMalloc(&lengths, 64 * 4));

	for (uint32_t from = 7; from < 9; from++) {
		printf("before %u\n", from);
		void *args[] = {&lengths, &from};
		CHECK(hipModuleLaunchKernel(lines, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
		CHECK(hipDeviceSynchronize());
	}
	CHECK(hipMemcpy(got, lengths, 4, hipMemcpyDeviceToHost));
	ASSERT(got[0] == strlen("thread 8 of 1\n"));
	uint32_t from = 100;
	double x = 2.25;
	void *args[] = {&from, &x};
	CHECK(hipModuleLaunchKernel(late, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
	CHECK(hipStreamSynchronize(NULL));
	printf("after\n");
	fflush(stdout);

	uint32_t at = 3;
	void *where[] = {&at};
	CHECK(hipModuleLaunchKernel(trap, 1, 1, 1, 64, 1, 1, 0, NULL, where, NULL));
	EXPECT(hipDeviceSynchronize(), hipErrorAssert);
	EXPECT(hipDeviceSynchronize(), hipErrorAssert);
	printf(failures ? "failed\n" : "kernel output: ok\n");
	return failures != 0;
}
