/* Streams that say what they are told: those that were made are m, the others by their numbers; events by the order in which they were made. */
#include <stdio.h>
#include <stdlib.h>
#include "hip/hip_runtime_api.h"

static int events;

static void say(const char *what, hipStream_t s, hipEvent_t e)
{
	FILE *f = fopen(getenv("STUB_STREAM_LOG"), "a");
	if ((size_t)s >= 0x6010)
		fprintf(f, "%s m", what);
	else
		fprintf(f, "%s %zu", what, (size_t)s & 15);
	fprintf(f, e ? " %zu\n" : "\n", (size_t)e);
	fclose(f);
}

hipError_t hipEventCreateWithFlags(hipEvent_t *e, unsigned flags)
{
	*e = (hipEvent_t)(size_t)++events;
	return flags == hipEventDisableTiming ? hipSuccess : hipErrorInvalidValue;
}

hipError_t hipEventDestroy(hipEvent_t e) { (void)e; return hipSuccess; }

hipError_t hipEventRecord(hipEvent_t e, hipStream_t s) { say("record", s, e); return hipSuccess; }

hipError_t hipStreamWaitEvent(hipStream_t s, hipEvent_t e, unsigned flags) { (void)flags; say("wait", s, e); return hipSuccess; }

hipError_t hipStreamWriteValue32(hipStream_t s, void *p, uint32_t v, unsigned flags) { (void)p, (void)v, (void)flags; say("write", s, NULL); return hipSuccess; }

hipError_t hipStreamQuery(hipStream_t s) { say("query", s, NULL); return hipSuccess; }

hipError_t hipStreamSynchronize(hipStream_t s) { say("synchronize", s, NULL); return hipSuccess; }

hipError_t hipStreamDestroy(hipStream_t s) { say("destroy", s, NULL); return hipSuccess; }

hipError_t hipStreamGetFlags(hipStream_t s, unsigned *flags) { (void)s; *flags = hipStreamNonBlocking; return hipSuccess; }

/* The first that is made is 0x6010, those of the program are 0x6000 + 2n. */
hipError_t hipStreamCreateWithPriority(hipStream_t *s, unsigned flags, int priority)
{
	static size_t next = 0x6000;

	if (flags != hipStreamNonBlocking)
		return hipErrorInvalidValue;
	*s = (hipStream_t)(priority == 0 ? 0x6010 : (next += 2));
	return hipSuccess;
}
