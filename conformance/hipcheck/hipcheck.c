/* Prints what a libamdhip64.so.6 answers, one line a case: its name, a tab, what was seen. It judges nothing: the outputs of two libraries
 * are compared by who runs it (go run ./conformance -only hipcheck).
 *
 *	hipcheck -list           the groups of cases
 *	hipcheck [GROUP…]        runs them, or all
 *
 * HIPCHECK_KERNELS is the folder with the code objects of the card (examples/kernels/gfx942), HIPCHECK_SECONDS how long a case may take.
 * No process calls the library but those that run a group: a case that ends one, or takes too long, is said and left out. */
#include "hipcheck.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

enum { NAMES = 8192, NAME = 200 };

static FILE *to; /* the parent */
static char (*out_names)[NAME]; /* cases to leave out */
static int outs;
static const struct group *running;

int begin(const char *format, ...)
{
	char what[NAME], name[NAME + 64];
	va_list l;
	va_start(l, format);
	vsnprintf(what, sizeof what, format, l);
	va_end(l);
	snprintf(name, sizeof name, "%s: %s", running->name, what);
	name[NAME - 1] = 0;
	for (int i = 0; i < outs; i++)
		if (!strcmp(out_names[i], name))
			return 0;
	fprintf(to, "B%s\n", name);
	fflush(to);
	return 1;
}

void answer(const char *format, ...)
{
	va_list l;
	va_start(l, format);
	fputc('A', to);
	vfprintf(to, format, l);
	fputc('\n', to);
	va_end(l);
	fflush(to);
}

hipError_t answered(hipError_t code)
{
	answer("%s", hipGetErrorName(code));
	return code;
}

static char *kernel_path(const char *name)
{
	static char path[4096];
	snprintf(path, sizeof path, "%s/%s.co", getenv("HIPCHECK_KERNELS"), name);
	return path;
}

hipModule_t module(const char *name)
{
	hipModule_t m = 0;
	MUST(hipModuleLoad(&m, kernel_path(name)));
	return m;
}

hipFunction_t kernel(const char *name, const char *function)
{
	hipFunction_t f = 0;
	MUST(hipModuleGetFunction(&f, module(name), function));
	return f;
}

static void wait_open(void *gate)
{
	while (!((struct gate *)gate)->open)
		usleep(200);
}

void hold(hipStream_t stream, struct gate *gate)
{
	gate->open = 0;
	MUST(hipLaunchHostFunc(stream, wait_open, gate));
}

/* run is the process of a group. */
static void run(const struct group *g, int fd)
{
	struct rlimit none = {0, 0};
	setrlimit(RLIMIT_CORE, &none);
	int null = open("/dev/null", O_RDWR);
	if (!getenv("HIPCHECK_VERBOSE")) {
		dup2(null, 1);
		dup2(null, 2);
	}
	setenv("GARBAGE_MODULE", kernel_path("vector_add"), 1);
	setenv("GARBAGE_KERNEL", "vector_add", 1);
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	to = fdopen(fd, "w");
	running = g;
	if (g->run)
		g->run();
	else
		run_function(g->function);
	fputs("E\n", to);
	fflush(to);
	_exit(0);
}

/* line reads one line of the child; 0 if there is none within the time, -1 at its end. */
static int line(int fd, char *l, size_t size, int seconds)
{
	static char have[65536];
	static size_t n;
	static int of = -1;
	if (of != fd)
		n = 0, of = fd;
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	time_t end = t.tv_sec + seconds;
	for (;;) {
		char *nl = memchr(have, '\n', n);
		if (nl) {
			size_t k = (size_t)(nl - have), c = k < size - 1 ? k : size - 1;
			memcpy(l, have, c);
			l[c] = 0;
			n -= k + 1;
			memmove(have, nl + 1, n);
			return 1;
		}
		clock_gettime(CLOCK_MONOTONIC, &t);
		struct pollfd p = {.fd = fd, .events = POLLIN};
		if (t.tv_sec >= end || poll(&p, 1, (int)(end - t.tv_sec) * 1000) == 0)
			return 0;
		ssize_t r = n < sizeof have ? read(fd, have + n, sizeof have - n) : 0;
		if (r <= 0)
			return of = -1;
		n += (size_t)r;
	}
}

