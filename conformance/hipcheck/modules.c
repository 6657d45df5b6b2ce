/* Modules, functions, launches: what is refused, and with which code. */
#include "groups.h"

static char *read_file(const char *name, size_t *n)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/%s.co", getenv("HIPCHECK_KERNELS"), name);
	FILE *f = fopen(path, "rb");
	if (!f)
		return 0;
	char *b = calloc(1, 4 << 20);
	*n = fread(b, 1, (4 << 20) - 4096, f);
	fclose(f);
	return b;
}

void modules(void)
{
	hipModule_t m = 0;
	hipFunction_t f = 0;
	hipDeviceptr_t p = 0;
	size_t n = 0, image_size = 0;
	IS(hipModuleLoad(&m, "/nowhere/at/all.co"), "load no file");
	IS(hipModuleLoad(&m, ""), "load an empty name");
	IS(hipModuleLoad(&m, "/"), "load a folder");
	IS(hipModuleLoad(&m, "/proc/self/exe"), "load a program");
	IS(hipModuleLoad(&m, "/dev/null"), "load an empty file");
	static char zeros[65536], text[65536] = "nothing like a code object";
	IS(hipModuleLoadData(&m, zeros), "load zeros");
	IS(hipModuleLoadData(&m, text), "load text");
	char *image = read_file("variables", &image_size);
	if (image) {
		IS(hipModuleLoadData(&m, image), "load data");
		IS(hipModuleUnload(m), "unload");
		IS(hipModuleUnload(m), "unload again");
		IS(hipModuleGetFunction(&f, m, "polynomial"), "function of none");
		static const struct { const char *what; int at; unsigned char v; } wrong[] = {{"magic", 0, 0}, {"class", 4, 1}, {"byte order", 5, 2}, {"ABI", 7, 0}, {"ABI version", 8, 0}, {"type", 16, 1},
			{"machine", 18, 62}, {"processor", 48, 0x41}, {"program headers", 32, 0xff}, {"their number", 56, 0}, {"section headers", 40, 0xff}, {"their count", 60, 0}};
		for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
			char *c = malloc(4 << 20);
			memcpy(c, image, 4 << 20);
			c[wrong[i].at] = (char)wrong[i].v;
			if (IS(hipModuleLoadData(&m, c), "load data with another %s", wrong[i].what) == hipSuccess)
				IS(hipModuleGetFunction(&f, m, "polynomial"), "function of data with another %s", wrong[i].what);
			free(c);
		}
		IS(hipModuleLoadDataEx(&m, image, 0, 0, 0), "load data with no options");
		IS(hipModuleLoadDataEx(&m, image, 1, 0, 0), "load data with an option, of null");
	}
	m = module("variables");
	IS(hipModuleGetFunction(&f, m, "polynomial"), "function");
	IS(hipModuleGetFunction(&f, m, "no such function"), "no such function");
	IS(hipModuleGetFunction(&f, m, ""), "function of no name");
	IS(hipModuleGetFunction(&f, m, "launches"), "a variable as a function");
	IS(hipModuleGetFunction(&f, m, "polynomial.kd"), "a function's descriptor");
	if (begin("variable")) {
		hipError_t e = hipModuleGetGlobal(&p, &n, m, "launches");
		answer("%s, %zu", hipGetErrorName(e), n);
	}
	if (begin("table")) {
		hipError_t e = hipModuleGetGlobal(&p, &n, m, "big_table");
		answer("%s, %zu", hipGetErrorName(e), n);
	}
	IS(hipModuleGetGlobal(&p, &n, m, "no such variable"), "no such variable");
	IS(hipModuleGetGlobal(&p, &n, m, ""), "variable of no name");
	IS(hipModuleGetGlobal(&p, &n, m, "polynomial"), "a function as a variable");
	IS(hipModuleGetGlobal(0, &n, m, "launches"), "variable, no place for its address");
	IS(hipModuleGetGlobal(&p, 0, m, "launches"), "variable, no place for its size");
	IS(hipModuleGetGlobal(0, 0, m, "launches"), "variable, no place at all");
	textureReference *t;
	IS(hipModuleGetTexRef(&t, m, "launches"), "a variable as a texture");
	hipPointerAttribute_t a;
	MUST(hipModuleGetGlobal(&p, &n, m, "launches"));
	if (begin("attributes of a variable")) {
		hipError_t e = hipPointerGetAttributes(&a, p);
		answer("%s, type %d", hipGetErrorName(e), e ? 0 : a.type);
	}
	int v[100] = {0};
	IS(hipMemcpy(v, p, 4, hipMemcpyDeviceToHost), "copy from a variable");
	SAW("the variable", "%d", v[0]);
	IS(hipMemcpy(v, p, 400, hipMemcpyDeviceToHost), "copy too much from a variable");
	IS(hipFree(p), "hipFree of a variable");
	IS(hipModuleUnload(m), "unload at the end");
	IS(hipMemcpy(v, p, 4, hipMemcpyDeviceToHost), "copy from a variable of none");
}

