/* Device memory of N floats, which the program that includes this has defined. */
#ifndef ROCWIRE_FLOATS_H
#define ROCWIRE_FLOATS_H

#include "test.h"

#define BYTES (N * sizeof(float))

/* all reports whether every element is x. */
static int all(const void *d, float x)
{
	static float v[N];
	CHECK(hipMemcpy(v, d, BYTES, hipMemcpyDeviceToHost));
	for (int i = 0; i < N; i++)
		if (v[i] != x) {
			fprintf(stderr, "element %d is %g, not %g\n", i, v[i], x);
			return 0;
		}
	return 1;
}

/* fill makes every element x. */
static void fill(void *d, float x)
{
	static float v[N];
	for (int i = 0; i < N; i++)
		v[i] = x;
	CHECK(hipMemcpy(d, v, BYTES, hipMemcpyHostToDevice));
}

#endif
