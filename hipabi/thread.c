/* Thread state: its beginning, the error functions, the current device. */
#include "thread.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "_cgo_export.h"
#include "call.h"

hipError_t rw_next_version(int *v);
hipError_t rw_next_last_error(void);
hipError_t rw_next_peek(void);

atomic_int rw_gone;
atomic_int rw_devices = -1;

static atomic_uint last_id;

uint32_t rw_thread_begin(void)
{
	do
		rw_tls.id = atomic_fetch_add(&last_id, 1) + 1;
	while (rw_tls.id == 0);
	rw_thread_watch();
	uint32_t n = rw_tls.id; /* not how many there are now, but a program that begins many has many */
	if (n > 3 && n <= 32 && (n & (n - 1)) == 0)
		rw_threads(n);
	return n;
}

void rw_thread_free(struct rw_state *t)
{
	rw_calls_free(t);
	rw_contexts_free(t);
}

int rw_debug(void)
{
	static atomic_int level = -1;
	int l = atomic_load(&level);
	if (l < 0) {
		const char *s = getenv("TF_DEBUG");
		l = s && *s && strcmp(s, "0") != 0 && strcmp(s, "false") != 0;
		atomic_store(&level, l);
	}
	return l;
}

void rw_log(const char *format, ...)
{
	char line[1024];
	va_list args;
	va_start(args, format);
	vsnprintf(line, sizeof line, format, args);
	va_end(args);
	fprintf(stderr, "rocwire: %s\n", line);
}

hipError_t rw_refuse(void)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;
	if (!atomic_flag_test_and_set(&said))
		rw_log("HIP cannot be used in the child of a fork");
	return rw_finish(hipErrorNotInitialized);
}

hipError_t rw_unsupported(const char *function)
{
	if (rw_debug())
		rw_log("%s is not supported", function);
	return rw_finish(hipErrorNotSupported);
}

hipError_t hipGetLastError(void)
{
	hipError_t e = rw_tls.last_error;
	rw_tls.last_error = rw_tls.last_failure = hipSuccess;
	return e;
}

hipError_t hipPeekAtLastError(void)
{
	return rw_tls.last_command = rw_tls.last_error; /* a call with this result */
}

hipError_t hipExtGetLastError(void)
{
	hipError_t e = rw_tls.last_command;
	rw_tls.last_command = hipSuccess;
	return e;
}

/* libamdhip64.so.7's. */
hipError_t rw_next_last_error(void)
{
	hipError_t e = rw_tls.last_failure;
	rw_tls.last_error = rw_tls.last_failure = hipSuccess;
	return e;
}

hipError_t rw_next_peek(void)
{
	return rw_tls.last_command = rw_tls.last_failure;
}

const char *hipGetErrorName(hipError_t e)
{
	return rw_error_name(e);
}

const char *hipGetErrorString(hipError_t e)
{
	return rw_error_string(e);
}

/* known tells whether e is one of HIP's errors: what is not has the same name
 * as hipErrorUnknown. */
static int known(hipError_t e)
{
	return e == hipErrorUnknown || strcmp(rw_error_name(e), "hipErrorUnknown") != 0;
}

hipError_t hipDrvGetErrorName(hipError_t e, const char **text)
{
	if (!text)
		return hipErrorInvalidValue; /* past the last error, as AMD's library does */
	*text = known(e) ? rw_error_name(e) : NULL;
	return *text ? rw_finish(hipSuccess) : hipErrorInvalidValue;
}

hipError_t hipDrvGetErrorString(hipError_t e, const char **text)
{
	if (!text)
		return hipErrorInvalidValue;
	*text = known(e) ? rw_error_string(e) : NULL;
	return *text ? rw_finish(hipSuccess) : hipErrorInvalidValue;
}

/* device_count makes rw_devices known. */
static hipError_t device_count(int *n)
{
	*n = atomic_load_explicit(&rw_devices, memory_order_relaxed);
	if (__builtin_expect(*n >= 0, 1))
		return *n > 0 ? hipSuccess : hipErrorNoDevice;
	if (atomic_load(&rw_gone))
		return rw_refuse();
	int32_t count = 0;
	hipError_t e = (hipError_t)rw_deviceCount(&count);
	if (e != hipSuccess)
		return e;
	atomic_store_explicit(&rw_devices, count, memory_order_relaxed);
	*n = count;
	return count > 0 ? hipSuccess : hipErrorNoDevice;
}

hipError_t rw_first(void)
{
	int n;
	return device_count(&n);
}

hipError_t hipSetDevice(int device)
{
	int n;
	hipError_t e = device_count(&n);
	if (e == hipSuccess && (device < 0 || device >= n))
		e = hipErrorInvalidDevice;
	if (e == hipSuccess)
		rw_tls.device = device;
	return rw_finish(e);
}

hipError_t hipGetDevice(int *device)
{
	int n;
	if (!device)
		return rw_finish(hipErrorInvalidValue);
	hipError_t e = device_count(&n);
	if (e == hipSuccess)
		*device = rw_tls.device;
	return rw_finish(e);
}

static hipError_t version(int *v, int major, int minor, int patch)
{
	if (!v)
		return rw_finish(hipErrorInvalidValue);
	*v = major * 10000000 + minor * 100000 + patch;
	return rw_finish(hipSuccess);
}

hipError_t hipRuntimeGetVersion(int *v)
{
	return version(v, HIP_VERSION_MAJOR, HIP_VERSION_MINOR, HIP_VERSION_PATCH);
}

hipError_t hipDriverGetVersion(int *v)
{
	return version(v, HIP_VERSION_MAJOR, HIP_VERSION_MINOR, HIP_VERSION_PATCH);
}

/* rw_next_version is both functions of libamdhip64.so.7. */
hipError_t rw_next_version(int *v)
{
	return version(v, 7, 2, 0);
}
