// The floor of many clients at once: PAIRS pairs of processes, each a client that sends 52 bytes over a loopback TCP socket and waits for 56, for MS
// milliseconds. Prints calls per second of all together and the p99 of a call in ns.
//
//	pairs PAIRS MS
#include "clock.h"
#include "socket.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REQUEST = 52, REPLY = 56, SAMPLES = 1 << 17 };

static void server(int l) {
	char in[REQUEST], out[REPLY] = {0};
	int fd = accepted(l);
	while (get(fd, in, sizeof in) && put(fd, out, sizeof out))
		;
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
		if (!put(fd, out, sizeof out) || !get(fd, in, sizeof in))
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
		struct sockaddr_in a;
		int l = listening(&a);
		if (fork() == 0) {
			server(l);
			exit(0);
		}
		if (fork() == 0) {
			client(connected(&a), start, start + length, r + i);
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
	qsort(all, n, sizeof *all, by_float);
	printf("%.0f %.0f\n", (double)calls / length * 1e9, all[n * 99 / 100]);
	return 0;
}
