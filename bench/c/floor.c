// What the machine can do at best, for the table of "make bench": two processes over a loopback TCP socket with blocking calls,
// and memcpy. Prints one line of numbers per run:
//
//	floor pingpong CALLS REQUEST REPLY   ->  p50 and p99 of a round trip in ns
//	floor bulk BYTES ROUNDS              ->  median bytes/s of sending BYTES and being answered one byte
//	floor memcpy BYTES ROUNDS            ->  median bytes/s
//	floor touch BYTES ROUNDS             ->  median ns of writing to each page of new memory with large pages
//
// Sockets use the congestion control that wire uses within one machine.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void die(const char *what) {
	perror(what);
	exit(1);
}

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void all(ssize_t (*f)(int, char *, size_t), int fd, char *p, size_t n) {
	while (n > 0) {
		ssize_t k = f(fd, p, n);
		if (k <= 0)
			die("peer");
		p += k;
		n -= (size_t)k;
	}
}

static ssize_t get(int fd, char *p, size_t n) { return recv(fd, p, n, 0); }
static ssize_t put(int fd, char *p, size_t n) { return send(fd, p, n, MSG_NOSIGNAL); }

static int by_value(const void *a, const void *b) {
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void options(int fd) {
	int one = 1;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4);
}

// connected gives this end of a TCP connection; a child process runs serve with the other.
static int connected(void (*serve)(int, size_t, size_t), size_t in, size_t out) {
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof a;
	int l = socket(AF_INET, SOCK_STREAM, 0);
	if (l < 0 || bind(l, (struct sockaddr *)&a, len) || listen(l, 1) || getsockname(l, (struct sockaddr *)&a, &len))
		die("listen");
	pid_t pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0) {
		int fd = accept(l, NULL, NULL);
		if (fd < 0)
			die("accept");
		options(fd);
		serve(fd, in, out);
		exit(0);
	}
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a))
		die("connect");
	options(fd);
	close(l);
	return fd;
}

// serve answers every in bytes with out bytes until the peer ends.
static void serve(int fd, size_t in, size_t out) {
	char *a = calloc(1, in), *b = calloc(1, out);
	memset(a, 1, in);
	for (;;) {
		for (size_t n = 0; n < in;) {
			ssize_t k = recv(fd, a + n, in - n, 0);
			if (k <= 0)
				return;
			n += (size_t)k;
		}
		all(put, fd, b, out);
	}
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
		int fd = connected(serve, req, rep);
		for (size_t i = 0; i < n; i++) {
			double start = now();
			all(put, fd, a, req);
			all(get, fd, b, rep);
			t[i] = now() - start;
		}
		finish(fd);
		qsort(t, n, sizeof *t, by_value);
		printf("%.0f %.0f\n", t[n / 2], t[n * 99 / 100]);
		return 0;
	}
	if (argc == 4 && (!strcmp(argv[1], "bulk") || !strcmp(argv[1], "memcpy"))) {
		size_t n = strtoull(argv[2], NULL, 0), rounds = strtoull(argv[3], NULL, 0);
		int copy = argv[1][0] == 'm', fd = copy ? -1 : connected(serve, n, 1);
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
				all(put, fd, a, n);
				all(get, fd, &ack, 1);
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
