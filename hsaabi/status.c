#include "status.h"

hsa_status_t hsa_status_string(hsa_status_t status, const char **status_string)
{
	const char *words = rw_hsa_status_words(status);
	if (!words || !status_string)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*status_string = words;
	return HSA_STATUS_SUCCESS;
}
