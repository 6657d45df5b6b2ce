/* What some kernels of examples/kernels do, in plain C on one core, for the table of "make bench". Prints the median
 * time of a round in ns:
 *
 *	kernels spin|mandelbrot|matmul|vector_add|handoff ROUNDS
 *
 * The sizes are those of native.go. */
#include "clock.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACES 65536
#define TURNS 2000
#define PICTURE 512
#define MATRIX 512
#define ADDED (16 << 20)

static void *memory(size_t n)
{
	void *p = aligned_alloc(4096, n);
	if (!p)
		exit(1);
	memset(p, 0, n);
	return p;
}

static void spin(uint32_t *out, uint64_t rounds, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t x = i * 2654435761u + 12345u;
		for (uint64_t r = 0; r < rounds; r++)
			x = x * 1664525u + 1013904223u;
		out[i] = x;
	}
}

static void mandelbrot(uint32_t *out, int width, int height, float x0, float y0, float step, uint32_t limit)
{
	for (int py = 0; py < height; py++)
		for (int px = 0; px < width; px++) {
			float cx = x0 + (float)px * step, cy = y0 + (float)py * step, zx = 0, zy = 0;
			uint32_t i = 0;
			while (i < limit && zx * zx + zy * zy <= 4.0f) {
				float t = zx * zx - zy * zy + cx;
				zy = 2.0f * zx * zy + cy;
				zx = t;
				i++;
			}
			out[py * width + px] = i;
		}
}

/* The loops are in the order in which the innermost one walks through memory. */
static void matmul(const float *restrict a, const float *restrict b, float *restrict c, int n)
{
	memset(c, 0, (size_t)n * n * sizeof *c);
	for (int i = 0; i < n; i++)
		for (int k = 0; k < n; k++)
			for (int j = 0; j < n; j++)
				c[i * n + j] += a[i * n + k] * b[k * n + j];
}

static void vector_add(const float *restrict a, const float *restrict b, float *restrict c, int n)
{
	for (int i = 0; i < n; i++)
		c[i] = a[i] + b[i];
}

/* What is asked of another thread, and what it has done. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t change;
	int asked, done;
} work = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0};

static void *worker(void *unused)
{
	pthread_mutex_lock(&work.lock);
	for (;;) {
		while (work.done == work.asked)
			pthread_cond_wait(&work.change, &work.lock);
		work.done = work.asked;
		pthread_cond_broadcast(&work.change);
	}
	return unused;
}

static void handoff(void)
{
	static int started;
	pthread_t thread;
	if (!started && pthread_create(&thread, NULL, worker, NULL))
		exit(1);
	started = 1;
	pthread_mutex_lock(&work.lock);
	work.asked++;
	pthread_cond_broadcast(&work.change);
	while (work.done != work.asked)
		pthread_cond_wait(&work.change, &work.lock);
	pthread_mutex_unlock(&work.lock);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	int rounds = atoi(argv[2]);
	double *t = memory((size_t)rounds * sizeof *t);
	float *a = memory(ADDED * 4), *b = memory(ADDED * 4), *c = memory(ADDED * 4);
	for (int r = 0; r < rounds; r++) {
		double start = now();
		if (!strcmp(argv[1], "spin"))
			spin((uint32_t *)c, TURNS, PLACES);
		else if (!strcmp(argv[1], "mandelbrot"))
			mandelbrot((uint32_t *)c, PICTURE, PICTURE, -2, -1.25f, 2.5f / PICTURE, 256);
		else if (!strcmp(argv[1], "matmul"))
			matmul(a, b, c, MATRIX);
		else if (!strcmp(argv[1], "vector_add"))
			vector_add(a, b, c, ADDED);
		else if (!strcmp(argv[1], "handoff"))
			handoff();
		else
			return 2;
		__asm__ volatile("" ::"r"(c) : "memory"); /* the results are wanted */
		t[r] = now() - start;
	}
	qsort(t, rounds, sizeof *t, by_value);
	printf("%.0f\n", t[rounds / 2]);
	return 0;
}