void functions_of(void)
{
	static const struct { const char *module, *name; } all[] = {{"vector_add", "vector_add"}, {"spin", "spin"}, {"histogram", "histogram_global_u32"}, {"lanes", "tickets"}, {"variables", "polynomial"},
		{"dynamic_lds", "reverse"}, {"scratch", "sort_private"}, {"fault", "store_at"}};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		hipFunction_t f = 0;
		hipModule_t m;
		char path[4096];
		snprintf(path, sizeof path, "%s/%s.co", getenv("HIPCHECK_KERNELS"), all[i].module);
		if (hipModuleLoad(&m, path) || hipModuleGetFunction(&f, m, all[i].name))
			continue;
		for (int at = -1; at < 12; at++) {
			int v = 0x5555;
			if (begin("%s, attribute %d", all[i].name, at)) {
				hipError_t e = hipFuncGetAttribute(&v, (hipFunction_attribute)at, f);
				answer("%s %d", hipGetErrorName(e), v);
			}
			IS(hipFuncSetAttribute(f, (hipFuncAttribute)at, 64), "%s, set attribute %d", all[i].name, at);
		}
		static const int blocks[] = {-1, 0, 1, 63, 64, 65, 100, 128, 256, 512, 1000, 1024, 1025, 4096};
		static const size_t shared[] = {0, 1024, 16384, 32768, 65536, 65537, 1 << 20};
		for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++)
			for (size_t k = 0; k < sizeof shared / sizeof *shared; k++) {
				int v = 99;
				if (i > 2 && k > 2)
					continue;
				if (begin("%s, blocks of %d with %zu bytes", all[i].name, blocks[b], shared[k])) {
					hipError_t e = hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&v, f, blocks[b], shared[k]);
					answer("%s %d", hipGetErrorName(e), v);
				}
			}
		for (size_t k = 0; k < sizeof shared / sizeof *shared; k++)
			for (int limit = -1; limit < 2000; limit = limit < 0 ? 0 : limit ? limit * 4 : 64) {
				int grid = 99, block = 99;
				if (begin("%s, best size with %zu bytes, at most %d", all[i].name, shared[k], limit)) {
					hipError_t e = hipModuleOccupancyMaxPotentialBlockSize(&grid, &block, f, shared[k], limit);
					answer("%s %d %d", hipGetErrorName(e), grid, block);
				}
			}
		IS(hipModuleUnload(m), "%s, unload", all[i].name);
	}
	hipFuncAttributes a;
	int v;
	static char none;
	IS(hipFuncGetAttributes(&a, &none), "attributes of no function");
	IS(hipFuncGetAttributes(&a, 0), "attributes of null");
	IS(hipOccupancyMaxActiveBlocksPerMultiprocessor(&v, &none, 64, 0), "blocks of no function");
	IS(hipOccupancyMaxPotentialBlockSize(&v, &v, &none, 0, 0), "best size of no function");
	IS(hipFuncSetCacheConfig(&none, hipFuncCachePreferL1), "cache config of no function");
	IS(hipFuncSetSharedMemConfig(&none, hipSharedMemBankSizeDefault), "shared memory config of no function");
}

