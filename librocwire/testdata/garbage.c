/* Calls functions of the library with wrong arguments: garbage NAME…. Each parameter takes each of its values while the others are
 * right, and then all are null, or as big as can be, together. It says what a function answered, and complains where the table says that
 * it must have answered something else. GARBAGE_MODULE and GARBAGE_KERNEL name a code object and a kernel of it. */
#include "zz_garbage.c"
#include <stdio.h>
#include <stdlib.h>
#include "objects.h"

static int wrong;

/* expected is what the table says of value v of a parameter. */
static int expected(char letter, struct codes c, int v)
{
	if (v == 0)
		return UNKNOWN;
	switch (letter) {
	case 'p': case 'g': case 't': case 'f': return v == 1 ? c.null : UNKNOWN;
	case 'h': return v == 1 ? c.null : c.wrong;
	case 'a': return v == 1 ? c.null : v == 2 ? c.wrong : UNKNOWN;
	case 'e': return v >= 3 ? c.wrong : UNKNOWN;
	case 'b': return v >= 2 || c.wrong == LEGAL ? c.wrong : UNKNOWN;
	case 'd': return c.wrong;
	case 'z': return v == 1 ? c.zero : v >= 3 ? c.huge : UNKNOWN;
	case 'n': return v == 1 ? c.zero : v == 3 ? c.huge : UNKNOWN;
	case 'i': return v == 0 ? c.zero : v == 3 ? c.huge : UNKNOWN;
	}
	return UNKNOWN;
}

static long exact; /* calls of which the table knows the answer */

/* complain is why a call's answer is not what the table says; right is the answer to arguments that are all right, as far as can be known:
 * where that is an error of its own, it may come first. */
static const char *complain(const struct function *f, const int *v, long code, long right)
{
	static char why[64];
	int wrong_ones = 0, legal_ones = 0, others = 0, first = UNKNOWN;
	for (const signed char *k = f->order; *k >= 0; k++) {
		int e = expected(f->letters[*k], f->codes[*k], v[*k]);
		if (e == NOTHING)
			return 0;
		wrong_ones += e > 0 || e == REFUSED;
		legal_ones += e == LEGAL;
		others += e == UNKNOWN && v[*k] != 0;
		if (first == UNKNOWN && (e > 0 || e == REFUSED))
			first = e;
	}
	if (wrong_ones) {
		if (code == hipSuccess)
			return "succeeded";
		exact += first > 0;
		if (first > 0 && code != first && (right == hipSuccess || code != right) && !(others && wrong_ones)) {
			snprintf(why, sizeof why, "should have answered %s", hipGetErrorName((hipError_t)first));
			return why;
		}
	} else if (legal_ones && !others && right == hipSuccess && code != hipSuccess) {
		return "should have succeeded";
	}
	return 0;
}

static long call(const struct function *f, const int *v, long right, char *answers)
{
	make();
	if (lacking) {
		printf("WRONG before %s: %s = %s\n", f->name, lacking, hipGetErrorName(lacking_code));
		wrong = 1;
	}
	long code = f->run(v);
	if (code == NO_CODE)
		return code;
	char vs[128] = "";
	for (size_t i = 0; i < strlen(f->letters); i++)
		snprintf(vs + strlen(vs), sizeof vs - strlen(vs), " %c%d", f->letters[i], v[i]);
	const char *name = hipGetErrorName((hipError_t)code);
	const char *why = f->works ? complain(f, v, code, right) : 0;
	if (why) {
		printf("WRONG %s(%s ) = %s: %s\n", f->name, vs, name, why);
		wrong = 1;
	}
	if (!strcmp(name, "hipErrorUnknown") && code != hipErrorUnknown) {
		printf("WRONG %s(%s ) answered %ld, which is no error\n", f->name, vs, code);
		wrong = 1;
	}
	if (getenv("GARBAGE_VERBOSE"))
		printf("%s(%s ) = %s\n", f->name, vs, name);
	char word[16];
	snprintf(word, sizeof word, " %ld ", code);
	if (!strstr(answers, word) && strlen(answers) < 200)
		strcat(answers, word);
	return code;
}

static void all(const struct function *f)
{
	char answers[256] = "";
	int v[16] = {0}, n = (int)strlen(f->letters);
	long right = call(f, v, 0, answers);
	for (int p = 0; p < n; p++) {
		for (int k = 1; k < choices(f->letters[p]); k++) {
			memset(v, 0, sizeof v);
			v[p] = k;
			call(f, v, right, answers);
		}
	}
	for (int last = 0; last < 2 && n > 0; last++) { /* all null, and all as wrong as can be */
		for (int p = 0; p < n; p++)
			v[p] = last ? choices(f->letters[p]) - 1 : 1;
		call(f, v, right, answers);
	}
	printf("ANSWERED %s%s\nEXACT %ld; to right arguments it answered %ld\n", f->name, answers, exact, right);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	if (argc == 1) {
		for (const struct function *f = functions; f->name; f++)
			printf("%s %d\n", f->name, f->works);
		return 0;
	}
	(void)hipStreamCreate(&stale.stream);
	(void)hipEventCreate(&stale.event);
	(void)hipMalloc(&stale.memory, MEMORY);
	(void)hipGraphCreate(&stale.graph, 0);
	(void)hipGraphAddEmptyNode(&stale.graphnode, stale.graph, 0, 0);
	make();
	stale = (struct objects){.stream = stale.stream, .event = stale.event, .memory = stale.memory, .graph = stale.graph,
		.graphnode = stale.graphnode, .graphexec = live.graphexec, .module = live.module, .function = live.function, .array = live.array,
		.userobject = live.userobject};
	live.graphexec = 0, live.module = 0, live.function = 0, live.array = 0, live.userobject = 0;
	make();
	if (hipStreamDestroy(stale.stream) || hipEventDestroy(stale.event) || hipFree(stale.memory) || hipGraphDestroy(stale.graph) ||
	    hipGraphExecDestroy(stale.graphexec) || hipModuleUnload(stale.module) || hipFreeArray(stale.array) ||
	    hipUserObjectRelease(stale.userobject, 1)) {
		printf("WRONG the objects that are no more could not be destroyed\n");
		return 1;
	}
	for (int i = 1; i < argc; i++)
		for (const struct function *f = functions; f->name; f++)
			if (!strcmp(f->name, argv[i]))
				all(f);
	return wrong;
}
