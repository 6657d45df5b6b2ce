/* The clock of the programs here, and the order of what they measured. */
#ifndef CLOCK_H
#define CLOCK_H

#include <time.h>

/* now is a time in ns. */
static inline double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* by_value is an order for qsort, of doubles. */
static inline int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* by_float is the same of floats, which those who keep very many have. */
static inline int by_float(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;
	return (x > y) - (x < y);
}

#endif
