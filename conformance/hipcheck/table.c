/* The cases that the API table can say: each function with arguments that are right, as far as can be known, then with each argument
 * replaced by each of its wrong values, and with all of them wrong at once. "." stands for an argument that is right. */
#include "hipcheck.h"
#include "zz_garbage.c"
#include "objects.h"

int table_functions(void)
{
	int n = 0;
	while (functions[n].name)
		n++;
	return n;
}

const char *table_function(int i) { return i < table_functions() ? functions[i].name : 0; }

/* word is value v of a parameter as people say it. */
static const char *word(char letter, int v)
{
	static const char *const words[][8] = {
		['a'] = {".", "null", "stale", "host", "end"}, ['h'] = {".", "null", "stale", "wild", "other"}, ['i'] = {".", "1", "-1", "max", "min"},
		['n'] = {".", "0", "-1", "max", "min"}, ['e'] = {".", "1", "2", "-1", "max"}, ['d'] = {".", "-2", "2", "max", "min"},
		['z'] = {".", "0", "1", "2^64-1", "2^63", "2^64-16", "2^40"}, ['b'] = {".", "1", "all", "max"}, ['l'] = {".", "1", "2^64-1", "2^32"},
		['t'] = {".", "null", "empty", "unknown"}, ['g'] = {".", "null", "ones"}, ['s'] = {".", "ones", "127s"}, ['r'] = {".", "-1", "3e38"},
		['p'] = {".", "null"}, ['f'] = {".", "null"},
	};
	return words[(int)letter][v];
}

/* ends ends what a call may have begun to record on a stream: nothing could be made while that goes on. */
static void ends(hipStream_t s)
{
	hipStreamCaptureStatus recording = hipStreamCaptureStatusNone;
	hipGraph_t g = 0;
	if (hipStreamIsCapturing(s, &recording) == hipSuccess && recording != hipStreamCaptureStatusNone && hipStreamEndCapture(s, &g) == hipSuccess)
		(void)hipGraphDestroy(g);
}

/* fresh makes all objects anew, and destroys those that are to be stale when there is nothing left to make: so that no live object lies
 * where a stale one was. */
static void fresh(int old)
{
	if (old) {
		live = (struct objects){0};
		make();
		stale = live;
		if (lacking)
			return;
	}
	live = (struct objects){0};
	make();
	if (lacking)
		return;
	if (old) {
		(void)hipGraphExecDestroy(stale.graphexec);
		(void)hipGraphDestroy(stale.graph);
		(void)hipModuleUnload(stale.module);
		(void)hipStreamDestroy(stale.stream);
		(void)hipEventDestroy(stale.event);
		(void)hipFree(stale.memory);
		if (stale.array)
			(void)hipFreeArray(stale.array);
		(void)hipUserObjectRelease(stale.userobject, 1);
	}
	(void)hipGetLastError();
}

static void call(const struct function *f, const int *v)
{
	char args[160] = "";
	int old = 0;
	for (int i = 0; f->letters[i]; i++) {
		snprintf(args + strlen(args), sizeof args - strlen(args), "%s%s", i ? " " : "", word(f->letters[i], v[i]));
		old |= (f->letters[i] == 'h' || f->letters[i] == 'a') && v[i] == 2;
	}
	if (!begin("%s", args[0] ? args : "()"))
		return;
	fresh(old);
	if (lacking) { /* the call would be one with other arguments */
		answer("needs %s: %s", lacking, hipGetErrorName(lacking_code));
		return;
	}
	long code = f->run(v);
	hipError_t last = hipPeekAtLastError();
	if (code == NO_CODE)
		answer("returns");
	else if (code == last)
		answer("%s", hipGetErrorName((hipError_t)code));
	else
		answer("%s, last %s", hipGetErrorName((hipError_t)code), hipGetErrorName(last));
	if (strstr(f->name, "BeginCapture")) {
		ends(live.stream);
		ends(hipStreamPerThread);
	}
}

void run_function(int i)
{
	const struct function *f = &functions[i];
	int v[16] = {0}, n = (int)strlen(f->letters);
	call(f, v);
	for (int p = 0; p < n; p++) {
		for (int k = 1; k < choices(f->letters[p]); k++) {
			memset(v, 0, sizeof v);
			v[p] = k;
			call(f, v);
		}
	}
	for (int last = n > 1 ? 0 : 2; last < 2; last++) { /* all null, and all as wrong as can be */
		for (int p = 0; p < n; p++)
			v[p] = last ? choices(f->letters[p]) - 1 : 1;
		call(f, v);
	}
}