void launch(void)
{
	hipFunction_t f = kernel("vector_add", "vector_add");
	hipStream_t s;
	void *p;
	int n = 0;
	MUST(hipStreamCreate(&s));
	MUST(hipMalloc(&p, 4096));
	void *args[] = {&p, &p, &p, &n};
	static const struct { unsigned g[3], b[3], shared; } shapes[] = {{{1, 1, 1}, {64, 1, 1}, 0}, {{0, 1, 1}, {64, 1, 1}, 0}, {{1, 0, 1}, {64, 1, 1}, 0}, {{1, 1, 0}, {64, 1, 1}, 0}, {{1, 1, 1}, {0, 1, 1}, 0},
		{{1, 1, 1}, {64, 0, 1}, 0}, {{1, 1, 1}, {64, 1, 0}, 0}, {{1, 1, 1}, {1024, 1, 1}, 0}, {{1, 1, 1}, {1025, 1, 1}, 0}, {{1, 1, 1}, {1, 1024, 1}, 0}, {{1, 1, 1}, {1, 1025, 1}, 0}, {{1, 1, 1}, {1, 1, 1024}, 0},
		{{1, 1, 1}, {1, 1, 1025}, 0}, {{1, 1, 1}, {32, 32, 1}, 0}, {{1, 1, 1}, {32, 32, 2}, 0}, {{1, 1, 1}, {64, 1, 1}, 65536}, {{1, 1, 1}, {64, 1, 1}, 65537}, {{1, 1, 1}, {64, 1, 1}, 1 << 20},
		{{1, 1, 1}, {64, 1, 1}, 0xffffffff}, {{1, 65536, 1}, {1, 1, 1}, 0}, {{1, 1, 65536}, {1, 1, 1}, 0}, {{1u << 31, 1, 1}, {64, 1, 1}, 0}, {{0xffffffff, 1, 1}, {1024, 1, 1}, 0}, {{1u << 26, 1, 1}, {64, 1, 1}, 0},
		{{1, 1u << 31, 1}, {64, 1, 1}, 0}, {{1, 1, 1u << 31}, {64, 1, 1}, 0}};
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		const unsigned *g = shapes[i].g, *b = shapes[i].b;
		if ((uint64_t)g[0] * g[1] * g[2] > 1 << 20 && (uint64_t)g[0] * b[0] < 1ull << 32 && (uint64_t)g[1] * b[1] < 1ull << 32 && (uint64_t)g[2] * b[2] < 1ull << 32)
			continue; /* would run for hours */
		if (begin("grid %u %u %u, block %u %u %u, %u bytes", g[0], g[1], g[2], b[0], b[1], b[2], shapes[i].shared)) {
			hipError_t e = hipModuleLaunchKernel(f, g[0], g[1], g[2], b[0], b[1], b[2], shapes[i].shared, s, args, 0);
			answer("%s, then %s, last %s", hipGetErrorName(e), hipGetErrorName(hipStreamSynchronize(s)), hipGetErrorName(hipGetLastError()));
		}
		if (begin("cooperative, grid %u %u %u, block %u %u %u, %u bytes", g[0], g[1], g[2], b[0], b[1], b[2], shapes[i].shared)) {
			hipError_t e = hipModuleLaunchCooperativeKernel(f, g[0], g[1], g[2], b[0], b[1], b[2], shapes[i].shared, s, args);
			answer("%s, then %s, last %s", hipGetErrorName(e), hipGetErrorName(hipStreamSynchronize(s)), hipGetErrorName(hipGetLastError()));
		}
		if (begin("by threads, %u %u %u, block %u %u %u, %u bytes", g[0], g[1], g[2], b[0], b[1], b[2], shapes[i].shared)) {
			hipError_t e = hipExtModuleLaunchKernel(f, g[0], g[1], g[2], b[0], b[1], b[2], shapes[i].shared, s, args, 0, 0, 0, 0);
			answer("%s, then %s, last %s", hipGetErrorName(e), hipGetErrorName(hipStreamSynchronize(s)), hipGetErrorName(hipGetLastError()));
		}
	}
	struct { void *a, *b, *c; int n; } packed = {p, p, p, 0};
	size_t size = sizeof packed;
	void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size, HIP_LAUNCH_PARAM_END};
	IS(hipModuleLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, s, 0, extra), "packed arguments");
	IS(hipModuleLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, s, args, extra), "both kinds of arguments");
	IS(hipModuleLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, s, 0, 0), "no arguments");
	size = 8;
	IS(hipModuleLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, s, 0, extra), "packed arguments, too few");
	size = 0;
	IS(hipModuleLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, s, 0, extra), "packed arguments, none");
	void *odd[] = {(void *)77, &packed, HIP_LAUNCH_PARAM_END}, *open[] = {HIP_LAUNCH_PARAM_END};
	IS(hipModuleLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, s, 0, odd), "extra of no meaning");
	IS(hipModuleLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, s, 0, open), "extra of nothing");
	IS(hipDeviceSynchronize(), "synchronize");
	IS(hipConfigureCall((dim3){1, 1, 1}, (dim3){64, 1, 1}, 0, s), "configure a call");
	IS(hipSetupArgument(&p, 8, 0), "set an argument up");
	IS(hipLaunchByPtr(&n), "launch by a pointer to nothing");
	IS(hipLaunchByPtr(&n), "launch by a pointer, not configured");
	IS(hipLaunchHostFunc(s, 0, 0), "host function of null");
}
