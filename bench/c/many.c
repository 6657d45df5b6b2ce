/* One of many clients: a HIP program whose THREADS threads ask how much memory the device has, again and again, for MS milliseconds, once a line
 * came on standard input. Prints how many calls that were and the p99 of one in ns.
 *
 *   many THREADS MS */
#include "clock.h"
#include "hip.h"

#include <pthread.h>
#include <string.h>

enum { SAMPLES = 1 << 17, MAX = 64 };

struct work {
	pthread_t thread;
	double end;
	size_t calls;
	float took[SAMPLES];
};

static void *run(void *p)
{
	struct work *w = p;
	size_t free = 0, total = 0;
	for (double t = now(); t < w->end;) {
		CHECK(hipMemGetInfo(&free, &total)); /* which only the worker knows; a copy may need nobody */
		if (free == 0 || free > total) {
			fprintf(stderr, "wrong data\n");
			exit(1);
		}
		double u = now();
		w->took[w->calls++ % SAMPLES] = (float)(u - t);
		t = u;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc == 3 ? atoi(argv[1]) : 0;
	if (threads < 1 || threads > MAX)
		return 2;
	struct work *w = calloc((size_t)threads, sizeof *w);
	CHECK(hipDeviceSynchronize());
	puts("ready");
	fflush(stdout);
	if (getchar() == EOF)
		return 0;
	double end = now() + atof(argv[2]) * 1e6;
	for (int i = 0; i < threads; i++) {
		w[i].end = end;
		if (pthread_create(&w[i].thread, NULL, run, w + i))
			return 1;
	}
	size_t calls = 0, n = 0;
	float *all = malloc(sizeof *all * SAMPLES * (size_t)threads);
	for (int i = 0; i < threads; i++) {
		pthread_join(w[i].thread, NULL);
		size_t k = w[i].calls < SAMPLES ? w[i].calls : SAMPLES;
		memcpy(all + n, w[i].took, k * sizeof *all);
		n += k;
		calls += w[i].calls;
	}
	qsort(all, n, sizeof *all, by_float);
	printf("%zu %.0f\n", calls, n ? (double)all[n * 99 / 100] : 0);
	return 0;
}
