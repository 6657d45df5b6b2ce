// What two processes that share memory can do at best, for the table of "make bench": one writes a request and a number, the other waits for the number,
// and answers the same way. Prints p50 and p99 of a round trip in ns.
//
//	shared spin|futex CALLS REQUEST REPLY
#include "clock.h"

#include <linux/futex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 4000 };

struct way {
	_Alignas(128) _Atomic unsigned number;
	char message[MOST];
};

static int sleeps;

static void say(struct way *w, unsigned number, const char *message, size_t n) {
	memcpy(w->message, message, n);
	atomic_store(&w->number, number);
	if (sleeps)
		syscall(SYS_futex, &w->number, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void hear(struct way *w, unsigned number, char *message, size_t n) {
	unsigned seen;
	while ((seen = atomic_load(&w->number)) != number) {
		if (sleeps)
			syscall(SYS_futex, &w->number, FUTEX_WAIT, seen, NULL, NULL, 0);
		else
#if defined __x86_64__
			__builtin_ia32_pause();
#else
			__asm__ volatile("" : : : "memory");
#endif
	}
	memcpy(message, w->message, n);
}

int main(int argc, char **argv) {
	if (argc != 5)
		return 2;
	sleeps = !strcmp(argv[1], "futex");
	unsigned calls = (unsigned)strtoul(argv[2], NULL, 0);
	size_t req = strtoull(argv[3], NULL, 0), rep = strtoull(argv[4], NULL, 0);
	struct way *way = mmap(NULL, 2 * sizeof *way, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char a[MOST] = {1}, b[MOST];
	double *t = calloc(calls, sizeof *t);
	if (way == MAP_FAILED || !t || req > MOST || rep > MOST)
		return 1;
	pid_t pid = fork();
	if (pid < 0)
		return 1;
	for (unsigned i = 1; i <= calls; i++) {
		if (pid == 0) {
			hear(&way[0], i, b, req);
			say(&way[1], i, a, rep);
			continue;
		}
		double start = now();
		say(&way[0], i, a, req);
		hear(&way[1], i, b, rep);
		t[i - 1] = now() - start;
	}
	if (pid == 0)
		_exit(0);
	wait(NULL);
	qsort(t, calls, sizeof *t, by_value);
	printf("%.0f %.0f\n", t[calls / 2], t[(size_t)calls * 99 / 100]);
	return 0;
}
