/* The run-time compiler behind libamdhip64's hiprtc functions.
 *
 *   rtc           there is none: every call says so
 *   rtc compile   there is one: a program goes through it */
#include "test.h"

static void compile(void)
{
	static const char source[] = "extern \"C\" __global__ void k(int *p) { *p = 1; }";
	const char *options[] = {"--offload-arch=gfx942"}, *lowered = NULL;
	hiprtcProgram p = NULL;
	int major = 0, minor = 0;
	size_t size = 0;
	ASSERT(hiprtcVersion(&major, &minor) == HIPRTC_SUCCESS && major > 0);
	ASSERT(hiprtcCreateProgram(&p, source, "k.hip", 0, NULL, NULL) == HIPRTC_SUCCESS && p);
	ASSERT(hiprtcAddNameExpression(p, "k") == HIPRTC_SUCCESS);
	ASSERT(hiprtcCompileProgram(p, 1, options) == HIPRTC_SUCCESS);
	ASSERT(hiprtcGetProgramLogSize(p, &size) == HIPRTC_SUCCESS);
	ASSERT(hiprtcGetLoweredName(p, "k", &lowered) == HIPRTC_SUCCESS && lowered && strcmp(lowered, "k") == 0);
	ASSERT(hiprtcGetCodeSize(p, &size) == HIPRTC_SUCCESS && size > 0);
	char *code = calloc(1, size);
	ASSERT(hiprtcGetCode(p, code) == HIPRTC_SUCCESS && code[0] != 0);
	free(code);
	ASSERT(hiprtcDestroyProgram(&p) == HIPRTC_SUCCESS && p == NULL);
}

static void absent(void)
{
	hiprtcProgram p = NULL;
	int major, minor;
	ASSERT(hiprtcVersion(&major, &minor) == HIPRTC_ERROR_INTERNAL_ERROR);
	ASSERT(hiprtcCreateProgram(&p, "", "k.hip", 0, NULL, NULL) == HIPRTC_ERROR_INTERNAL_ERROR);
	ASSERT(hiprtcCompileProgram(p, 0, NULL) == HIPRTC_ERROR_INTERNAL_ERROR);
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		compile();
	else
		absent();
	ASSERT(strcmp(hiprtcGetErrorString(HIPRTC_ERROR_COMPILATION), "HIPRTC_ERROR_COMPILATION") == 0);
	return result("rtc");
}
