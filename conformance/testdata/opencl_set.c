/* Small programs for OpenCL 1.2, one a name: opencl_set NAME. Each looks at all that its kernels have written, and says "NAME: ok". The declarations are those
 * of OpenCL's headers, as far as they are needed. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void *handle;
int clGetPlatformIDs(unsigned, handle *, unsigned *);
int clGetDeviceIDs(handle, uint64_t, unsigned, handle *, unsigned *);
int clGetDeviceInfo(handle, unsigned, size_t, void *, size_t *);
handle clCreateContext(void *, unsigned, handle *, void *, void *, int *);
handle clCreateCommandQueue(handle, handle, uint64_t, int *);
handle clCreateBuffer(handle, uint64_t, size_t, void *, int *);
handle clCreateSubBuffer(handle, uint64_t, unsigned, const void *, int *);
handle clCreateImage(handle, uint64_t, const void *, const void *, void *, int *);
handle clCreateProgramWithSource(handle, unsigned, const char **, const size_t *, int *);
int clBuildProgram(handle, unsigned, handle *, const char *, void *, void *);
handle clCreateKernel(handle, const char *, int *);
int clSetKernelArg(handle, unsigned, size_t, const void *);
int clEnqueueNDRangeKernel(handle, handle, unsigned, const size_t *, const size_t *, const size_t *, unsigned, const handle *, handle *);
int clEnqueueReadBuffer(handle, handle, unsigned, size_t, size_t, void *, unsigned, const handle *, handle *);
int clEnqueueWriteBuffer(handle, handle, unsigned, size_t, size_t, const void *, unsigned, const handle *, handle *);
int clEnqueueCopyBuffer(handle, handle, handle, size_t, size_t, size_t, unsigned, const handle *, handle *);
int clEnqueueFillBuffer(handle, handle, const void *, size_t, size_t, size_t, unsigned, const handle *, handle *);
void *clEnqueueMapBuffer(handle, handle, unsigned, uint64_t, size_t, size_t, unsigned, const handle *, handle *, int *);
int clEnqueueUnmapMemObject(handle, handle, void *, unsigned, const handle *, handle *);
int clEnqueueReadImage(handle, handle, unsigned, const size_t *, const size_t *, size_t, size_t, void *, unsigned, const handle *, handle *);
handle clCreateUserEvent(handle, int *);
int clSetUserEventStatus(handle, int);
int clGetEventInfo(handle, unsigned, size_t, void *, size_t *);
int clGetEventProfilingInfo(handle, unsigned, size_t, void *, size_t *);
int clWaitForEvents(unsigned, const handle *);
int clFinish(handle);
int clFlush(handle);

enum { GPU = 4, READ_WRITE = 1, COPY_HOST_PTR = 32, PROFILING = 2, IMAGE_SUPPORT = 0x1016, STATUS = 0x11D3, QUEUED = 0x1280, MAP_WRITE = 2, N = 1 << 16 };

static handle device, context, queue, program;

static void check(int error, int line)
{
	if (error) {
		printf("opencl_set.c:%d: error %d\n", line, error);
		exit(1);
	}
}
#define CHECK(call) check(call, __LINE__)
#define ASSERT(c) check((c) ? 0 : -9999, __LINE__)

static const char *source =
	"kernel void add(global const float *a, global const float *b, global float *c) { size_t i = get_global_id(0); c[i] = a[i] + b[i]; }\n"
	"kernel void reduce(global const uint *a, global uint *out, local uint *part)\n"
	"{\n"
	"	size_t l = get_local_id(0);\n"
	"	part[l] = a[get_global_id(0)];\n"
	"	for (uint n = get_local_size(0) / 2; n > 0; n /= 2) {\n"
	"		barrier(1);\n"
	"		if (l < n) part[l] += part[l + n];\n"
	"	}\n"
	"	if (l == 0) out[get_group_id(0)] = part[0];\n"
	"}\n"
	"kernel void count(global uint *bins, global int *most, uint n) { uint i = get_global_id(0); atomic_add(&bins[i % n], i); atomic_max(most, (int)i); atomic_xor(&bins[n], i); }\n"
	"kernel void say(global const uint *a) { if (get_global_id(0) == 7) printf(\"item %u has %u, %s, %.2f\\n\", (uint)get_global_id(0), a[7], \"strings\", 1.5); }\n"
	"kernel void twice(global uint *a) { a[get_global_id(0)] *= 2; }\n"
	"kernel void plus(global uint *a, uint n) { a[get_global_id(0)] += n; }\n";

static const char *images =
	"constant sampler_t nearest = 0x10;\n"
	"kernel void flip(read_only image2d_t in, write_only image2d_t out)\n"
	"{\n"
	"	int x = get_global_id(0), y = get_global_id(1), w = get_image_width(in);\n"
	"	write_imageui(out, (int2)(w - 1 - x, y), read_imageui(in, nearest, (int2)(x, y)));\n"
	"}\n";

static void build_with(const char *options, const char *text)
{
	int error;
	program = clCreateProgramWithSource(context, 1, &text, 0, &error);
	CHECK(error);
	CHECK(clBuildProgram(program, 1, &device, options, 0, 0));
}

static void build(const char *text) { build_with("", text); }

static handle buffer(const void *from, size_t n)
{
	int error;
	handle b = clCreateBuffer(context, READ_WRITE | (from ? COPY_HOST_PTR : 0), n, (void *)from, &error);
	CHECK(error);
	return b;
}

static handle kernel(const char *name)
{
	int error;
	handle k = clCreateKernel(program, name, &error);
	CHECK(error);
	return k;
}

static void pointer(handle k, unsigned i, handle b) { CHECK(clSetKernelArg(k, i, sizeof b, &b)); }

static void run(handle q, handle k, size_t n, unsigned waits, const handle *wait, handle *event)
{
	size_t group = 256;
	CHECK(clEnqueueNDRangeKernel(q, k, 1, 0, &n, &group, waits, wait, event));
}

static uint32_t words[N], back[N];

static void vector_add(void)
{
	static float a[N], b[N], c[N];
	for (int i = 0; i < N; i++)
		a[i] = (float)i / 3, b[i] = (float)(N - i) * 7;
	handle k = kernel("add"), to = buffer(0, sizeof c);
	pointer(k, 0, buffer(a, sizeof a));
	pointer(k, 1, buffer(b, sizeof b));
	pointer(k, 2, to);
	run(queue, k, N, 0, 0, 0);
	CHECK(clEnqueueReadBuffer(queue, to, 1, 0, sizeof c, c, 0, 0, 0));
	for (int i = 0; i < N; i++)
		ASSERT(c[i] == a[i] + b[i]);
}

static void local_memory(void)
{
	handle k = kernel("reduce"), to = buffer(0, N / 256 * 4);
	pointer(k, 0, buffer(words, sizeof words));
	pointer(k, 1, to);
	CHECK(clSetKernelArg(k, 2, 256 * 4, 0));
	run(queue, k, N, 0, 0, 0);
	CHECK(clEnqueueReadBuffer(queue, to, 1, 0, N / 256 * 4, back, 0, 0, 0));
	for (int g = 0; g < N / 256; g++) {
		uint32_t sum = 0;
		for (int i = 0; i < 256; i++)
			sum += words[g * 256 + i];
		ASSERT(back[g] == sum);
	}
}

static void atomics(void)
{
	enum { BINS = 61 };
	static uint32_t zero[BINS + 1];
	int most = -1;
	uint32_t n = BINS, all = 0;
	handle k = kernel("count"), bins = buffer(zero, sizeof zero), m = buffer(&most, sizeof most);
	pointer(k, 0, bins);
	pointer(k, 1, m);
	CHECK(clSetKernelArg(k, 2, 4, &n));
	run(queue, k, N, 0, 0, 0);
	CHECK(clEnqueueReadBuffer(queue, bins, 1, 0, sizeof zero, back, 0, 0, 0));
	CHECK(clEnqueueReadBuffer(queue, m, 1, 0, sizeof most, &most, 0, 0, 0));
	uint32_t want[BINS] = {0};
	for (uint32_t i = 0; i < N; i++)
		want[i % BINS] += i, all ^= i;
	ASSERT(!memcmp(want, back, sizeof want) && back[BINS] == all && most == N - 1);
}

static void prints(void)
{
	words[7] = 4711;
	handle k = kernel("say");
	pointer(k, 0, buffer(words, sizeof words));
	run(queue, k, 256, 0, 0, 0);
	CHECK(clFinish(queue));
}

static void events(void)
{
	int error, status = 99;
	handle k = kernel("twice"), b = buffer(words, sizeof words), gate = clCreateUserEvent(context, &error), done[2];
	CHECK(error);
	pointer(k, 0, b);
	run(queue, k, N, 1, &gate, &done[0]);
	CHECK(clEnqueueReadBuffer(queue, b, 0, 0, sizeof back, back, 1, &done[0], &done[1]));
	CHECK(clFlush(queue));
	CHECK(clGetEventInfo(done[1], STATUS, sizeof status, &status, 0));
	ASSERT(status > 0); /* the gate is closed */
	CHECK(clSetUserEventStatus(gate, 0));
	CHECK(clWaitForEvents(1, &done[1]));
	CHECK(clGetEventInfo(done[0], STATUS, sizeof status, &status, 0));
	ASSERT(status == 0);
	for (int i = 0; i < N; i++)
		ASSERT(back[i] == 2 * words[i]);
	/* times, of what waits for nobody */
	handle timed;
	uint64_t at[4];
	run(queue, k, N, 0, 0, &timed);
	CHECK(clFinish(queue));
	for (unsigned what = 0; what < 4; what++) { /* queued, submitted, started, ended */
		CHECK(clGetEventProfilingInfo(timed, QUEUED + what, 8, &at[what], 0));
		ASSERT(what == 0 || at[what] >= at[what - 1]);
	}
	ASSERT(at[3] > at[2]);
}

