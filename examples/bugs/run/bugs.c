// Runs one of the kernels of bugs.hip, which have a bug each, or the same without it:
//
//	bugs OBJECT KERNEL [THREADS [N]]
//
// OBJECT is gfx90a.co or gfx942.co. With "freed" before it, the kernel gets memory that was freed.
#include <hip/hip_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call)                                                            \
    do {                                                                       \
        hipError_t e = (call);                                                 \
        if (e != hipSuccess) {                                                 \
            printf("%s: %s\n", #call, hipGetErrorName(e));                     \
            return 1;                                                          \
        }                                                                      \
    } while (0)

int main(int argc, char **argv) {
    if (argc < 3)
        return 2;
    int freed = strncmp(argv[2], "freed:", 6) == 0;
    unsigned threads = argc > 3 ? atoi(argv[3]) : 64, n = argc > 4 ? atoi(argv[4]) : 64, m = 8;
    hipModule_t module;
    hipFunction_t kernel;
    void *in, *out;
    CHECK(hipModuleLoad(&module, argv[1]));
    CHECK(hipModuleGetFunction(&kernel, module, argv[2] + (freed ? 6 : 0)));
    CHECK(hipMalloc(&in, 1024));
    CHECK(hipMalloc(&out, 1024));
    CHECK(hipMemset(in, 1, 1024));
    if (freed)
        CHECK(hipFree(in));
    void *args[] = {&in, &out, &n, &m};
    CHECK(hipModuleLaunchKernel(kernel, 1, 1, 1, threads, 1, 1, 0, 0, args, 0));
    CHECK(hipDeviceSynchronize());
    printf("done\n");
    return 0;
}
