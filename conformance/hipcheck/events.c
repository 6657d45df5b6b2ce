/* Events in every state. */
#include "groups.h"

void events(void)
{
	hipStream_t s, t;
	hipEvent_t e, f, untimed;
	float ms = -1;
	MUST(hipStreamCreate(&s));
	MUST(hipStreamCreate(&t));
	MUST(hipEventCreate(&e));
	MUST(hipEventCreate(&f));
	MUST(hipEventCreateWithFlags(&untimed, hipEventDisableTiming));
	for (unsigned flags = 0; flags < 32; flags++) {
		hipEvent_t n;
		if (IS(hipEventCreateWithFlags(&n, flags), "create with flags %u", flags) == hipSuccess)
			(void)hipEventDestroy(n);
	}
	for (int b = 5; b < 32; b++) {
		hipEvent_t n;
		if (IS(hipEventCreateWithFlags(&n, 1u << b), "create with flags 1<<%d", b) == hipSuccess)
			(void)hipEventDestroy(n);
	}
	IS(hipEventQuery(e), "query, never recorded");
	IS(hipEventSynchronize(e), "synchronize, never recorded");
	IS(hipStreamWaitEvent(s, e, 0), "wait for one that was never recorded");
	IS(hipEventElapsedTime(&ms, e, f), "elapsed, neither recorded");
	IS(hipEventRecord(e, s), "record");
	IS(hipEventElapsedTime(&ms, e, f), "elapsed, the second never recorded");
	IS(hipEventElapsedTime(&ms, f, e), "elapsed, the first never recorded");
	IS(hipEventSynchronize(e), "synchronize");
	IS(hipEventQuery(e), "query");
	IS(hipEventElapsedTime(&ms, e, e), "elapsed of one");
	SAW("time of one", "%d", ms == 0);
	struct gate g;
	hold(s, &g);
	IS(hipEventRecord(f, s), "record behind a gate");
	IS(hipEventQuery(f), "query behind a gate");
	IS(hipEventElapsedTime(&ms, e, f), "elapsed behind a gate");
	IS(hipEventElapsedTime(&ms, f, e), "elapsed the other way, behind a gate");
	IS(hipEventRecord(untimed, s), "record untimed");
	IS(hipEventElapsedTime(&ms, e, untimed), "elapsed of an untimed one, behind a gate");
	IS(hipEventQuery(untimed), "query untimed behind a gate");
	IS(hipEventRecord(f, t), "record again on another stream");
	IS(hipEventSynchronize(f), "synchronize on another stream");
	IS(hipEventQuery(f), "query on another stream");
	g.open = 1;
	IS(hipStreamSynchronize(s), "synchronize the stream");
	IS(hipEventQuery(untimed), "query untimed");
	IS(hipEventElapsedTime(&ms, e, untimed), "elapsed of an untimed one");
	IS(hipEventElapsedTime(&ms, untimed, untimed), "elapsed of untimed ones");
	IS(hipEventElapsedTime(&ms, e, f), "elapsed over two streams");
	IS(hipEventElapsedTime(&ms, f, e), "elapsed the other way");
	for (unsigned flags = 0; flags < 4; flags++)
		IS(hipEventRecordWithFlags(e, s, flags), "record with flags %u", flags);
	hold(s, &g);
	IS(hipEventRecord(e, s), "record before it is destroyed");
	IS(hipEventDestroy(e), "destroy behind a gate");
	IS(hipEventDestroy(e), "destroy again");
	g.open = 1;
	IS(hipStreamSynchronize(s), "synchronize after");
	IS(hipEventRecord(f, s), "record before the stream is destroyed");
	IS(hipStreamDestroy(s), "destroy the stream");
	IS(hipEventQuery(f), "query, the stream destroyed");
	IS(hipEventSynchronize(f), "synchronize, the stream destroyed");
	IS(hipEventRecord(f, s), "record on a destroyed stream");
	hipIpcEventHandle_t h;
	hipEvent_t shared = 0, opened = 0;
	IS(hipIpcGetEventHandle(&h, f), "handle of one that is not for processes");
	IS(hipEventCreateWithFlags(&shared, hipEventInterprocess), "for processes, with times");
	IS(hipEventCreateWithFlags(&shared, hipEventInterprocess | hipEventDisableTiming), "for processes");
	IS(hipIpcGetEventHandle(&h, shared), "handle");
	IS(hipIpcOpenEventHandle(&opened, h), "open in the same process");
	IS(hipEventQuery(shared), "query one for processes");
	IS(hipEventRecord(shared, t), "record one for processes");
	IS(hipEventSynchronize(shared), "synchronize one for processes");
	IS(hipEventElapsedTime(&ms, shared, f), "elapsed of one for processes");
	IS(hipEventDestroy(shared), "destroy one for processes");
}
