// What the machine can do at best, for the table of "make bench": two processes over a loopback TCP socket with blocking calls,
// and memcpy. Prints one line of numbers per run:
//
//	floor pingpong CALLS REQUEST REPLY   ->  p50 and p99 of a round trip in ns
//	floor bulk BYTES ROUNDS              ->  median bytes/s of sending BYTES and being answered one byte
//	floor memcpy BYTES ROUNDS            ->  median bytes/s
//	floor touch BYTES ROUNDS             ->  median ns of writing to each page of new memory with large pages
//
// Sockets use the congestion control that wire uses within one machine.
#include "clock.h"
#include "socket.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

// served gives this end of a TCP connection, whose other end a child process answers: every in bytes with out bytes until the peer ends.
static int served(size_t in, size_t out) {
	struct sockaddr_in address;
	int l = listening(&address);
	pid_t pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0) {
		char *a = calloc(1, in), *b = calloc(1, out);
		int fd = accepted(l);
		memset(a, 1, in);
		while (get(fd, a, in) && put(fd, b, out))
			;
		exit(0);
	}
	close(l);
	return connected(&address);
}

// answered sends n bytes and waits for those of the answer.
static void answered(int fd, const char *p, size_t n, char *answer, size_t m) {
	if (!put(fd, p, n) || !get(fd, answer, m))
		die("peer");
}

static void finish(int fd) {
	close(fd);
	wait(NULL);
}

int main(int argc, char **argv) {
	if (argc == 5 && !strcmp(argv[1], "pingpong")) {
		size_t n = strtoull(argv[2], NULL, 0), req = strtoull(argv[3], NULL, 0), rep = strtoull(argv[4], NULL, 0);
		char *a = calloc(1, req), *b = calloc(1, rep);
		double *t = calloc(n, sizeof *t);
		int fd = served(req, rep);
		for (size_t i = 0; i < n; i++) {
			double start = now();
			answered(fd, a, req, b, rep);
			t[i] = now() - start;
		}
		finish(fd);
		qsort(t, n, sizeof *t, by_value);
		printf("%.0f %.0f\n", t[n / 2], t[n * 99 / 100]);
		return 0;
	}
	if (argc == 4 && (!strcmp(argv[1], "bulk") || !strcmp(argv[1], "memcpy"))) {
		size_t n = strtoull(argv[2], NULL, 0), rounds = strtoull(argv[3], NULL, 0);
		int copy = argv[1][0] == 'm', fd = copy ? -1 : served(n, 1);
		char *a = malloc(n), *b = malloc(n), ack;
		double *t = calloc(rounds + 1, sizeof *t);
		memset(a, 1, n);
		memset(b, 2, n);
		for (size_t i = 0; i <= rounds; i++) { // the first round warms up and does not count
			double start = now();
			if (copy) {
				memcpy(b, a, n);
				__asm__ volatile("" : : "r"(b) : "memory");
			} else {
				answered(fd, a, n, &ack, 1);
			}
			t[i] = (double)n / (now() - start) * 1e9;
		}
		if (!copy)
			finish(fd);
		qsort(t + 1, rounds, sizeof *t, by_value);
		printf("%.0f\n", t[1 + rounds / 2]);
		return 0;
	}
	if (argc == 4 && !strcmp(argv[1], "touch")) {
		size_t n = strtoull(argv[2], NULL, 0), rounds = strtoull(argv[3], NULL, 0), huge = 2 << 20;
		double *t = calloc(rounds, sizeof *t);
		for (size_t i = 0; i < rounds; i++) {
			char *p = mmap(NULL, n + huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			if (p == MAP_FAILED)
				die("mmap");
			char *a = (char *)(((uintptr_t)p + huge - 1) & ~(huge - 1));
			madvise(a, n, MADV_HUGEPAGE);
			double start = now();
			for (size_t at = 0; at < n; at += 4096)
				((volatile char *)a)[at] = 1;
			t[i] = now() - start;
			munmap(p, n + huge);
		}
		qsort(t, rounds, sizeof *t, by_value);
		printf("%.0f\n", t[rounds / 2]);
		return 0;
	}
	fprintf(stderr, "usage: floor pingpong CALLS REQUEST REPLY | bulk BYTES ROUNDS | memcpy BYTES ROUNDS | touch BYTES ROUNDS\n");
	return 2;
}
