/* What the library answers without a worker, opened with dlopen from a thread.
 *
 *   lazy LIBRARY         and must not have connected to anything
 *   lazy LIBRARY absent  then calls, which fail with hipErrorNotInitialized */
#include "test.h"

#include <dlfcn.h>
#include <pthread.h>

static void *open_library(void *path)
{
	return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

int main(int argc, char **argv)
{
	pthread_t t;
	void *lib = NULL;
	if (argc < 2 || pthread_create(&t, NULL, open_library, argv[1]) || pthread_join(t, &lib) || !lib) {
		fprintf(stderr, "no library: %s\n", dlerror());
		return 1;
	}
#define GET(name) __typeof__(&name) name##_ = (__typeof__(&name))dlvsym(lib, #name, "hip_4.2")
	GET(hipGetErrorName);
	GET(hipGetErrorString);
	GET(hipRuntimeGetVersion);
	GET(hipGetLastError);
	GET(hipGetDeviceCount);
	GET(hipSetDevice);
	GET(hipMalloc);
	GET(hipDeviceSynchronize);
	ASSERT(strcmp(hipGetErrorName_(hipErrorNoDevice), "hipErrorNoDevice") == 0);
	ASSERT(strlen(hipGetErrorString_(hipErrorNoDevice)) > 0);
	int v = 0;
	ASSERT(hipRuntimeGetVersion_(&v) == hipSuccess && v / 100000 == 604);
	ASSERT(hipGetLastError_() == hipSuccess);
	ASSERT(dlvsym(lib, "hipGetDevicePropertiesR0600", "hip_6.0") != NULL);
	ASSERT(dlsym(lib, "rw_hipMalloc") == NULL); /* nothing else is exported */
	if (argc > 2) {
		void *p;
		for (int i = 0; i < 2; i++) {
			ASSERT(hipGetDeviceCount_(&v) == hipErrorNotInitialized);
			ASSERT(hipSetDevice_(0) == hipErrorNotInitialized);
			ASSERT(hipMalloc_(&p, 16) == hipErrorNotInitialized);
			ASSERT(hipDeviceSynchronize_() == hipErrorNotInitialized);
			ASSERT(hipGetLastError_() == hipErrorNotInitialized);
		}
	}
	dlclose(lib);
	if (failures)
		fprintf(stderr, "lazy: %d failures\n", failures);
	return failures != 0;
}
