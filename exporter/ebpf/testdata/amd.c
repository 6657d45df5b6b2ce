/* A program that loads a HIP library late, and asks it for its GPUs. */
#include <dlfcn.h>
#include <stdio.h>

int main(void)
{
	char line[100];
	int n, i;
	int (*count)(int *) = 0;
	void *library;

	while (fgets(line, sizeof(line), stdin)) {
		if (!count) {
			library = dlopen("libamdhip64.so.6", RTLD_NOW);
			count = library ? (int (*)(int *))dlsym(library, "hipGetDeviceCount") : 0;
			puts(count ? "loaded" : dlerror());
		} else {
			for (i = 0; i < 10 && count(&n) == 100; i++)
				;
			puts(i == 10 ? "no device" : "a device");
		}
		fflush(stdout);
	}
	return 0;
}
