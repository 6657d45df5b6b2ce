/* Streams that wait for values in memory and write them: device memory, host
 * memory that the device was told of, and signal memory, which is both's. */
#include "test.h"

#include <unistd.h>

enum { DEVICE, PINNED, REGISTERED, MAPPED, SIGNAL, KINDS };

static const char *const kinds[KINDS] = {"device", "hipHostMalloc", "hipHostRegister", "registered, by the device's address", "signal"};

/* words is memory of a kind: where streams see it, and where the host does
 * (NULL: nowhere). */
struct words {
	int kind;
	void *stream, *host, *base;
};

static struct words words_new(int kind)
{
	struct words w = {kind, NULL, NULL, NULL};
	switch (kind) {
	case DEVICE:
		CHECK(hipMalloc(&w.stream, 4096));
		CHECK(hipMemset(w.stream, 0, 4096));
		w.base = w.stream;
		break;
	case PINNED:
		CHECK(hipHostMalloc(&w.stream, 4096, 0));
		w.host = w.base = w.stream;
		memset(w.host, 0, 4096);
		break;
	case REGISTERED:
	case MAPPED:
		w.base = w.host = w.stream = calloc(1, 4096);
		CHECK(hipHostRegister(w.base, 4096, 0));
		if (kind == MAPPED)
			CHECK(hipHostGetDevicePointer(&w.stream, w.base, 0));
		break;
	case SIGNAL:
		CHECK(hipExtMallocWithFlags(&w.stream, 8, hipMallocSignalMemory));
		w.host = w.base = w.stream;
		memset(w.host, 0, 8);
		break;
	}
	return w;
}

static void words_free(struct words w)
{
	switch (w.kind) {
	case DEVICE:
	case SIGNAL:
		CHECK(hipFree(w.base));
		break;
	case PINNED:
		CHECK(hipHostFree(w.base));
		break;
	default:
		CHECK(hipHostUnregister(w.base));
		free(w.base);
	}
}

static uint64_t words_get(struct words w, int wide)
{
	uint64_t v = 0;
	if (w.host)
		return wide ? *(volatile uint64_t *)w.host : *(volatile uint32_t *)w.host;
	CHECK(hipMemcpy(&v, w.stream, wide ? 8 : 4, hipMemcpyDeviceToHost));
	return v;
}

/* words_set writes as whoever lets a stream go on does: the host where it can,
 * otherwise another stream. */
static void words_set(struct words w, uint64_t v, int wide)
{
	if (w.host) {
		if (wide)
			*(volatile uint64_t *)w.host = v;
		else
			*(volatile uint32_t *)w.host = (uint32_t)v;
		return;
	}
	hipStream_t s;
	CHECK(hipStreamCreateWithFlags(&s, hipStreamNonBlocking));
	if (wide)
		CHECK(hipStreamWriteValue64(s, w.stream, v, 0));
	else
		CHECK(hipStreamWriteValue32(s, w.stream, (uint32_t)v, 0));
	CHECK(hipStreamSynchronize(s));
	CHECK(hipStreamDestroy(s));
}

static void writes(int kind)
{
	hipStream_t s;
	CHECK(hipStreamCreate(&s));
	for (int wide = kind == SIGNAL; wide < 2; wide++) {
		struct words w = words_new(kind);
		if (wide)
			CHECK(hipStreamWriteValue64(s, w.stream, 0x1122334455667788, 0));
		else
			CHECK(hipStreamWriteValue32(s, w.stream, 0x55667788, 0));
		CHECK(hipStreamSynchronize(s));
		if (words_get(w, wide) != (wide ? 0x1122334455667788 : 0x55667788))
			FAIL("%s, %d bits: %#lx", kinds[kind], wide ? 64 : 32, (unsigned long)words_get(w, wide));
		words_free(w);
	}
	CHECK(hipStreamDestroy(s));
}

/* comparisons with a value that does not let a stream go on, and one that does. */
static const struct {
	unsigned int compare;
	uint32_t mask, value, closed, open;
} comparisons[] = {
	{hipStreamWaitValueGte, 0xF, 4, 3, 6},
	{hipStreamWaitValueGte, 0xFFFFFFFF, 0x7FFF0001, 0x7FFF0000, 0x7FFF0010},
	{hipStreamWaitValueEq, 0xFFFF, 1, 0x0FFF0000, 0x0FFF0001},
	{hipStreamWaitValueEq, 0xFFFFFFFF, 7, 8, 7},
	{hipStreamWaitValueAnd, 0xFF, 0xF4A, 0xF35, 2},
	{hipStreamWaitValueNor, 0xFFFFFFFF, 0x7AAAAAAA, 0x85555555, 0x9AAAAAAA},
};

