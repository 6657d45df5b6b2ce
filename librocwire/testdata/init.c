/* What amdsmi_init says. */
#include <amd_smi/amdsmi.h>
#include <stdio.h>

int main(void)
{
	printf("init: %d\n", amdsmi_init(AMDSMI_INIT_AMD_GPUS));
	return 0;
}
