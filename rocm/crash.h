/* Ends of the process that the library brings about: abort(), and faults of code that is not Go's. */
#ifndef ROCWIRE_ROCM_CRASH_H
#define ROCWIRE_ROCM_CRASH_H
#include <stdint.h>

/* rocm_crash is what is told of one, as a pipe takes it: in one piece. */
struct rocm_crash {
	int32_t signal;
	uint64_t address; /* that could not be used; of SIGABRT 0 */
	uint64_t offset;  /* of the instruction in library */
	char library[104];
};

/* rocm_catch_crashes has one struct rocm_crash written to fd. It returns 0 or an errno. */
int rocm_catch_crashes(int fd);
#endif