static void waits(int kind)
{
	for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++) {
		int wide = kind == SIGNAL || i % 2;
		hipStream_t s;
		hipEvent_t before, after;
		struct words w = words_new(kind);
		uint64_t mask = comparisons[i].mask;
		if (wide && mask == 0xFFFFFFFF && comparisons[i].compare != hipStreamWaitValueNor)
			mask = ~(uint64_t)0;
		CHECK(hipStreamCreate(&s));
		CHECK(hipEventCreate(&before));
		CHECK(hipEventCreate(&after));
		words_set(w, comparisons[i].closed, wide);
		CHECK(hipEventRecord(before, s));
		if (wide)
			CHECK(hipStreamWaitValue64(s, w.stream, comparisons[i].value, comparisons[i].compare, mask));
		else
			CHECK(hipStreamWaitValue32(s, w.stream, comparisons[i].value, comparisons[i].compare, (uint32_t)mask));
		CHECK(hipEventRecord(after, s));
		CHECK(hipEventSynchronize(before));
		usleep(2000);
		EXPECT(hipEventQuery(after), hipErrorNotReady);
		words_set(w, comparisons[i].open, wide);
		CHECK(hipStreamSynchronize(s));
		EXPECT(hipEventQuery(after), hipSuccess);
		CHECK(hipEventDestroy(before));
		CHECK(hipEventDestroy(after));
		CHECK(hipStreamDestroy(s));
		words_free(w);
	}
}

/* What the host wrote before it let the stream go on is what the stream finds. */
static void ordered(void)
{
	hipStream_t s;
	struct words flag = words_new(PINNED), data = words_new(PINNED);
	void *d;
	uint32_t back = 0;
	CHECK(hipMalloc(&d, 4));
	CHECK(hipStreamCreate(&s));
	for (uint32_t i = 1; i <= 20; i++) {
		CHECK(hipStreamWaitValue32(s, flag.stream, i, hipStreamWaitValueEq, 0xFFFFFFFF));
		CHECK(hipMemcpyAsync(d, data.stream, 4, hipMemcpyHostToDevice, s));
		*(volatile uint32_t *)data.host = i * 1000;
		*(volatile uint32_t *)flag.host = i;
		CHECK(hipStreamSynchronize(s));
		CHECK(hipMemcpy(&back, d, 4, hipMemcpyDeviceToHost));
		if (back != i * 1000)
			FAIL("round %u: the stream found %u", i, back);
	}
	CHECK(hipStreamDestroy(s));
	CHECK(hipFree(d));
	words_free(flag);
	words_free(data);
}

/* A host thread that waits without HIP sees what a stream writes. */
static void to_host(void)
{
	hipStream_t s;
	struct words w = words_new(PINNED);
	CHECK(hipStreamCreate(&s));
	for (uint32_t i = 1; i <= 20; i++) {
		CHECK(hipStreamWriteValue32(s, w.stream, i, 0));
		for (int n = 0; *(volatile uint32_t *)w.host != i; n++) {
			if (n == 100000) {
				FAIL("round %u: the host never saw it", i);
				break;
			}
			usleep(100);
		}
	}
	CHECK(hipStreamSynchronize(s));
	CHECK(hipStreamDestroy(s));
	words_free(w);
}

/* Two streams hand a value back and forth. */
static void between_streams(int kind)
{
	hipStream_t a, b;
	struct words w = words_new(kind);
	CHECK(hipStreamCreateWithFlags(&a, hipStreamNonBlocking));
	CHECK(hipStreamCreateWithFlags(&b, hipStreamNonBlocking));
	for (uint32_t i = 1; i <= 10; i++) {
		CHECK(hipStreamWaitValue32(a, w.stream, 2 * i, hipStreamWaitValueEq, 0xFFFFFFFF));
		CHECK(hipStreamWriteValue32(a, w.stream, 2 * i + 1, 0));
		CHECK(hipStreamWaitValue32(b, w.stream, 2 * i - 1, hipStreamWaitValueEq, 0xFFFFFFFF));
		CHECK(hipStreamWriteValue32(b, w.stream, 2 * i, 0));
	}
	words_set(w, 1, 0);
	CHECK(hipStreamSynchronize(a));
	CHECK(hipStreamSynchronize(b));
	ASSERT(words_get(w, 0) == 21);
	CHECK(hipStreamDestroy(a));
	CHECK(hipStreamDestroy(b));
	words_free(w);
}

static hipStreamBatchMemOpParams op(hipStreamBatchMemOpType type, void *p, uint64_t value, unsigned int flags)
{
	hipStreamBatchMemOpParams o;
	memset(&o, 0, sizeof o);
	o.pad[0] = type;
	o.pad[1] = (uint64_t)(uintptr_t)p;
	o.pad[2] = value;
	o.pad[3] = flags;
	return o;
}

