/* A program that uses HIP, and loads and unloads libraries with code for the GPU while
 * threads of it call HIP. */
#include "../../../examples/tests/test.h"

enum { N = 1000, TIMES = 20 };

static volatile LONG done;

static DWORD WINAPI busy(void *unused)
{
	(void)unused;
	while (!done) {
		void *p;
		CHECK(hipMalloc(&p, 64));
		CHECK(hipFree(p));
	}
	return 0;
}

int main(void)
{
	float a[N], b[N], c[N], *da, *db, *dc;
	HANDLE threads[2];
	for (int i = 0; i < N; i++) {
		a[i] = i;
		b[i] = 2 * i;
	}
	CHECK(hipMalloc((void **)&da, sizeof a));
	CHECK(hipMalloc((void **)&db, sizeof b));
	CHECK(hipMalloc((void **)&dc, sizeof c));
	CHECK(hipMemcpy(da, a, sizeof a, hipMemcpyHostToDevice));
	CHECK(hipMemcpy(db, b, sizeof b, hipMemcpyHostToDevice));
	for (int i = 0; i < 2; i++)
		threads[i] = CreateThread(NULL, 0, busy, NULL, 0, NULL);
	for (int i = 0; i < TIMES; i++) {
		HMODULE h = LoadLibraryA("plugin.dll");
		int (*add)(const float *, const float *, float *, int) = h ? (void *)GetProcAddress(h, "add") : NULL;
		ASSERT(add);
		if (!add)
			break;
		if (i % 3 != 2) { /* sometimes it is unloaded unused */
			CHECK(hipMemset(dc, 0, sizeof c));
			CHECK(add(da, db, dc, N));
			CHECK(hipMemcpy(c, dc, sizeof c, hipMemcpyDeviceToHost));
			ASSERT(c[0] == 0 && c[1] == 3 && c[N - 1] == 3 * (N - 1));
		}
		FreeLibrary(h);
	}
	done = 1;
	WaitForMultipleObjects(2, threads, TRUE, INFINITE);
	if (failures == 0)
		puts("plugins: ok");
	return failures != 0;
}
