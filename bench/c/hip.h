/* What the HIP programs here have in common. */
#ifndef HIP_H
#define HIP_H

#include <hip/hip_runtime_api.h>

#include <stdio.h>
#include <stdlib.h>

/* CHECK ends the program if a call does not succeed. */
#define CHECK(call) \
	do { \
		hipError_t e_ = (call); \
		if (e_ != hipSuccess) { \
			fprintf(stderr, "%s: %s\n", #call, hipGetErrorString(e_)); \
			exit(1); \
		} \
	} while (0)

#endif
