/* Memory in three dimensions: volumes, a slice of rows after another. */
#include "thread.h"

hipError_t hipMalloc3D(hipPitchedPtr *p, hipExtent extent)
{
	void *at = NULL;
	size_t pitch = 0;
	if (!p || (extent.depth && extent.height > SIZE_MAX / extent.depth))
		return rw_finish(hipErrorInvalidValue);
	hipError_t e = hipMallocPitch(&at, &pitch, extent.width, extent.height * extent.depth);
	if (e == hipSuccess) {
		p->ptr = at;
		p->pitch = pitch;
		p->xsize = extent.width;
		p->ysize = extent.height;
	}
	return e;
}

/* fits tells whether a box lies within the rows and slices of p: a volume of
 * one slice need not say how many rows a slice has. */
static int fits(const hipPitchedPtr *p, const hipPos *pos, const hipExtent *e)
{
	if (pos->x > p->pitch || e->width > p->pitch - pos->x)
		return 0;
	return (e->depth == 1 && pos->z == 0) || (pos->y <= p->ysize && e->height <= p->ysize - pos->y);
}

static hipError_t fill(hipPitchedPtr p, int value, hipExtent e, hipStream_t stream, int async)
{
	const hipPos origin = {0, 0, 0};
	if (e.width == 0 || e.height == 0 || e.depth == 0)
		return rw_finish(hipSuccess);
	if (!p.ptr || !fits(&p, &origin, &e))
		return rw_finish(hipErrorInvalidValue);
	if (p.ysize == e.height && e.height <= SIZE_MAX / e.depth) {
		e.height *= e.depth;
		e.depth = 1;
	}
	hipError_t r = hipSuccess;
	char *at = p.ptr;
	for (size_t z = 0; z < e.depth && r == hipSuccess; z++) {
		r = async ? hipMemset2DAsync(at, p.pitch, value, e.width, e.height, stream) : hipMemset2D(at, p.pitch, value, e.width, e.height);
		at += p.pitch * p.ysize;
	}
	return r;
}

hipError_t hipMemset3D(hipPitchedPtr p, int value, hipExtent extent)
{
	return fill(p, value, extent, NULL, 0);
}

hipError_t hipMemset3DAsync(hipPitchedPtr p, int value, hipExtent extent, hipStream_t stream)
{
	return fill(p, value, extent, stream, 1);
}
