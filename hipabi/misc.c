/* Exports that need neither a thread nor a device. */
#include <string.h>

#include "thread.h"

hipChannelFormatDesc hipCreateChannelDesc(int x, int y, int z, int w, hipChannelFormatKind f)
{
	hipChannelFormatDesc d = {x, y, z, w, f};
	return d;
}

/* No header is compiled into the library. */
void __hipGetPCH(const char **pch, unsigned int *size)
{
	if (pch)
		*pch = NULL;
	if (size)
		*size = 0;
}

extern const char *const rw_traced[]; /* by number; NULL where there is none */
extern const unsigned rw_traced_count;

/* What tracers call a function, by AMD's number of it. */
const char *hipApiName(uint32_t id)
{
	return id < rw_traced_count && rw_traced[id] ? rw_traced[id] : "unknown";
}

/* Nothing is ever reported to a tracer, so that no operation has a name. */
const char *hipGetCmdName(unsigned int op)
{
	(void)op;
	return "unknown";
}

void hipRegisterTracerCallback(int (*callback)(uint32_t domain, uint32_t operation, void *data))
{
	(void)callback;
	if (rw_debug())
		rw_log("hipRegisterTracerCallback: nothing is reported to tracers");
}

const char *amd_dbgapi_get_build_name(void)
{
	return HIP_VERSION_BUILD_NAME;
}

const char *amd_dbgapi_get_git_hash(void)
{
	return HIP_VERSION_GITHASH;
}

size_t amd_dbgapi_get_build_id(void)
{
	return HIP_VERSION_BUILD_ID;
}

/* Half precision, for compilers that have no instruction for it. */
#ifdef _WIN32
#define RW_WEAK /* nothing of the same name comes from another library there */
#else
#define RW_WEAK __attribute__((weak))
#endif

RW_WEAK float __gnu_h2f_ieee(unsigned short h)
{
	uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 0x1f, mantissa = h & 0x3ff, bits;
	if (exponent == 0x1f) {
		bits = sign | 0x7f800000u | mantissa << 13;
	} else if (exponent) {
		bits = sign | (exponent + 112) << 23 | mantissa << 13;
	} else if (mantissa) { /* subnormal: becomes normal */
		int shift = __builtin_clz(mantissa) - 21;
		bits = sign | (uint32_t)(113 - shift) << 23 | (mantissa << shift & 0x3ff) << 13;
	} else {
		bits = sign;
	}
	float f;
	memcpy(&f, &bits, sizeof f);
	return f;
}

RW_WEAK unsigned short __gnu_f2h_ieee(float f)
{
	uint32_t bits;
	memcpy(&bits, &f, sizeof bits);
	uint32_t sign = bits >> 16 & 0x8000, mantissa = bits & 0x7fffff;
	int exponent = (int)(bits >> 23 & 0xff) - 112;
	if (exponent == 0xff - 112) /* infinity; a NaN stays one, quiet */
		return (unsigned short)(sign | 0x7c00 | (mantissa ? 0x200 | mantissa >> 13 : 0));
	if (exponent >= 0x1f)
		return (unsigned short)(sign | 0x7c00);
	uint32_t shift = 13, value;
	if (exponent > 0) {
		value = (uint32_t)exponent << 23 | mantissa;
	} else { /* subnormal, or rounds to zero */
		if (exponent < -10)
			return (unsigned short)sign;
		value = mantissa | 0x800000;
		shift = (uint32_t)(14 - exponent);
	}
	/* Round to nearest, ties to even. A carry into the exponent is right. */
	uint32_t half = 1u << (shift - 1), rest = value & (2 * half - 1), result = value >> shift;
	if (rest > half || (rest == half && (result & 1)))
		result++;
	return (unsigned short)(sign | result);
}
