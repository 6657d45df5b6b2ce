/*
 * A program for a real GPU, or a simulated one: for each line it reads it allocates
 * twice, copies to, on and from the GPU, checks what came back, and frees.
 */
#include <hip/hip_runtime_api.h>

#include <stdio.h>
#include <string.h>

static char in[70000], out[70000];

static int step(char fill)
{
	void *a, *b;
	memset(in, fill, sizeof(in));
	memset(out, 0, sizeof(out));
	return hipMalloc(&a, sizeof(in)) || hipMalloc(&b, sizeof(in)) || hipMemcpy(a, in, sizeof(in), hipMemcpyHostToDevice) ||
	       hipMemcpyAsync(b, a, 65536, hipMemcpyDeviceToDevice, 0) || hipStreamSynchronize(0) ||
	       hipMemcpy(out, b, 65536, hipMemcpyDeviceToHost) || hipFree(a) || memcmp(in, out, 65536);
}

int main(void)
{
	char line[100];
	int n = 0;
	while (fgets(line, sizeof(line), stdin)) {
		puts(step(++n) ? "failed" : "done");
		fflush(stdout);
	}
	return 0;
}
