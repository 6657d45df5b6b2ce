/* The cards as AMD SMI lists them. */
#include <amd_smi/amdsmi.h>
#include <stdio.h>

int main(void)
{
	amdsmi_socket_handle socket[16];
	uint32_t sockets = 16;
	int r = amdsmi_init(AMDSMI_INIT_AMD_GPUS);
	if (r || (r = amdsmi_get_socket_handles(&sockets, socket)))
		return r;
	for (uint32_t s = 0; s < sockets; s++) {
		amdsmi_processor_handle card[16];
		uint32_t cards = 16;
		if ((r = amdsmi_get_processor_handles(socket[s], &cards, card)))
			return r;
		for (uint32_t c = 0; c < cards; c++) {
			amdsmi_asic_info_t asic;
			amdsmi_bdf_t bdf;
			if ((r = amdsmi_get_gpu_asic_info(card[c], &asic)) || (r = amdsmi_get_gpu_device_bdf(card[c], &bdf)))
				return r;
			printf("%04x:%02x:%02x.%d %s\n", (unsigned)bdf.domain_number, (unsigned)bdf.bus_number, (unsigned)bdf.device_number, (unsigned)bdf.function_number, asic.market_name);
		}
	}
	return amdsmi_shut_down();
}
