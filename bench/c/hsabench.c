/* The HSA side of "make bench": reads what to measure from standard input, one command a line, and answers each with a line of numbers.
 *
 *   dispatch CALLS   p50 and p99 in ns from the doorbell until the kernel's completion signal is seen: one workgroup that does nothing
 *   to BYTES         bytes/s of hsa_amd_memory_async_copy to the card
 *   from BYTES       bytes/s of it from the card
 *
 * hsabench VECTOR_ADD.co */
#include "clock.h"

#include "../../librocwire/testdata/hsa_kernels.h"

static hsa_signal_t done;

static void wait(void)
{
	while (hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_ACTIVE) != 0)
		;
	hsa_signal_store_relaxed(done, 1);
}

static void dispatch(const char *path, size_t n)
{
	static hsa_queue_t *q;
	static struct kernel k;
	static void *args;
	struct { void *a, *b, *c; int n; } none = {0};
	double *t = calloc(n, sizeof *t);
	if (!q) {
		q = queue(64);
		k = find(load(path), "vector_add.kd");
		args = arguments(&k, &none, sizeof none, 64, 64);
	}
	hsa_kernel_dispatch_packet_t p = packet(&k, args, 64, 64, done);
	for (size_t i = 0; i < n; i++) {
		double start = now();
		submit(q, &p);
		wait();
		t[i] = now() - start;
	}
	qsort(t, n, sizeof *t, by_value);
	printf("%.0f %.0f\n", t[n / 2], t[n * 99 / 100]);
	free(t);
}

static void copy(size_t n, int out)
{
	static void *card, *host;
	static size_t size;
	if (n > size) {
		OK(hsa_amd_memory_pool_allocate(coarse, n, 0, &card));
		OK(hsa_amd_memory_pool_allocate(fine, n, 0, &host));
		memset(host, 1, size = n);
		OK(hsa_amd_memory_async_copy(card, gpu, host, cpu, n, 0, NULL, done));
		wait();
	}
	double start = now();
	if (out)
		OK(hsa_amd_memory_async_copy(host, cpu, card, gpu, n, 0, NULL, done));
	else
		OK(hsa_amd_memory_async_copy(card, gpu, host, cpu, n, 0, NULL, done));
	wait();
	printf("%.0f\n", (double)n / (now() - start) * 1e9);
}

int main(int argc, char **argv)
{
	char what[32];
	size_t n;
	if (argc != 2)
		return 2;
	OK(hsa_init());
	look();
	OK(hsa_signal_create(1, 0, NULL, &done));
	while (scanf("%31s %zu", what, &n) == 2) {
		if (!strcmp(what, "dispatch"))
			dispatch(argv[1], n);
		else if (!strcmp(what, "to"))
			copy(n, 0);
		else if (!strcmp(what, "from"))
			copy(n, 1);
		if (failures)
			return 1;
		fflush(stdout);
	}
	return 0;
}
