// A HIP program as clang compiles it, host and device in one: <<<>>>, embedded
// code for two kinds of GPU, device, constant and managed variables.
//
//   clang++-19 -x hip --offload-arch=gfx90a --offload-arch=gfx942 -nogpuinc -nogpulib -Ihip/include launch.hip …
#include <hip/hip_runtime.h>

#include "test.h"

#if defined(__HIP_DEVICE_COMPILE__)
#define thread_x() __builtin_amdgcn_workitem_id_x()
#define group_x() __builtin_amdgcn_workgroup_id_x()
#else // never run here
#define thread_x() 0u
#define group_x() 0u
#endif

enum { N = 1000, BLOCK = 64 };

__device__ int calls;
__constant__ float factor;
__managed__ int counter = 41;
__managed__ int table[N];

template <typename T> __global__ void scale(const T *in, T *out, int n)
{
	int i = (int)(group_x() * BLOCK + thread_x());
	if (i < n)
		out[i] = in[i] * (T)factor;
	if (i == 0)
		calls++;
}

__global__ void bump(int n)
{
	int i = (int)(group_x() * BLOCK + thread_x());
	if (i < n)
		table[i] += i;
	if (i == 0)
		counter++;
}

__global__ void increase(int *p, int n)
{
	int i = (int)(group_x() * BLOCK + thread_x());
	if (i < n)
		p[i]++;
}

template <typename T> static void scaled()
{
	T in[N], out[N], *a, *b;
	float three = 3;
	int wrong = 0;
	CHECK(hipMemcpyToSymbol(&factor, &three, sizeof three, 0, hipMemcpyHostToDevice));
	for (int i = 0; i < N; i++)
		in[i] = (T)i;
	CHECK(hipMalloc((void **)&a, sizeof in));
	CHECK(hipMalloc((void **)&b, sizeof out));
	CHECK(hipMemcpy(a, in, sizeof in, hipMemcpyHostToDevice));
	scale<T><<<dim3((N + BLOCK - 1) / BLOCK), dim3(BLOCK)>>>(a, b, N);
	CHECK(hipGetLastError());
	CHECK(hipMemcpy(out, b, sizeof out, hipMemcpyDeviceToHost));
	for (int i = 0; i < N; i++)
		wrong += out[i] != in[i] * (T)3;
	ASSERT(wrong == 0);
	CHECK(hipFree(a));
	CHECK(hipFree(b));
}

// A kernel runs on the device of its stream, whichever is the thread's.
static void elsewhere()
{
	int devices = 0, in[BLOCK], out[BLOCK] = {}, *a, *b, wrong = 0;
	float two = 2;
	hipStream_t there;
	CHECK(hipGetDeviceCount(&devices));
	if (devices < 2)
		return;
	for (int i = 0; i < BLOCK; i++)
		in[i] = i;
	CHECK(hipSetDevice(1));
	CHECK(hipMemcpyToSymbol(&factor, &two, sizeof two, 0, hipMemcpyHostToDevice));
	CHECK(hipStreamCreate(&there));
	CHECK(hipMalloc((void **)&a, sizeof in));
	CHECK(hipMalloc((void **)&b, sizeof out));
	CHECK(hipMemcpy(a, in, sizeof in, hipMemcpyHostToDevice));
	CHECK(hipSetDevice(0));
	scale<int><<<dim3(1), dim3(BLOCK), 0, there>>>(a, b, BLOCK);
	CHECK(hipGetLastError());
	CHECK(hipStreamSynchronize(there));
	CHECK(hipMemcpy(out, b, sizeof out, hipMemcpyDeviceToHost));
	for (int i = 0; i < BLOCK; i++)
		wrong += out[i] != 2 * i;
	ASSERT(wrong == 0);
	CHECK(hipStreamDestroy(there));
	CHECK(hipFree(a));
	CHECK(hipFree(b));
}

