/* takes MIB [stay] allocates so much of the first card and says what became of it. It is over then; with stay it keeps what it has got until it is told to
 * end, which an init of a container would not be by default. */
#include <hip/hip_runtime_api.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void over(int signal)
{
	(void)signal;
	_exit(0);
}

int main(int argc, char **argv)
{
	size_t free = 0, total = 0, mib = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	hipError_t told = hipMemGetInfo(&free, &total), e;
	void *p;

	signal(SIGTERM, over);
	if (told != hipSuccess || mib == 0) {
		printf("hipMemGetInfo: %s\n", hipGetErrorName(told));
		return 1;
	}
	e = hipMalloc(&p, mib << 20);
	if (e == hipSuccess)
		e = hipMemset(p, 1, mib << 20);
	if (e == hipSuccess)
		e = hipDeviceSynchronize();
	printf("%zu of %zu MiB: %s\n", mib, total >> 20, hipGetErrorName(e));
	fflush(stdout);
	while (e == hipSuccess && argc > 2)
		pause();
	return e != hipSuccess;
}
