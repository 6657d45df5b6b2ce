/* Both libraries opened by name, one after the other, each to itself.
 *
 *   open FIRST SECOND     one of them libamd_smi.so.27 */
#define _GNU_SOURCE
#include <amd_smi/amdsmi.h>
#include <dlfcn.h>
#include <hip/hip_runtime_api.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	void *lib[2];
	for (int i = 0; i < 2 && argc == 3; i++)
		if (!(lib[i] = dlopen(argv[i + 1], RTLD_NOW | RTLD_LOCAL))) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
	int smi = dlsym(lib[0], "amdsmi_init") ? 0 : 1;
#define GET(from, name, version) __typeof__(&name) name##_ = (__typeof__(&name))dlvsym(lib[from], #name, version)
	GET(smi, amdsmi_init, "AMDSMI_1");
	GET(smi, amdsmi_shut_down, "AMDSMI_1");
	GET(smi, amdsmi_get_socket_handles, "AMDSMI_1");
	GET(!smi, hipGetDeviceCount, "hip_4.2");
	if (!amdsmi_init_ || !amdsmi_shut_down_ || !amdsmi_get_socket_handles_ || !hipGetDeviceCount_) {
		fprintf(stderr, "a function is missing: %s\n", dlerror());
		return 1;
	}
	if (dlsym(lib[smi], "hipGetDeviceCount") || dlsym(lib[!smi], "amdsmi_init") || dlsym(lib[smi], "rw_amdsmi_init")) {
		fprintf(stderr, "a library has functions that are not its own\n");
		return 1;
	}
	uint32_t sockets = 0;
	int devices = 0, r;
	if ((r = amdsmi_init_(AMDSMI_INIT_AMD_GPUS)) || (r = amdsmi_get_socket_handles_(&sockets, NULL)) || (r = (int)hipGetDeviceCount_(&devices)) || (r = amdsmi_shut_down_())) {
		fprintf(stderr, "error %d\n", r);
		return 1;
	}
	printf("open: %u sockets, %d devices\n", sockets, devices);
	return dlclose(lib[0]) || dlclose(lib[1]);
}