static void sub_buffers(void)
{
	int error;
	handle k = kernel("plus"), whole = buffer(words, sizeof words), half[2];
	for (unsigned h = 0; h < 2; h++) {
		size_t region[2] = {h * sizeof words / 2, sizeof words / 2};
		uint32_t n = 100 * (h + 1);
		half[h] = clCreateSubBuffer(whole, READ_WRITE, 0x1220, region, &error);
		CHECK(error);
		pointer(k, 0, half[h]);
		CHECK(clSetKernelArg(k, 1, 4, &n));
		run(queue, k, N / 2, 0, 0, 0);
	}
	CHECK(clEnqueueReadBuffer(queue, whole, 1, 0, sizeof back, back, 0, 0, 0));
	for (int i = 0; i < N; i++)
		ASSERT(back[i] == words[i] + (i < N / 2 ? 100u : 200u));
}

static void queues(void)
{
	enum { QUEUES = 4 };
	int error;
	handle k = kernel("plus"), q[QUEUES], b = buffer(words, sizeof words), own[QUEUES], last = 0, ended[QUEUES];
	uint32_t n = 1;
	pointer(k, 0, b);
	CHECK(clSetKernelArg(k, 1, 4, &n));
	for (int i = 0; i < QUEUES; i++) {
		q[i] = clCreateCommandQueue(context, device, PROFILING, &error);
		CHECK(error);
	}
	for (int i = 0; i < 40; i++) { /* a chain from queue to queue */
		handle e;
		run(q[i % QUEUES], k, N, last != 0, last ? &last : 0, &e);
		CHECK(clFlush(q[i % QUEUES]));
		last = e;
	}
	for (int i = 0; i < QUEUES; i++) { /* and what knows nothing of each other */
		handle t = kernel("plus");
		uint32_t v = 1000u * (unsigned)(i + 1);
		own[i] = buffer(words, sizeof words);
		pointer(t, 0, own[i]);
		CHECK(clSetKernelArg(t, 1, 4, &v));
		run(q[i], t, N, 0, 0, &ended[i]);
	}
	CHECK(clWaitForEvents(QUEUES, ended));
	CHECK(clEnqueueReadBuffer(queue, b, 1, 0, sizeof back, back, 1, &last, 0));
	for (int i = 0; i < N; i++)
		ASSERT(back[i] == words[i] + 40);
	for (int k = 0; k < QUEUES; k++) {
		CHECK(clEnqueueReadBuffer(queue, own[k], 1, 0, sizeof back, back, 0, 0, 0));
		for (int i = 0; i < N; i++)
			ASSERT(back[i] == words[i] + 1000u * (unsigned)(k + 1));
	}
}

