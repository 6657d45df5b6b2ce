/* The beginning and the end of threads and of the process.
 *
 * What the system calls when a thread ends is called under the loader's lock, in
 * which nothing may wait for another thread, as Go does. So Go is told by a thread
 * made for that. A process that ends has no other threads any more when its libraries
 * are told: the small libraries have rocwire_end called before (librocwire/stubs). */
#include "thread.h"

#include <stdlib.h>

#include "_cgo_export.h"
#include "os.h"

static DWORD slot = TLS_OUT_OF_INDEXES;

__attribute__((constructor)) static void begin(void)
{
	slot = TlsAlloc();
}

struct rw_state *rw_tls_here(void)
{
	struct rw_state *t = TlsGetValue(slot);
	if (__builtin_expect(!t, 0)) {
		t = calloc(1, sizeof *t);
		if (!t)
			abort(); /* as the system does where it has no memory for a thread */
		TlsSetValue(slot, t);
	}
	return t;
}

void rw_thread_watch(void)
{
}

/* Threads that have ended and of which Go keeps something, the last one first. */
static struct rw_state *_Atomic ended;
static HANDLE any_ended;

static DWORD WINAPI tell(void *unused)
{
	(void)unused;
	for (;;) {
		WaitForSingleObject(any_ended, INFINITE);
		for (struct rw_state *t = atomic_exchange(&ended, NULL), *older; t; t = older) {
			older = t->older;
			rw_threadEnd(rw_thread_as(t));
			free(t);
		}
	}
}

static void begin_to_tell(void)
{
	any_ended = CreateEventA(NULL, FALSE, FALSE, NULL);
	HANDLE h = any_ended ? CreateThread(NULL, 0, tell, NULL, 0, NULL) : NULL;
	if (h)
		CloseHandle(h);
}

void rw_thread_owns_streams(void)
{
	static rw_once_t once = RW_ONCE;
	rw_once(&once, begin_to_tell);
	rw_tls_here()->owns = 1;
}

static void NTAPI thread_ends(void *library, DWORD why, void *more)
{
	struct rw_state *t;
	(void)library, (void)more;
	if (why != DLL_THREAD_DETACH || slot == TLS_OUT_OF_INDEXES || !(t = TlsGetValue(slot)))
		return;
	TlsSetValue(slot, NULL);
	rw_thread_free(t);
	if (!t->owns || !any_ended) {
		free(t);
		return;
	}
	t->older = atomic_load(&ended);
	while (!atomic_compare_exchange_weak(&ended, &t->older, t))
		;
	SetEvent(any_ended);
}

/* Of the functions in this section the system calls those between A and Z. */
__attribute__((section(".CRT$XLM"), used)) static const PIMAGE_TLS_CALLBACK on_thread = thread_ends;

int rw_at_exit(void)
{
	return 0; /* rocwire_end */
}

/* rocwire_end sends what is still on its way and says goodbye. */
__declspec(dllexport) void rocwire_end(void)
{
	rw_flush();
	rw_close();
}
