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
	ASSERT(hiprtcGetProgramLogSize(p, &size) == HIPRTC_SUCCESS && size > 0);
	char *log = calloc(1, size + 1);
	ASSERT(hiprtcGetProgramLog(p, log) == HIPRTC_SUCCESS && strstr(log, "k.hip"));
	free(log);
	ASSERT(hiprtcGetLoweredName(p, "k", &lowered) == HIPRTC_SUCCESS && lowered && strcmp(lowered, "k") == 0);
	ASSERT(hiprtcGetCodeSize(p, &size) == HIPRTC_SUCCESS && size > 0);
	char *code = calloc(1, size);
	ASSERT(hiprtcGetCode(p, code) == HIPRTC_SUCCESS && code[0] != 0);
	free(code);
	size = 0;
	ASSERT(hiprtcGetBitcodeSize(p, &size) == HIPRTC_SUCCESS && size > 2);
	char *bitcode = calloc(1, size);
	ASSERT(hiprtcGetBitcode(p, bitcode) == HIPRTC_SUCCESS && memcmp(bitcode, "BC", 2) == 0);
	free(bitcode);
	ASSERT(hiprtcDestroyProgram(&p) == HIPRTC_SUCCESS && p == NULL);
}

/* The linker of device code is the compiler's library's too. */
static void linking(void)
{
	static char bitcode[] = "BC not really";
	hipLinkState_t l = NULL;
	hipJitOption option = hipJitOptionIRtoISAOptExt;
	void *value = NULL, *code = NULL;
	size_t size = 0;
	EXPECT(hipLinkCreate(0, NULL, NULL, NULL), hipErrorInvalidValue);
	EXPECT(hipLinkCreate(1, NULL, NULL, &l), hipErrorInvalidValue);
	EXPECT(hipLinkCreate(1, &option, &value, &l), hipErrorInvalidConfiguration); /* the stub takes none */
	CHECK(hipLinkCreate(0, NULL, NULL, &l));
	EXPECT(hipLinkAddData(l, hipJitInputLLVMBitcode, NULL, 4, "a", 0, NULL, NULL), hipErrorInvalidImage);
	EXPECT(hipLinkAddData(l, hipJitInputLLVMBitcode, bitcode, 0, "a", 0, NULL, NULL), hipErrorInvalidImage);
	EXPECT(hipLinkAddData(l, hipJitInputCubin, bitcode, sizeof bitcode, "a", 0, NULL, NULL), hipErrorInvalidValue);
	EXPECT(hipLinkAddData(l, hipJitInputObject, bitcode, sizeof bitcode, "a", 0, NULL, NULL), hipErrorInvalidValue);
	EXPECT(hipLinkAddData(NULL, hipJitInputLLVMBitcode, bitcode, sizeof bitcode, "a", 0, NULL, NULL), hipErrorInvalidHandle);
	EXPECT(hipLinkAddData((hipLinkState_t)&l, hipJitInputLLVMBitcode, bitcode, sizeof bitcode, "a", 0, NULL, NULL), hipErrorInvalidHandle);
	EXPECT(hipLinkAddFile(l, hipJitInputLLVMBitcode, "/nonexistent", 0, NULL, NULL), hipErrorInvalidConfiguration);
	EXPECT(hipLinkComplete(l, &code, &size), hipErrorInvalidConfiguration); /* nothing to link */
	CHECK(hipLinkAddData(l, hipJitInputLLVMBitcode, bitcode, sizeof bitcode, "a", 0, NULL, NULL));
	EXPECT(hipLinkComplete(l, NULL, &size), hipErrorInvalidValue);
	CHECK(hipLinkComplete(l, &code, &size));
	ASSERT(code && size == sizeof bitcode && memcmp(code, bitcode, size) == 0);
	CHECK(hipLinkDestroy(l));
	EXPECT(hipLinkDestroy(NULL), hipErrorInvalidValue);
	EXPECT(hipLinkDestroy((hipLinkState_t)&l), hipErrorInvalidValue);
}

static void absent(void)
{
	hipLinkState_t l = NULL;
	hiprtcProgram p = NULL;
	int major, minor;
	size_t size;
	char text[8];
	ASSERT(hiprtcVersion(&major, &minor) == HIPRTC_ERROR_INTERNAL_ERROR);
	ASSERT(hiprtcCreateProgram(&p, "", "k.hip", 0, NULL, NULL) == HIPRTC_ERROR_INTERNAL_ERROR);
	ASSERT(hiprtcCompileProgram(p, 0, NULL) == HIPRTC_ERROR_INTERNAL_ERROR);
	ASSERT(hiprtcGetBitcodeSize(p, &size) == HIPRTC_ERROR_INTERNAL_ERROR);
	ASSERT(hiprtcGetBitcode(p, text) == HIPRTC_ERROR_INTERNAL_ERROR);
	ASSERT(hiprtcGetProgramLog(p, text) == HIPRTC_ERROR_INTERNAL_ERROR);
	EXPECT(hipLinkCreate(0, NULL, NULL, &l), hipErrorNotSupported);
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1) {
		compile();
		linking();
	} else {
		absent();
	}
	ASSERT(strcmp(hiprtcGetErrorString(HIPRTC_ERROR_COMPILATION), "HIPRTC_ERROR_COMPILATION") == 0);
	return result("rtc");
}
