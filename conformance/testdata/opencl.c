/* A program for OpenCL 1.2: compiles a kernel, runs it, and looks at all it has written. The declarations are those of its headers, as far as they are
 * needed. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef void *handle;
int clGetPlatformIDs(unsigned, handle *, unsigned *);
int clGetDeviceIDs(handle, uint64_t, unsigned, handle *, unsigned *);
handle clCreateContext(void *, unsigned, handle *, void *, void *, int *);
handle clCreateCommandQueue(handle, handle, uint64_t, int *);
handle clCreateBuffer(handle, uint64_t, size_t, void *, int *);
handle clCreateProgramWithSource(handle, unsigned, const char **, const size_t *, int *);
int clBuildProgram(handle, unsigned, handle *, const char *, void *, void *);
handle clCreateKernel(handle, const char *, int *);
int clSetKernelArg(handle, unsigned, size_t, const void *);
int clEnqueueNDRangeKernel(handle, handle, unsigned, const size_t *, const size_t *, const size_t *, unsigned, void *, void *);
int clEnqueueReadBuffer(handle, handle, unsigned, size_t, size_t, void *, unsigned, void *, void *);

enum { GPU = 4, READ_WRITE = 1, COPY_HOST_PTR = 32, N = 1 << 18, GROUP = 256 };

static const char *source =
	"kernel void sums(global const int *a, global int *b, local int *part)\n"
	"{\n"
	"	size_t i = get_global_id(0), l = get_local_id(0);\n"
	"	part[l] = a[i];\n"
	"	for (uint n = get_local_size(0) / 2; n > 0; n /= 2) {\n"
	"		barrier(1); /* the name is in a header that a tree elsewhere has not */\n"
	"		if (l < n)\n"
	"			part[l] += part[l + n];\n"
	"	}\n"
	"	if (l == 0)\n"
	"		b[get_group_id(0)] = part[0];\n"
	"}\n";

static void check(int error, int line)
{
	if (error) {
		printf("opencl.c:%d: error %d\n", line, error);
		exit(1);
	}
}
#define CHECK(call) check(call, __LINE__)

int main(void)
{
	static int a[N], b[N / GROUP];
	handle platform, device;
	int error;
	size_t n = N, group = GROUP;
	for (int i = 0; i < N; i++)
		a[i] = (int)(i * 2654435761u >> 8);
	CHECK(clGetPlatformIDs(1, &platform, NULL));
	CHECK(clGetDeviceIDs(platform, GPU, 1, &device, NULL));
	handle context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
	CHECK(error);
	handle queue = clCreateCommandQueue(context, device, 0, &error);
	CHECK(error);
	handle in = clCreateBuffer(context, COPY_HOST_PTR | READ_WRITE, sizeof a, a, &error);
	CHECK(error);
	handle out = clCreateBuffer(context, READ_WRITE, sizeof b, NULL, &error);
	CHECK(error);
	handle program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
	CHECK(error);
	CHECK(clBuildProgram(program, 1, &device, "", NULL, NULL));
	handle kernel = clCreateKernel(program, "sums", &error);
	CHECK(error);
	CHECK(clSetKernelArg(kernel, 0, sizeof in, &in));
	CHECK(clSetKernelArg(kernel, 1, sizeof out, &out));
	CHECK(clSetKernelArg(kernel, 2, GROUP * sizeof *a, NULL));
	CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &n, &group, 0, NULL, NULL));
	CHECK(clEnqueueReadBuffer(queue, out, 1, 0, sizeof b, b, 0, NULL, NULL));
	for (int g = 0; g < N / GROUP; g++) {
		unsigned sum = 0;
		for (int i = 0; i < GROUP; i++)
			sum += (unsigned)a[g * GROUP + i];
		if (b[g] != (int)sum) {
			printf("opencl.c: sum %d is %d, not %d\n", g, b[g], (int)sum);
			return 1;
		}
	}
	puts("opencl: ok");
	return 0;
}
