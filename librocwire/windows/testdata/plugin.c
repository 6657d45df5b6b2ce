/* A library with code for the GPU, registered when it is loaded and taken back when it
 * is unloaded, as clang makes it. */
#include "../../../examples/tests/bundle.h"
#include "../../../examples/tests/test.h"

EMBED(vector_add);

static void **handle;

static void vector_add(void) {}

__attribute__((constructor)) static void load(void)
{
	static struct fat_binary f;
	handle = __hipRegisterFatBinary(fat(&f, vector_add_gfx90a, vector_add_gfx942));
	__hipRegisterFunction(handle, (const void *)vector_add, "vector_add", "vector_add", (unsigned int)-1, NULL, NULL, NULL, NULL, NULL);
}

__attribute__((destructor)) static void unload(void)
{
	__hipUnregisterFatBinary(handle);
}

__declspec(dllexport) int add(const float *a, const float *b, float *c, int n)
{
	void *args[] = {&a, &b, &c, &n};
	ASSERT(failures == 0);
	return hipLaunchKernel((const void *)vector_add, (dim3){(n + 127) / 128, 1, 1}, (dim3){128, 1, 1}, args, 0, NULL);
}
