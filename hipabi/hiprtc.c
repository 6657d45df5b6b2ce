/* The run-time compiler. libamdhip64 exports its functions too; they are
 * answered by the machine's own libhiprtc, which needs no GPU. */
#include <stdlib.h>

#include "thread.h"

#define HIPRTC_FUNCTIONS(X) \
	X(hiprtcAddNameExpression) \
	X(hiprtcCompileProgram) \
	X(hiprtcCreateProgram) \
	X(hiprtcDestroyProgram) \
	X(hiprtcGetBitcode) \
	X(hiprtcGetBitcodeSize) \
	X(hiprtcGetCode) \
	X(hiprtcGetCodeSize) \
	X(hiprtcGetErrorString) \
	X(hiprtcGetLoweredName) \
	X(hiprtcGetProgramLog) \
	X(hiprtcGetProgramLogSize) \
	X(hiprtcLinkAddData) \
	X(hiprtcLinkAddFile) \
	X(hiprtcLinkComplete) \
	X(hiprtcLinkCreate) \
	X(hiprtcLinkDestroy) \
	X(hiprtcVersion)

static struct {
#define X(name) __typeof__(&name) name;
	HIPRTC_FUNCTIONS(X)
#undef X
} real;

static rw_once_t once = RW_ONCE;

/* Set while this thread asks a library whether it leads back here; 2 once it did. */
static RW_THREAD_LOCAL int asking;

static int leads_back(void)
{
	int major, minor;
	if (!real.hiprtcVersion)
		return 0;
	asking = 1;
	real.hiprtcVersion(&major, &minor);
	int back = asking == 2;
	asking = 0;
	return back;
}

/* The library's names, the newest first. */
#ifdef _WIN32
static const char *const names[] = {"hiprtc0604.dll", "hiprtc0603.dll", "hiprtc0602.dll", "hiprtc0601.dll", "hiprtc0600.dll", NULL};
#else
static const char *const names[] = {"libhiprtc.so.6", NULL};
#endif

static void open_real(void)
{
	const char *path = getenv("ROCWIRE_HIPRTC");
	void *lib = NULL;
	if (path && *path) {
		lib = rw_library(path);
	} else {
		for (const char *const *n = names; *n && !lib; n++)
			lib = rw_library(path = *n);
	}
	if (!lib) {
		rw_log("hiprtc: %s cannot be opened", path);
		return;
	}
#define X(n) real.n = (__typeof__(&n))rw_symbol(lib, #n);
	HIPRTC_FUNCTIONS(X)
#undef X
	/* A library whose functions are these (another name of this one) is not
	 * the compiler. */
	if (leads_back()) {
#define X(n) real.n = NULL;
		HIPRTC_FUNCTIONS(X)
#undef X
	}
	if (!real.hiprtcCompileProgram)
		rw_log("hiprtc: %s has no compiler", path);
}

/* FORWARD calls the real function with args, or answers that there is none. */
#define FORWARD(name, args) \
	do { \
		rw_once(&once, open_real); \
		return real.name ? real.name args : HIPRTC_ERROR_INTERNAL_ERROR; \
	} while (0)

hiprtcResult hiprtcAddNameExpression(hiprtcProgram prog, const char *expression)
{
	FORWARD(hiprtcAddNameExpression, (prog, expression));
}

hiprtcResult hiprtcCompileProgram(hiprtcProgram prog, int n, const char **options)
{
	FORWARD(hiprtcCompileProgram, (prog, n, options));
}

hiprtcResult hiprtcCreateProgram(hiprtcProgram *prog, const char *src, const char *name, int n, const char **headers, const char **names)
{
	FORWARD(hiprtcCreateProgram, (prog, src, name, n, headers, names));
}

hiprtcResult hiprtcDestroyProgram(hiprtcProgram *prog)
{
	FORWARD(hiprtcDestroyProgram, (prog));
}

hiprtcResult hiprtcGetBitcode(hiprtcProgram prog, char *code)
{
	FORWARD(hiprtcGetBitcode, (prog, code));
}

hiprtcResult hiprtcGetBitcodeSize(hiprtcProgram prog, size_t *size)
{
	FORWARD(hiprtcGetBitcodeSize, (prog, size));
}

hiprtcResult hiprtcGetCode(hiprtcProgram prog, char *code)
{
	FORWARD(hiprtcGetCode, (prog, code));
}

hiprtcResult hiprtcGetCodeSize(hiprtcProgram prog, size_t *size)
{
	FORWARD(hiprtcGetCodeSize, (prog, size));
}

hiprtcResult hiprtcGetLoweredName(hiprtcProgram prog, const char *expression, const char **name)
{
	FORWARD(hiprtcGetLoweredName, (prog, expression, name));
}

hiprtcResult hiprtcGetProgramLog(hiprtcProgram prog, char *log)
{
	FORWARD(hiprtcGetProgramLog, (prog, log));
}

hiprtcResult hiprtcGetProgramLogSize(hiprtcProgram prog, size_t *size)
{
	FORWARD(hiprtcGetProgramLogSize, (prog, size));
}

hiprtcResult hiprtcLinkAddData(hiprtcLinkState state, hipJitInputType type, void *image, size_t size, const char *name, unsigned int n, hipJitOption *options, void **values)
{
	FORWARD(hiprtcLinkAddData, (state, type, image, size, name, n, options, values));
}

hiprtcResult hiprtcLinkAddFile(hiprtcLinkState state, hipJitInputType type, const char *path, unsigned int n, hipJitOption *options, void **values)
{
	FORWARD(hiprtcLinkAddFile, (state, type, path, n, options, values));
}

hiprtcResult hiprtcLinkComplete(hiprtcLinkState state, void **code, size_t *size)
{
	FORWARD(hiprtcLinkComplete, (state, code, size));
}

hiprtcResult hiprtcLinkCreate(unsigned int n, hipJitOption *options, void **values, hiprtcLinkState *state)
{
	FORWARD(hiprtcLinkCreate, (n, options, values, state));
}

hiprtcResult hiprtcLinkDestroy(hiprtcLinkState state)
{
	FORWARD(hiprtcLinkDestroy, (state));
}

hiprtcResult hiprtcVersion(int *major, int *minor)
{
	if (asking) {
		asking = 2;
		return HIPRTC_SUCCESS;
	}
	FORWARD(hiprtcVersion, (major, minor));
}

const char *hiprtcGetErrorString(hiprtcResult result)
{
	switch (result) {
#define E(name) \
	case name: \
		return #name;
	E(HIPRTC_SUCCESS)
	E(HIPRTC_ERROR_OUT_OF_MEMORY)
	E(HIPRTC_ERROR_PROGRAM_CREATION_FAILURE)
	E(HIPRTC_ERROR_INVALID_INPUT)
	E(HIPRTC_ERROR_INVALID_PROGRAM)
	E(HIPRTC_ERROR_INVALID_OPTION)
	E(HIPRTC_ERROR_COMPILATION)
	E(HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE)
	E(HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION)
	E(HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION)
	E(HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID)
	E(HIPRTC_ERROR_INTERNAL_ERROR)
	E(HIPRTC_ERROR_LINKING)
#undef E
	}
	return "HIPRTC_ERROR_UNKNOWN";
}
