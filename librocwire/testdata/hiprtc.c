/* A run-time compiler that compiles nothing: it checks that what it is passed
 * is what the program passed. */
#include <hip/hip_runtime_api.h>

#include <string.h>

static const char code[] = "\177ELF and so on";
static const char *source, *expression;
static int compiled;

hiprtcResult hiprtcVersion(int *major, int *minor)
{
	*major = 6;
	*minor = 4;
	return HIPRTC_SUCCESS;
}

hiprtcResult hiprtcCreateProgram(hiprtcProgram *p, const char *src, const char *name, int n, const char **headers, const char **names)
{
	(void)headers, (void)names;
	if (n != 0 || strcmp(name, "k.hip") != 0 || !strstr(src, "__global__"))
		return HIPRTC_ERROR_INVALID_INPUT;
	source = src;
	*p = (hiprtcProgram)&source;
	return HIPRTC_SUCCESS;
}

static hiprtcResult known(hiprtcProgram p)
{
	return p == (hiprtcProgram)&source ? HIPRTC_SUCCESS : HIPRTC_ERROR_INVALID_PROGRAM;
}

hiprtcResult hiprtcAddNameExpression(hiprtcProgram p, const char *e)
{
	expression = e;
	return known(p);
}

hiprtcResult hiprtcCompileProgram(hiprtcProgram p, int n, const char **options)
{
	if (n != 1 || strcmp(options[0], "--offload-arch=gfx942") != 0)
		return HIPRTC_ERROR_INVALID_OPTION;
	compiled = 1;
	return known(p);
}

hiprtcResult hiprtcGetLoweredName(hiprtcProgram p, const char *e, const char **name)
{
	*name = expression;
	return strcmp(e, expression) == 0 ? known(p) : HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
}

static const char log[] = "k.hip: 0 errors";

hiprtcResult hiprtcGetProgramLogSize(hiprtcProgram p, size_t *size)
{
	*size = sizeof log;
	return known(p);
}

hiprtcResult hiprtcGetProgramLog(hiprtcProgram p, char *out)
{
	memcpy(out, log, sizeof log);
	return known(p);
}

static const char bitcode[] = "BC\xc0\xde and so on";

hiprtcResult hiprtcGetBitcodeSize(hiprtcProgram p, size_t *size)
{
	*size = compiled ? sizeof bitcode : 0;
	return known(p);
}

hiprtcResult hiprtcGetBitcode(hiprtcProgram p, char *out)
{
	memcpy(out, bitcode, sizeof bitcode);
	return known(p);
}

hiprtcResult hiprtcGetCodeSize(hiprtcProgram p, size_t *size)
{
	*size = compiled ? sizeof code : 0;
	return known(p);
}

hiprtcResult hiprtcGetCode(hiprtcProgram p, char *out)
{
	memcpy(out, code, sizeof code);
	return known(p);
}

hiprtcResult hiprtcDestroyProgram(hiprtcProgram *p)
{
	hiprtcResult r = known(*p);
	*p = NULL;
	return r;
}

static const void *input;
static size_t input_size;
static char linker;

static hiprtcResult linking(hiprtcLinkState s)
{
	return s == (hiprtcLinkState)&linker ? HIPRTC_SUCCESS : HIPRTC_ERROR_INVALID_INPUT;
}

hiprtcResult hiprtcLinkCreate(unsigned int n, hipJitOption *options, void **values, hiprtcLinkState *s)
{
	(void)options, (void)values;
	if (n != 0)
		return HIPRTC_ERROR_INVALID_OPTION;
	*s = (hiprtcLinkState)&linker;
	return HIPRTC_SUCCESS;
}

hiprtcResult hiprtcLinkAddData(hiprtcLinkState s, hipJitInputType type, void *image, size_t size, const char *name, unsigned int n, hipJitOption *options, void **values)
{
	(void)options, (void)values;
	if (type != hipJitInputLLVMBitcode || n != 0 || strcmp(name, "a") != 0)
		return HIPRTC_ERROR_PROGRAM_CREATION_FAILURE;
	if (linking(s) == HIPRTC_SUCCESS) {
		input = image;
		input_size = size;
	}
	return linking(s);
}

hiprtcResult hiprtcLinkAddFile(hiprtcLinkState s, hipJitInputType type, const char *path, unsigned int n, hipJitOption *options, void **values)
{
	(void)s, (void)type, (void)path, (void)n, (void)options, (void)values;
	return HIPRTC_ERROR_PROGRAM_CREATION_FAILURE; /* no such file */
}

hiprtcResult hiprtcLinkComplete(hiprtcLinkState s, void **out, size_t *size)
{
	if (!input)
		return HIPRTC_ERROR_LINKING;
	*out = (void *)input;
	*size = input_size;
	return linking(s);
}

hiprtcResult hiprtcLinkDestroy(hiprtcLinkState s)
{
	return linking(s);
}
