#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include "crash.h"

static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
#define FAULTS (sizeof(faults) / sizeof(*faults))

static int told = -1;
static struct sigaction before[FAULTS];
static const void *self; /* where the program itself lies */

/* The thread that gives up stays here: returning would end the process before anybody was told. */
static void tell(const struct rocm_crash *c)
{
	const struct timespec hour = {.tv_sec = 3600};

	while (write(told, c, sizeof(*c)) < 0 && errno == EINTR)
		;
	for (;;)
		nanosleep(&hour, NULL);
}

static void aborted(int signal)
{
	const struct rocm_crash c = {.signal = signal};

	tell(&c);
}

static uintptr_t instruction(const void *context)
{
#if defined(__x86_64__)
	return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
	return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.pc;
#else
	(void)context;
	return 0;
#endif
}

/* foreign says whether code is a C library's. That of a Go program, and of the simulated card's library, which is one, may fault: Go's
   runtime makes an error of it. What lies in no file was translated by the simulated card. */
static int foreign(uintptr_t pc, struct rocm_crash *c)
{
	Dl_info at;
	const char *name;

	if (!dladdr((const void *)pc, &at) || at.dli_fbase == self || !at.dli_fname)
		return 0;
	name = strrchr(at.dli_fname, '/');
	name = name ? name + 1 : at.dli_fname;
	if (!strcmp(name, "librocwire.so"))
		return 0;
	c->offset = pc - (uintptr_t)at.dli_fbase;
	strncpy(c->library, name, sizeof(c->library) - 1);
	return 1;
}

static void faulted(int signal, siginfo_t *info, void *context)
{
	struct rocm_crash c = {.signal = signal, .address = (uint64_t)(uintptr_t)info->si_addr};
	const struct sigaction *a = NULL;

	if (info->si_code > 0 && foreign(instruction(context), &c)) /* the kernel's, and nobody's kill() */
		tell(&c);
	for (size_t i = 0; i < FAULTS; i++)
		if (faults[i] == signal)
			a = &before[i];
	if (a->sa_flags & SA_SIGINFO)
		a->sa_sigaction(signal, info, context);
	else if (a->sa_handler != SIG_DFL && a->sa_handler != SIG_IGN)
		a->sa_handler(signal);
	else
		sigaction(signal, a, NULL); /* it happens again */
}

int rocm_catch_crashes(int fd)
{
	struct sigaction a = {.sa_handler = aborted, .sa_flags = SA_ONSTACK};
	Dl_info at;

	told = fd;
	if (dladdr((const void *)rocm_catch_crashes, &at))
		self = at.dli_fbase;
	if (sigaction(SIGABRT, &a, NULL))
		return errno;
	a = (struct sigaction){.sa_sigaction = faulted, .sa_flags = SA_ONSTACK | SA_SIGINFO | SA_RESTART};
	sigfillset(&a.sa_mask);
	for (size_t i = 0; i < FAULTS; i++)
		if (sigaction(faults[i], &a, &before[i]))
			return errno;
	return 0;
}
