// Multiplies matrices of random numbers on the GPU, again and again in different ways, and prints a sum over every bit of the results.
#include <hip/hip_runtime_api.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define N 192
#define BYTES (N * N * sizeof(float))

#define CHECK(call) \
	do { \
		hipError_t e_ = (call); \
		if (e_ != hipSuccess) { \
			fprintf(stderr, "%s: %s\n", #call, hipGetErrorName(e_)); \
			exit(1); \
		} \
	} while (0)

static uint64_t state = 1;

static void fill(float *p)
{
	for (int i = 0; i < N * N; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		p[i] = (float)(int32_t)(state >> 32) / 2147483648.0f;
	}
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 1;
	hipModule_t module;
	hipFunction_t kernel;
	CHECK(hipModuleLoad(&module, argv[1]));
	CHECK(hipModuleGetFunction(&kernel, module, "matmul_f32"));
	float *a = malloc(BYTES), *b = malloc(BYTES), *c = malloc(BYTES), *pinned, *da, *db, *dc;
	CHECK(hipHostMalloc((void **)&pinned, BYTES, 0));
	CHECK(hipMalloc((void **)&da, BYTES));
	CHECK(hipMalloc((void **)&db, BYTES));
	CHECK(hipMalloc((void **)&dc, BYTES));
	hipStream_t stream;
	CHECK(hipStreamCreate(&stream));
	uint64_t sum = 14695981039346656037u;
	for (int r = 0; r < rounds; r++) {
		fill(a);
		fill(b);
		CHECK(hipMemcpy(da, a, BYTES, hipMemcpyHostToDevice));
		CHECK(hipMemcpyAsync(db, b, BYTES, hipMemcpyHostToDevice, stream));
		fill(b); /* pageable memory is the program's again */
		CHECK(hipMemsetAsync(dc, 0xff, BYTES, stream));
		int n = N;
		void *args[] = {&da, &db, &dc, &n, &n, &n};
		for (int i = 0; i < 3; i++) {
			CHECK(hipModuleLaunchKernel(kernel, N / 16, N / 16, 1, 16, 16, 1, 0, stream, args, NULL));
			CHECK(hipMemcpyAsync(db, dc, BYTES, hipMemcpyDeviceToDevice, stream));
		}
		float *from = c;
		if (r % 2) {
			CHECK(hipMemcpyAsync(pinned, dc, BYTES, hipMemcpyDeviceToHost, stream));
			CHECK(hipStreamSynchronize(stream));
			from = pinned;
		} else {
			CHECK(hipStreamSynchronize(stream));
			CHECK(hipMemcpy(c, dc, BYTES, hipMemcpyDeviceToHost));
		}
		for (size_t i = 0; i < BYTES; i++)
			sum = (sum ^ ((unsigned char *)from)[i]) * 1099511628211u;
	}
	printf("matmul: %016llx\n", (unsigned long long)sum);
	return 0;
}
