/* What differs between systems, for the C of this package. */
#ifndef ROCWIRE_HIPABI_OS_H
#define ROCWIRE_HIPABI_OS_H

#ifdef _WIN32
#include <windows.h>

typedef INIT_ONCE rw_once_t;
#define RW_ONCE INIT_ONCE_STATIC_INIT

static inline BOOL CALLBACK rw_once_call(INIT_ONCE *once, void *f, void **context)
{
	(void)once, (void)context;
	((void (*)(void))f)();
	return TRUE;
}

/* rw_once calls f if nobody has with this once, and returns when it has been. */
static inline void rw_once(rw_once_t *once, void (*f)(void))
{
	InitOnceExecuteOnce(once, rw_once_call, (void *)f, NULL);
}

/* rw_library opens a shared library by its path or name; NULL if it cannot be. */
static inline void *rw_library(const char *path)
{
	return (void *)LoadLibraryA(path);
}

static inline void *rw_symbol(void *library, const char *name)
{
	return (void *)GetProcAddress(library, name);
}

#define RW_THREAD_LOCAL __thread
#else
#include <dlfcn.h>
#include <pthread.h>

typedef pthread_once_t rw_once_t;
#define RW_ONCE PTHREAD_ONCE_INIT

/* rw_once calls f if nobody has with this once, and returns when it has been. */
static inline void rw_once(rw_once_t *once, void (*f)(void))
{
	pthread_once(once, f);
}

/* rw_library opens a shared library by its path or name; NULL if it cannot be. */
static inline void *rw_library(const char *path)
{
	return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static inline void *rw_symbol(void *library, const char *name)
{
	return dlsym(library, name);
}

/* In the static block, which is faster to get at, and there is little. */
#define RW_THREAD_LOCAL __thread __attribute__((tls_model("initial-exec")))
#endif

#endif