static int seconds(void)
{
	const char *s = getenv("HIPCHECK_SECONDS");
	return s && atoi(s) > 0 ? atoi(s) : 20;
}

static void leave_out(const char *name)
{
	if (outs == NAMES) {
		fprintf(stderr, "hipcheck: too many cases in %s\n", running->name);
		exit(2);
	}
	snprintf(out_names[outs++], NAME, "%s", name);
}

/* once runs a group in one process until it ends, and says whether it must begin again. */
static int once(const struct group *g, char (*said)[NAME], int *saids)
{
	int fd[2], end = 0, status = 0;
	if (pipe2(fd, O_CLOEXEC)) {
		perror("hipcheck: pipe");
		exit(2);
	}
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		close(fd[0]);
		run(g, fd[1]);
	}
	close(fd[1]);
	char l[4096], name[NAME] = "";
	int got, answers = 0;
	while ((got = line(fd[0], l, sizeof l, seconds())) > 0) {
		if (l[0] == 'B')
			snprintf(name, sizeof name, "%.*s", NAME - 1, l + 1);
		else if (l[0] == 'E')
			end = 1;
		if (l[0] != 'A')
			continue;
		answers++;
		int before = 0;
		for (int i = 0; i < *saids; i++)
			before |= !strcmp(said[i], name);
		if (!before && *saids < NAMES) {
			printf("%s\t%s\n", name, l + 1);
			snprintf(said[(*saids)++], NAME, "%s", name);
		}
		if (g->independent)
			leave_out(name);
		name[0] = 0;
	}
	close(fd[0]);
	if (got == 0)
		kill(-child, SIGKILL), kill(child, SIGKILL);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	kill(-child, SIGKILL);
	if (end || (!name[0] && got < 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0))
		return 0;
	int between = !name[0]; /* not much can be said, but that: a case before has spoilt something. What does not follow from it is asked all the same */
	if (between)
		snprintf(name, sizeof name, "%s: between cases", g->name);
	int before = 0; /* it may have answered in an earlier process of the group */
	for (int i = 0; i < *saids; i++)
		before |= !strcmp(said[i], name);
	if (!before)
		printf("%s\t%s\n", name, got == 0 ? "hangs" : "ends the process");
	if (between) {
		if (!before && *saids < NAMES)
			snprintf(said[(*saids)++], NAME, "%s", name);
		return g->independent && answers > 0;
	}
	leave_out(name);
	return 1;
}

static void whole(const struct group *g)
{
	static char said[NAMES][NAME], out[NAMES][NAME];
	int saids = 0;
	out_names = out;
	outs = 0;
	running = g;
	while (once(g, said, &saids))
		;
	fflush(stdout);
}

int main(int argc, char **argv)
{
	if (!getenv("HIPCHECK_KERNELS")) {
		fprintf(stderr, "hipcheck: HIPCHECK_KERNELS is not set\n");
		return 2;
	}
	int all = argc == 1, list = argc == 2 && !strcmp(argv[1], "-list"), n = 0;
	for (int k = 0; k < table_functions() || behaviours[k - table_functions()].name; k++) {
		struct group g = {.name = table_function(k), .independent = 1, .function = k};
		if (k >= table_functions())
			g = behaviours[k - table_functions()];
		int asked = all;
		for (int i = 1; i < argc; i++)
			asked |= !strcmp(argv[i], g.name);
		n += asked;
		if (list)
			puts(g.name);
		else if (asked)
			whole(&g);
	}
	if (!list && n == 0) {
		fprintf(stderr, "hipcheck: no such group\n");
		return 2;
	}
	return 0;
}
