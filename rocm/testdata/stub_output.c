/* Text as a runtime writes what kernels print. */
#include <stdio.h>
#include <string.h>
#include "hip/hip_runtime_api.h"

hipError_t hipStreamQuery(hipStream_t s)
{
	char line[4096];

	memset(line, 'x', sizeof(line));
	line[sizeof(line) - 1] = 0;
	if ((size_t)s >= 0x6000) { /* one that was made, which is the program's null stream */
		printf("one line\n");
		printf("half a ");
	} else {
		for (size_t i = 0; i < (size_t)s; i++) /* more than a pipe holds */
			printf("%zu %s\n", i, line);
	}
	return hipSuccess;
}
