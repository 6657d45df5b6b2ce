/* HIP and AMD SMI in one process, both linked: what one does, the other sees. */
#include <amd_smi/amdsmi.h>
#include <hip/hip_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call) \
	do { \
		int r = (call); \
		if (r) { \
			fprintf(stderr, "%s: %d\n", #call, r); \
			exit(1); \
		} \
	} while (0)

#define MIB (1ull << 20)

static uint64_t used(amdsmi_processor_handle card)
{
	uint64_t n = 0;
	CHECK(amdsmi_get_gpu_memory_usage(card, AMDSMI_MEM_TYPE_VRAM, &n));
	return n;
}

int main(void)
{
	amdsmi_socket_handle socket;
	amdsmi_processor_handle card;
	amdsmi_asic_info_t asic;
	hipDeviceProp_t prop;
	uint32_t sockets = 1, cards = 1;
	int devices = 0;
	void *memory;

	CHECK(hipGetDeviceCount(&devices));
	CHECK(amdsmi_init(AMDSMI_INIT_AMD_GPUS));
	CHECK(amdsmi_get_socket_handles(&sockets, &socket));
	CHECK(amdsmi_get_processor_handles(socket, &cards, &card));
	if (devices != 1 || sockets != 1 || cards != 1) {
		fprintf(stderr, "%d devices, %u sockets, %u cards\n", devices, sockets, cards);
		return 1;
	}
	CHECK(amdsmi_get_gpu_asic_info(card, &asic));
	CHECK(hipGetDeviceProperties(&prop, 0));
	printf("%s, %s\n", prop.name, asic.market_name);

	uint64_t before = used(card);
	CHECK(hipMalloc(&memory, 512 * MIB));
	CHECK(hipMemset(memory, 1, 512 * MIB));
	CHECK(hipDeviceSynchronize());
	struct timespec soon = {0, 20000000};
	uint64_t now = 0;
	for (int i = 0; i < 500 && now < before + 512 * MIB; i++) { /* figures are read every now and then */
		nanosleep(&soon, NULL);
		now = used(card);
	}
	if (now < before + 512 * MIB) {
		fprintf(stderr, "of 512 MiB that HIP allocated AMD SMI sees %llu MiB\n", (unsigned long long)((now - before) / MIB));
		return 1;
	}
	CHECK(hipFree(memory));
	CHECK(amdsmi_shut_down());
	CHECK(hipDeviceSynchronize()); /* HIP goes on */
	puts("both: ok");
	return 0;
}