// launches of a host function on several devices, of which there may be one
static void several()
{
	int devices, none = 0, before = counter;
	CHECK(hipGetDeviceCount(&devices));
	void *args[] = {&none};
	hipLaunchParams one = {};
	one.func = reinterpret_cast<void *>(bump);
	one.gridDim = one.blockDim = dim3(1);
	one.args = args;
	EXPECT(hipExtLaunchMultiKernelMultiDevice(&one, 1, 0), hipErrorInvalidHandle); // the null stream
	CHECK(hipStreamCreate(&one.stream));
	CHECK(hipExtLaunchMultiKernelMultiDevice(&one, 1, 0));
	ASSERT(counter == before + 1);
	CHECK(hipLaunchCooperativeKernelMultiDevice(&one, 1, 0));
	ASSERT(counter == before + 2);
	CHECK(hipLaunchCooperativeKernel(one.func, dim3(1), dim3(1), args, 0, one.stream));
	CHECK(hipStreamSynchronize(one.stream));
	ASSERT(counter == before + 3);
	EXPECT(hipLaunchCooperativeKernel(one.func, dim3(1), dim3(1025), args, 0, one.stream), hipErrorInvalidConfiguration);
	EXPECT(hipLaunchCooperativeKernel(one.func, dim3(1), dim3(1), args, 65537, one.stream), hipErrorCooperativeLaunchTooLarge);
	EXPECT(hipLaunchKernel(one.func, dim3(0), dim3(1), args, 0, one.stream), hipErrorInvalidValue);
	hipLaunchParams two[2] = {one, one};
	EXPECT(hipExtLaunchMultiKernelMultiDevice(two, 2, 0), devices > 1 ? hipErrorInvalidDevice : hipErrorInvalidValue);
	CHECK(hipStreamDestroy(one.stream));
	EXPECT(hipLaunchCooperativeKernel(one.func, dim3(1), dim3(1), args, 0, one.stream), hipErrorContextIsDestroyed);
	(void)hipGetLastError(); // what was wrong on purpose
	counter = before;
}

int main()
{
	int n = 0;
	// before the first call of HIP a managed variable is an ordinary one
	ASSERT(counter == 41);
	for (int i = 0; i < N; i++)
		table[i] = 10 * i - 1;
	// and has the address that it always has, also for the first kernel
	int *const first = table, *const own = &counter;
	increase<<<dim3((N + BLOCK - 1) / BLOCK), dim3(BLOCK)>>>(first, N);
	CHECK(hipDeviceSynchronize());
	ASSERT(table == first && &counter == own);
	ASSERT(first[0] == 0 && first[N - 1] == 10 * (N - 1));
	hipPointerAttribute_t a;
	CHECK(hipPointerGetAttributes(&a, first + 1));
	ASSERT(a.isManaged && a.devicePointer == first + 1 && a.hostPointer == first + 1);
	CHECK(hipMemset(first, 0, 4));
	CHECK(hipDeviceSynchronize());
	ASSERT(first[0] == 0);
	scaled<float>();
	scaled<double>();
	scaled<int>();
	CHECK(hipMemcpyFromSymbol(&n, &calls, sizeof n, 0, hipMemcpyDeviceToHost));
	ASSERT(n == 3);

	elsewhere();

	bump<<<dim3((N + BLOCK - 1) / BLOCK), dim3(BLOCK)>>>(N);
	CHECK(hipDeviceSynchronize());
	ASSERT(counter == 42);
	int wrong = 0;
	for (int i = 0; i < N; i++)
		wrong += table[i] != 11 * i;
	ASSERT(wrong == 0);
	several();
	counter = 7;
	bump<<<dim3(1), dim3(BLOCK)>>>(0);
	CHECK(hipDeviceSynchronize());
	ASSERT(counter == 8);

	// a reset takes what the device holds, not the program's code and values
	CHECK(hipDeviceReset());
	ASSERT(counter == 8);
	bump<<<dim3(1), dim3(BLOCK)>>>(0);
	CHECK(hipDeviceSynchronize());
	ASSERT(counter == 9 && &counter == own && table == first);
	scaled<float>();
	return result("launch");
}
