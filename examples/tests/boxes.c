/* Rows and boxes at odd places: copies by hipMemcpy2D and hipMemcpy3D of every direction, between pitches, places and widths that nothing is a
 * multiple of, compared byte for byte with plain loops. What lies beside a box stays as it was. */
#include "test.h"

enum { ROOM = 1 << 16, ROUNDS = 24 };

static uint32_t state = 20251;

static unsigned next(unsigned below)
{
	state = state * 1664525u + 1013904223u;
	return (state >> 8) % below;
}

/* A block of memory, what should be in it, and how a box lies in it. */
struct block {
	char *p;
	int device;
	unsigned char *want;
	size_t pitch, rows, x, y, z;
};

static void lay(struct block *b, size_t w, size_t h, size_t d, int odd)
{
	b->x = next(40), b->y = next(5), b->z = next(3);
	b->pitch = b->x + w + next(50);
	b->rows = b->y + h + next(4);
	if (!odd) { /* whole words, which blit kernels take another way */
		b->x = b->x / 16 * 16;
		b->pitch = (b->x + w + 15) / 16 * 16;
	}
	ASSERT(b->pitch * b->rows * (b->z + d) <= ROOM - 16);
}

static size_t at(const struct block *b, size_t x, size_t y, size_t z) { return ((b->z + z) * b->rows + b->y + y) * b->pitch + b->x + x; }

static int same(const struct block *b, const char *what, int round)
{
	static unsigned char got[ROOM];
	hipMemcpy(got, b->p, ROOM, hipMemcpyDefault);
	for (size_t i = 0; i < ROOM; i++)
		if (got[i] != b->want[i]) {
			fprintf(stderr, "round %d, %s: byte %zu (pitch %zu, %zu rows, at %zu %zu %zu) is %d, not %d\n", round, what, i, b->pitch, b->rows, b->x, b->y, b->z,
				got[i], b->want[i]);
			return 0;
		}
	return 1;
}

/* model is what a copy does, in plain loops. */
static void model(struct block *d, const struct block *s, size_t w, size_t h, size_t n)
{
	for (size_t z = 0; z < n; z++)
		for (size_t y = 0; y < h; y++)
			for (size_t x = 0; x < w; x++)
				d->want[at(d, x, y, z)] = s->want[at(s, x, y, z)];
}

/* A captured set of slices of one row each, which lie one or several rows apart. */
static void captured(hipStream_t stream)
{
	enum { PITCH = 64, WIDTH = 10, SLICES = 5, SIZE = 4096 };
	unsigned char *p, got[SIZE];
	CHECK(hipMalloc((void **)&p, SIZE));
	for (size_t rows = 1; rows < 4; rows++) {
		hipGraph_t g;
		hipGraphExec_t x;
		CHECK(hipMemset(p, 0, SIZE));
		CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
		CHECK(hipMemset3DAsync((hipPitchedPtr){p, PITCH, PITCH, rows}, 7, (hipExtent){WIDTH, 1, SLICES}, stream));
		CHECK(hipStreamEndCapture(stream, &g));
		CHECK(hipGraphInstantiate(&x, g, 0, 0, 0));
		CHECK(hipGraphLaunch(x, stream));
		CHECK(hipStreamSynchronize(stream));
		CHECK(hipMemcpy(got, p, SIZE, hipMemcpyDeviceToHost));
		for (size_t i = 0; i < SIZE && !failures; i++) {
			int want = i / (PITCH * rows) < SLICES && i % (PITCH * rows) < WIDTH ? 7 : 0;
			if (got[i] != want)
				FAIL("slices of %zu rows: byte %zu is %d, not %d", rows, i, got[i], want);
		}
		CHECK(hipGraphExecDestroy(x));
		CHECK(hipGraphDestroy(g));
	}
	CHECK(hipFree(p));
}

int main(void)
{
	enum { BLOCKS = 5 };
	static const char *kinds[BLOCKS] = {"ordinary memory", "pinned memory", "memory of the device", "other memory of the device", "registered memory"};
	struct block blocks[BLOCKS] = {{0}};
	hipStream_t stream;
	CHECK(hipStreamCreate(&stream));
	blocks[0].p = malloc(ROOM);
	CHECK(hipHostMalloc((void **)&blocks[1].p, ROOM, 0));
	CHECK(hipMalloc((void **)&blocks[2].p, ROOM));
	CHECK(hipMalloc((void **)&blocks[3].p, ROOM));
	blocks[4].p = malloc(ROOM);
	CHECK(hipHostRegister(blocks[4].p, ROOM, 0));
	blocks[2].device = blocks[3].device = 1;
	for (int i = 0; i < BLOCKS; i++) {
		blocks[i].want = malloc(ROOM);
		for (size_t k = 0; k < ROOM; k++)
			blocks[i].want[k] = (unsigned char)next(256);
		CHECK(hipMemcpy(blocks[i].p, blocks[i].want, ROOM, hipMemcpyDefault));
	}
	for (int round = 0; round < ROUNDS && !failures; round++) {
		for (int k = 0; k < BLOCKS * BLOCKS; k++) {
			struct block *d = &blocks[k / BLOCKS], *s = &blocks[k % BLOCKS];
			if (d == s)
				continue;
			int odd = round % 4 != 0, two = round % 2;
			size_t w = odd ? 1 + next(70) : 16 * (1 + next(4)), h = 1 + next(9), n = two ? 1 : 1 + next(6);
			hipMemcpyKind kind = (hipMemcpyKind)(d->device ? s->device ? hipMemcpyDeviceToDevice : hipMemcpyHostToDevice
				: s->device ? hipMemcpyDeviceToHost : hipMemcpyHostToHost);
			if (round % 3 == 0)
				kind = hipMemcpyDefault;
			lay(d, w, h, n, odd);
			lay(s, w, h, n, odd);
			if (two) {
				d->z = s->z = 0;
				if (round % 8 == 3)
					CHECK(hipMemcpy2DAsync(d->p + at(d, 0, 0, 0), d->pitch, s->p + at(s, 0, 0, 0), s->pitch, w, h, kind, stream));
				else
					CHECK(hipMemcpy2D(d->p + at(d, 0, 0, 0), d->pitch, s->p + at(s, 0, 0, 0), s->pitch, w, h, kind));
			} else {
				hipMemcpy3DParms m = {0};
				m.dstPtr = (hipPitchedPtr){d->p, d->pitch, d->pitch, d->rows};
				m.srcPtr = (hipPitchedPtr){s->p, s->pitch, s->pitch, s->rows};
				m.dstPos = (hipPos){d->x, d->y, d->z};
				m.srcPos = (hipPos){s->x, s->y, s->z};
				m.extent = (hipExtent){w, h, n};
				m.kind = kind;
				if (round % 8 == 2)
					CHECK(hipMemcpy3DAsync(&m, stream));
				else
					CHECK(hipMemcpy3D(&m));
			}
			CHECK(hipStreamSynchronize(stream));
			model(d, s, w, h, n);
			char what[100];
			snprintf(what, sizeof what, "%zu x %zu x %zu bytes from %s to %s", w, h, n, kinds[k % BLOCKS], kinds[k / BLOCKS]);
			if (!same(d, what, round))
				failures++;
		}
	}
	captured(stream);
	CHECK(hipHostUnregister(blocks[4].p));
	CHECK(hipHostFree(blocks[1].p));
	CHECK(hipFree(blocks[2].p));
	CHECK(hipFree(blocks[3].p));
	if (failures)
		return 1;
	puts("boxes: ok");
	return 0;
}
