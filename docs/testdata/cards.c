// Stands for AMD's amd-smi and rocm-smi, which a machine without ROCm has not: it looks for the driver as they do, opens the library that
// they would, and wants to see a card. So it does as btop and alumet-agent, which do not look for the driver.
#include <dlfcn.h>
#include <libgen.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "amd_smi/amdsmi.h"

static int fail(const char *what) {
	fprintf(stderr, "cards: %s\n", what);
	return 1;
}

static int older(const char *library) {
	void *l = dlopen(library, RTLD_NOW);
	if (l == NULL) return fail(dlerror());
	int (*init)(uint64_t) = (int (*)(uint64_t))dlsym(l, "rsmi_init");
	int (*count)(uint32_t *) = (int (*)(uint32_t *))dlsym(l, "rsmi_num_monitor_devices");
	uint32_t n = 0;
	if (init == NULL || count == NULL) return fail("no function rsmi_init");
	if (init(0) != 0 || count(&n) != 0 || n == 0) return fail("no card");
	printf("%u cards\n", n);
	return 0;
}

static int driver(void) {
	char state[8] = "";
	FILE *f = fopen("/sys/module/amdgpu/initstate", "r");
	return f != NULL && fgets(state, sizeof state, f) != NULL && state[0] == 'l';
}

int main(int argc, char **argv) {
	(void)argc;
	const char *name = basename(argv[0]);
	if (strcmp(name, "btop") == 0) return older("librocm_smi64.so");
	if (strcmp(name, "alumet-agent") != 0 && !driver()) return fail("Drivers not loaded");
	if (getenv("ROCM_SMI_LIB_PATH") != NULL) return older(getenv("ROCM_SMI_LIB_PATH"));
	uint32_t sockets = 0;
	if (amdsmi_init(AMDSMI_INIT_AMD_GPUS) != AMDSMI_STATUS_SUCCESS) return fail("amdsmi_init");
	if (amdsmi_get_socket_handles(&sockets, NULL) != AMDSMI_STATUS_SUCCESS || sockets == 0) return fail("no card");
	printf("%u cards\n", sockets);
	return amdsmi_shut_down() == AMDSMI_STATUS_SUCCESS ? 0 : fail("amdsmi_shut_down");
}
