/* What the test programs share. Each is an ordinary HIP program in C that exits
 * with 0 when everything was as it should be, and says what was not. */
#ifndef ROCWIRE_TEST_H
#define ROCWIRE_TEST_H

#include <hip/hip_runtime_api.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _WIN32
#include "windows.h"
#endif

/* EMBED(name) carries the example kernels of that name, for both kinds of GPU,
 * in the program; IMAGE(name) is the one for device 0. Built in the
 * repository's root. */
#define EMBED(name) \
	EMBED_FOR(name, gfx90a); \
	EMBED_FOR(name, gfx942)
#ifdef _WIN32
#define READ_ONLY ".section .rdata, \"dr\"\n"
#define BACK ".text\n"
#else
#define READ_ONLY ".section .rodata\n"
#define BACK ".previous\n"
#endif
#define EMBED_FOR(name, arch) \
	__asm__(READ_ONLY ".balign 4096\n.global " #name "_" #arch "\n" #name "_" #arch ":\n" \
		".incbin \"examples/kernels/" #arch "/" #name ".co\"\n.byte 0\n" BACK); \
	extern const unsigned char name##_##arch[]
#define IMAGE(name) (is_gfx90a() ? name##_gfx90a : name##_gfx942)
#define OTHER_IMAGE(name) (is_gfx90a() ? name##_gfx942 : name##_gfx90a)

static int failures;

#define FAIL(...) \
	do { \
		fprintf(stderr, "%s:%d: ", __FILE__, __LINE__); \
		fprintf(stderr, __VA_ARGS__); \
		fputc('\n', stderr); \
		failures++; \
	} while (0)

/* CHECK ends the program if the call fails. */
#define CHECK(call) \
	do { \
		hipError_t e_ = (call); \
		if (e_ != hipSuccess) { \
			FAIL("%s: %s", #call, hipGetErrorName(e_)); \
			exit(1); \
		} \
	} while (0)

/* EXPECT demands a certain answer. */
#define EXPECT(call, want) \
	do { \
		hipError_t e_ = (call); \
		if (e_ != (want)) \
			FAIL("%s: %s, not %s", #call, hipGetErrorName(e_), hipGetErrorName(want)); \
	} while (0)

/* ASSERT demands a condition. */
#define ASSERT(condition) \
	do { \
		if (!(condition)) \
			FAIL("not so: %s", #condition); \
	} while (0)

__attribute__((unused)) static int is_gfx90a(void)
{
	static int known = -1;
	if (known < 0) {
		hipDeviceProp_t p;
		CHECK(hipGetDeviceProperties(&p, 0));
		known = strncmp(p.gcnArchName, "gfx90a", 6) == 0;
	}
	return known;
}

__attribute__((unused)) static hipFunction_t kernel(const void *image, const char *name)
{
	hipModule_t m;
	hipFunction_t f;
	CHECK(hipModuleLoadData(&m, image));
	CHECK(hipModuleGetFunction(&f, m, name));
	return f;
}

__attribute__((unused)) static int result(const char *program)
{
	if (failures)
		fprintf(stderr, "%s: %d failures\n", program, failures);
	else
		printf("%s: ok\n", program);
	return failures != 0;
}

#endif