static void batches(int kind)
{
	hipStream_t s;
	struct words w = words_new(kind), go = words_new(kind);
	hipStreamBatchMemOpParams ops[257];
	char *p = w.stream;
	CHECK(hipStreamCreate(&s));
	ops[0] = op(hipStreamMemOpWriteValue32, p, 5, 0);
	ops[1] = op(hipStreamMemOpWaitValue32, p, 5, hipStreamWaitValueEq);
	ops[2] = op(hipStreamMemOpWaitValue64, go.stream, 9, hipStreamWaitValueGte);
	ops[3] = op(hipStreamMemOpWriteValue64, p + 8, 0x100000002, 0);
	CHECK(hipStreamBatchMemOp(s, 4, ops, 0));
	usleep(2000);
	EXPECT(hipStreamQuery(s), hipErrorNotReady);
	words_set(go, 10, 1);
	CHECK(hipStreamSynchronize(s));
	ASSERT(words_get(w, 0) == 5);
	struct words second = w;
	second.stream = p + 8;
	second.host = w.host ? (char *)w.host + 8 : NULL;
	ASSERT(words_get(second, 1) == 0x100000002);
	EXPECT(hipStreamBatchMemOp(s, 0, ops, 0), hipErrorInvalidValue);
	EXPECT(hipStreamBatchMemOp(s, 4, NULL, 0), hipErrorInvalidValue);
	EXPECT(hipStreamBatchMemOp(s, 4, ops, 1), hipErrorInvalidValue);
	EXPECT(hipStreamBatchMemOp(s, 257, ops, 0), hipErrorInvalidValue);
	EXPECT(hipStreamBatchMemOp((hipStream_t)0x1234567, 4, ops, 0), hipErrorContextIsDestroyed);
	ops[3] = op(hipStreamMemOpBarrier, p, 0, 0);
	EXPECT(hipStreamBatchMemOp(s, 4, ops, 0), hipErrorInvalidValue);
	CHECK(hipStreamSynchronize(s)); /* nothing of it was done */
	CHECK(hipStreamDestroy(s));
	words_free(go);
	words_free(w);
}

static void refused(void)
{
	hipStream_t none = (hipStream_t)0xFFFF;
	struct words w = words_new(DEVICE);
	char *end = (char *)w.stream + 4096;
	uint64_t stack = 0;
	void *p = NULL;
	EXPECT(hipStreamWriteValue32(0, NULL, 0, 0), hipErrorInvalidValue);
	EXPECT(hipStreamWriteValue64(0, NULL, 0, 0), hipErrorInvalidValue);
	EXPECT(hipStreamWaitValue32(0, NULL, 0, hipStreamWaitValueGte, 1), hipErrorInvalidValue);
	EXPECT(hipStreamWaitValue64(0, NULL, 0, hipStreamWaitValueGte, 1), hipErrorInvalidValue);
	EXPECT(hipStreamWriteValue32(none, w.stream, 0, 0), hipErrorContextIsDestroyed);
	EXPECT(hipStreamWaitValue64(none, w.stream, 0, hipStreamWaitValueGte, 1), hipErrorContextIsDestroyed);
	EXPECT(hipStreamWaitValue32(0, w.stream, 0, 4, 1), hipErrorInvalidValue);
	EXPECT(hipStreamWaitValue32(0, w.stream, 0, -1, 1), hipErrorInvalidValue);
	EXPECT(hipStreamWriteValue32(0, &stack, 0, 0), hipErrorInvalidValue); /* nobody told the device of it */
	EXPECT(hipStreamWriteValue32(0, end, 0, 0), hipErrorInvalidValue);
	EXPECT(hipStreamWriteValue64(0, end - 4, 0, 0), hipErrorInvalidValue); /* half of it lies beyond the end */
	CHECK(hipStreamWriteValue32(0, end - 4, 0, 0));
	EXPECT(hipExtMallocWithFlags(&p, 16, hipMallocSignalMemory), hipErrorInvalidValue);
	EXPECT(hipExtMallocWithFlags(&p, 4096, 77), hipErrorInvalidValue);
	CHECK(hipDeviceSynchronize());
	words_free(w);
}

int main(void)
{
	int can = 0;
	CHECK(hipDeviceGetAttribute(&can, hipDeviceAttributeCanUseStreamWaitValue, 0));
	ASSERT(can == 1);
	for (int kind = 0; kind < KINDS; kind++) {
		writes(kind);
		waits(kind);
		if (kind != SIGNAL) {
			between_streams(kind);
			batches(kind);
		}
	}
	ordered();
	to_host();
	refused();
	return result("stream_values");
}