static void copies(void)
{
	int error;
	uint32_t pattern = 0xdeadbeef;
	handle a = buffer(words, sizeof words), b = buffer(0, sizeof words);
	CHECK(clEnqueueFillBuffer(queue, b, &pattern, 4, 0, sizeof words, 0, 0, 0));
	CHECK(clEnqueueCopyBuffer(queue, a, b, 400, 4000, 8000, 0, 0, 0));
	uint32_t *p = clEnqueueMapBuffer(queue, b, 1, MAP_WRITE | 1, 0, sizeof words, 0, 0, 0, &error);
	CHECK(error);
	ASSERT(p[0] == pattern && p[1000] == words[100] && p[2999] == words[2099] && p[3000] == pattern);
	p[5] = 55;
	CHECK(clEnqueueUnmapMemObject(queue, b, p, 0, 0, 0));
	CHECK(clEnqueueWriteBuffer(queue, b, 0, 24, 4, &pattern, 0, 0, 0));
	CHECK(clEnqueueReadBuffer(queue, b, 1, 0, sizeof back, back, 0, 0, 0));
	ASSERT(back[5] == 55 && back[6] == pattern && back[1000] == words[100] && back[N - 1] == pattern);
}

static void image(void)
{
	enum { W = 64, H = 32 };
	int error;
	uint32_t has = 0;
	CHECK(clGetDeviceInfo(device, IMAGE_SUPPORT, sizeof has, &has, 0));
	if (!has) { /* the device says so, and it is right to */
		puts("no images");
		return;
	}
	build_with("-cl-std=CL2.0", images); /* Debian's compiler knows no images of OpenCL 1.2 */
	static uint8_t in[H][W][4], out[H][W][4];
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++)
			for (int c = 0; c < 4; c++)
				in[y][x][c] = (uint8_t)(x * 3 + y * 5 + c * 7);
	struct { uint32_t order, type; } format = {0x10B5, 0x10DA}; /* RGBA, bytes */
	struct { uint32_t type; size_t w, h, d, array, row, slice; uint32_t levels, samples; handle buffer; } desc = {0x10F1, W, H, 0, 0, 0, 0, 0, 0, 0};
	handle a = clCreateImage(context, READ_WRITE | COPY_HOST_PTR, &format, &desc, in, &error);
	CHECK(error);
	handle b = clCreateImage(context, READ_WRITE, &format, &desc, 0, &error);
	CHECK(error);
	handle k = kernel("flip");
	pointer(k, 0, a);
	pointer(k, 1, b);
	size_t n[2] = {W, H}, zero[3] = {0}, region[3] = {W, H, 1};
	CHECK(clEnqueueNDRangeKernel(queue, k, 2, 0, n, 0, 0, 0, 0));
	CHECK(clEnqueueReadImage(queue, b, 1, zero, region, 0, 0, out, 0, 0, 0));
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++)
			ASSERT(!memcmp(out[y][W - 1 - x], in[y][x], 4));
}

static const struct { const char *name; void (*run)(void); } all[] = {{"vector_add", vector_add}, {"local_memory", local_memory}, {"atomics", atomics}, {"printf", prints},
	{"events", events}, {"sub_buffers", sub_buffers}, {"queues", queues}, {"copies", copies}, {"images", image}};

int main(int argc, char **argv)
{
	handle platform;
	int error;
	CHECK(clGetPlatformIDs(1, &platform, 0));
	CHECK(clGetDeviceIDs(platform, GPU, 1, &device, 0));
	context = clCreateContext(0, 1, &device, 0, 0, &error);
	CHECK(error);
	queue = clCreateCommandQueue(context, device, PROFILING, &error);
	CHECK(error);
	for (int i = 0; i < N; i++)
		words[i] = (uint32_t)i * 2654435761u;
	build(source);
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (argc > 1 && !strcmp(argv[1], all[i].name)) {
			all[i].run();
			printf("%s: ok\n", all[i].name);
			return 0;
		}
	return 2;
}
