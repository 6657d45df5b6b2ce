/* Calls functions of the library with wrong arguments: garbage NAME…. Each parameter takes each of its values while the others are
 * right, and then all are null, or as big as can be, together. It says what a function answered, and complains where the table says that
 * it must have failed. */
#include "zz_garbage.c"
#include <stdio.h>
#include <stdlib.h>

struct objects live, stale;
_Alignas(64) char buffers[16][MEMORY], values[16][256];
static int wrong;

/* make has every object there, whatever the last call has destroyed. */
static void make(void)
{
	(void)hipSetDevice(0);
	if (hipStreamQuery(live.stream) == hipErrorContextIsDestroyed || !live.stream)
		(void)hipStreamCreate(&live.stream);
	if (!live.event || hipEventQuery(live.event) == hipErrorInvalidHandle)
		(void)hipEventCreate(&live.event);
	size_t n = 0;
	if (!live.memory || hipMemPtrGetInfo(live.memory, &n) != hipSuccess || n < MEMORY)
		(void)hipMalloc(&live.memory, MEMORY);
	(void)hipDeviceGetDefaultMemPool(&live.mempool, 0);
	hipGraphNodeType kind;
	if (!live.graph || hipGraphNodeGetType(live.graphnode, &kind) != hipSuccess) {
		(void)hipGraphCreate(&live.graph, 0);
		(void)hipGraphAddEmptyNode(&live.graphnode, live.graph, 0, 0);
	}
	(void)hipGetLastError();
}

/* Values of a letter, and its last one. */
static int choices(char letter)
{
	switch (letter) {
	case 'a': case 'h': case 'H': case 'S': case 'i': case 'n': case 'e': return 5;
	case 'z': return 7;
	case 'g': case 'G': case 's': case 't': case 'r': return 3;
	default: return 2;
	}
}

/* must says whether a call with this value of a parameter cannot succeed. */
static int must(char letter, int v)
{
	switch (letter) {
	case 'P': case 'G': return v == 1;
	case 'H': return v >= 1;
	case 'S': case 'h': return v >= 2;
	}
	return 0;
}

/* indifferent are functions that succeed with handles that are none, as AMD's do: peers of contexts and user objects that are no more are
 * no error, a configuration is judged by its launch, and what has nothing to copy or fill does not look at its stream. */
static const char *const indifferent[] = {"hipConfigureCall", "hipCtxEnablePeerAccess", "hipCtxDisablePeerAccess", "hipUserObjectRetain",
	"hipUserObjectRelease", "hipGraphRetainUserObject", "hipGraphReleaseUserObject", "hipMemcpy3DAsync", "hipMemcpy3DAsync_spt",
	"hipMemcpyParam2DAsync", "hipMemset3DAsync", "hipMemset3DAsync_spt", 0};

static int cares(const struct function *f)
{
	for (const char *const *n = indifferent; *n; n++)
		if (!strcmp(*n, f->name))
			return 0;
	return f->works;
}

static void call(const struct function *f, const int *v, int must_fail, char *answers)
{
	make();
	long code = f->run(v);
	if (code == NO_CODE)
		return;
	char vs[128] = "";
	for (size_t i = 0; i < strlen(f->letters); i++)
		snprintf(vs + strlen(vs), sizeof vs - strlen(vs), " %c%d", f->letters[i], v[i]);
	if (must_fail && code == hipSuccess) {
		printf("WRONG %s(%s ) succeeded\n", f->name, vs);
		wrong = 1;
	}
	if (!strcmp(hipGetErrorName((hipError_t)code), "hipErrorUnknown") && code != hipErrorUnknown) {
		printf("WRONG %s(%s ) answered %ld, which is no error\n", f->name, vs, code);
		wrong = 1;
	}
	if (getenv("GARBAGE_VERBOSE"))
		printf("%s(%s ) = %s\n", f->name, vs, hipGetErrorName((hipError_t)code));
	char word[16];
	snprintf(word, sizeof word, " %ld ", code);
	if (!strstr(answers, word) && strlen(answers) < 200)
		strcat(answers, word);
}

static void all(const struct function *f)
{
	char answers[256] = "";
	int v[16] = {0}, n = (int)strlen(f->letters);
	call(f, v, 0, answers);
	for (int p = 0; p < n; p++) {
		for (int k = 1; k < choices(f->letters[p]); k++) {
			memset(v, 0, sizeof v);
			v[p] = k;
			call(f, v, must(f->letters[p], k) && cares(f), answers);
		}
	}
	for (int last = 0; last < 2; last++) { /* all null, and all as wrong as can be */
		int fails = 0;
		for (int p = 0; p < n; p++) {
			v[p] = last ? choices(f->letters[p]) - 1 : 1;
			fails |= must(f->letters[p], v[p]);
		}
		if (n > 0)
			call(f, v, fails && cares(f), answers);
	}
	printf("ANSWERED %s%s\n", f->name, answers);
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
	if (hipStreamDestroy(stale.stream) || hipEventDestroy(stale.event) || hipFree(stale.memory) || hipGraphDestroy(stale.graph)) {
		printf("WRONG the objects that are no more could not be destroyed\n");
		return 1;
	}
	for (int i = 1; i < argc; i++)
		for (const struct function *f = functions; f->name; f++)
			if (!strcmp(f->name, argv[i]))
				all(f);
	return wrong;
}
