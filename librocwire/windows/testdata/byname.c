/* A program that knows a library by its name only: byname LIBRARY NAMES opens LIBRARY
 * and finds each function that the file NAMES has a line for, then uses HIP through
 * what it found; with a third argument, another name of HIP's library, half of it
 * through that one. */
#include <windows.h>

#include <stdio.h>
#include <string.h>

static int wrong;

static FARPROC find(HMODULE library, const char *name)
{
	FARPROC f = GetProcAddress(library, name);
	if (!f) {
		printf("no function %s\n", name);
		wrong++;
	}
	return f;
}

static HMODULE open_library(const char *name)
{
	HMODULE h = LoadLibraryA(name);
	if (!h) {
		printf("%s cannot be opened: error %lu\n", name, GetLastError());
		exit(1);
	}
	return h;
}

static void use(HMODULE a, HMODULE b)
{
	int(*get_count)(int *) = (void *)find(a, "hipGetDeviceCount");
	int(*alloc)(void **, size_t) = (void *)find(a, "hipMalloc");
	int(*copy)(void *, const void *, size_t, int) = (void *)find(b, "hipMemcpy");
	int(*release)(void *) = (void *)find(b, "hipFree");
	const char *(*name_of)(int) = (void *)find(b, "hipGetErrorName");
	int(*last)(void) = (void *)find(a, "hipGetLastError");
	int n = 0;
	void *p = NULL;
	char from[1000], to[1000] = "";
	memset(from, 'x', sizeof from);
	if (wrong)
		return;
	if (get_count(&n) || n < 1 || alloc(&p, sizeof from) || copy(p, from, sizeof from, 1) || copy(to, p, sizeof to, 2) || release(p) || memcmp(from, to, sizeof to))
		wrong++, printf("a copy to a device and back is wrong\n");
	if (release(p) != 1 || last() != 1 || strcmp(name_of(1), "hipErrorInvalidValue")) /* both have the thread's last error */
		wrong++, printf("freed twice\n");
}

int main(int argc, char **argv)
{
	char line[256];
	int n = 0;
	FILE *f = argc > 2 ? fopen(argv[2], "r") : NULL;
	if (!f)
		return 2;
	HMODULE h = open_library(argv[1]);
	while (fgets(line, sizeof line, f)) {
		line[strcspn(line, "\r\n")] = 0;
		find(h, line);
		n++;
	}
	if (GetModuleHandleA("rocwire.dll"))
		wrong++, printf("rocwire.dll was opened although nothing was called\n");
	if (argc > 3)
		use(h, open_library(argv[3]));
	printf("%d functions, %d wrong\n", n, wrong);
	return wrong != 0;
}
