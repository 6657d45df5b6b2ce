// The floor of many clients at once: PAIRS pairs of processes, each a client that sends 52 bytes over a loopback TCP socket and waits for 56, for MS
// milliseconds. Prints calls per second of all together and the p99 of a call in ns.
//
//	pairs PAIRS MS
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

enum { REQUEST = 52, REPLY = 56, SAMPLES = 1 << 17 };

static void die(const char *what) {
	perror(what);
	exit(1);
}

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b) {
	float x = *(const float *)a, y = *(const float *)b;
	return (x > y) - (x < y);
}

static void tune(int fd) {
	int one = 1;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4); // as ours on loopback
}

static int get(int fd, char *p, size_t n) {
	for (size_t have = 0; have < n;) {
		ssize_t k = recv(fd, p + have, n - have, 0);
		if (k <= 0)
			return 0;
		have += (size_t)k;
	}
	return 1;
}

static void server(int l) {
	char in[REQUEST], out[REPLY] = {0};
	int fd = accept(l, NULL, NULL);
	if (fd < 0)
		die("accept");
	tune(fd);
	while (get(fd, in, sizeof in))
		if (send(fd, out, sizeof out, MSG_NOSIGNAL) != sizeof out)
			return;
}

struct result {
	uint64_t calls;
	float took[SAMPLES];
};

static void client(int fd, double start, double end, struct result *r) {
	char out[REQUEST] = {0}, in[REPLY];
	while (now() < start)
		usleep(100);
	for (double t = now(); t < end;) {
		if (send(fd, out, sizeof out, MSG_NOSIGNAL) != sizeof out || !get(fd, in, sizeof in))
			die("call");
		double u = now();
		r->took[r->calls++ % SAMPLES] = (float)(u - t);
		t = u;
	}
}

int main(int argc, char **argv) {
	if (argc != 3) {
		fprintf(stderr, "usage: pairs PAIRS MS\n");
		return 2;
	}
	int pairs = atoi(argv[1]);
	double length = atof(argv[2]) * 1e6, start = now() + 2e8;
	struct result *r = mmap(NULL, sizeof *r * (size_t)pairs, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (r == MAP_FAILED)
		die("mmap");
	for (int i = 0; i < pairs; i++) {
		struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
		socklen_t len = sizeof a;
		int l = socket(AF_INET, SOCK_STREAM, 0);
		if (l < 0 || bind(l, (struct sockaddr *)&a, len) || listen(l, 1) || getsockname(l, (struct sockaddr *)&a, &len))
			die("listen");
		if (fork() == 0) {
			server(l);
			exit(0);
		}
		if (fork() == 0) {
			int fd = socket(AF_INET, SOCK_STREAM, 0);
			if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a))
				die("connect");
			tune(fd);
			client(fd, start, start + length, r + i);
			exit(0);
		}
		close(l);
	}
	while (wait(NULL) > 0)
		;
	uint64_t calls = 0;
	size_t n = 0;
	float *all = malloc(sizeof *all * SAMPLES * (size_t)pairs);
	for (int i = 0; i < pairs; i++) {
		size_t k = r[i].calls < SAMPLES ? r[i].calls : SAMPLES;
		memcpy(all + n, r[i].took, k * sizeof *all);
		n += k;
		calls += r[i].calls;
	}
	if (n == 0)
		return 1;
	qsort(all, n, sizeof *all, by_value);
	printf("%.0f %.0f\n", (double)calls / length * 1e9, all[n * 99 / 100]);
	return 0;
}
