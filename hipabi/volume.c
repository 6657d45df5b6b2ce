/* Memory in three dimensions, made of rectangles: a slice after another. Arrays
 * (textures' memory) are not supported. */
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

/* place is where a box begins that lies at pos in the volume p. */
static char *place(const hipPitchedPtr *p, const hipPos *pos)
{
	return (char *)p->ptr + (pos->z * p->ysize + pos->y) * p->pitch + pos->x;
}

/* fits tells whether a box lies within the rows and slices of p: a volume of
 * one slice need not say how many rows a slice has. */
static int fits(const hipPitchedPtr *p, const hipPos *pos, const hipExtent *e)
{
	if (pos->x > p->pitch || e->width > p->pitch - pos->x)
		return 0;
	return (e->depth == 1 && pos->z == 0) || (pos->y <= p->ysize && e->height <= p->ysize - pos->y);
}

static hipError_t copy(const hipMemcpy3DParms *p, hipStream_t stream, int async)
{
	if (!p)
		return rw_finish(hipErrorInvalidValue);
	if (p->srcArray || p->dstArray)
		return rw_unsupported("hipMemcpy3D of arrays");
	const hipExtent *e = &p->extent;
	if (e->width == 0 || e->height == 0 || e->depth == 0)
		return rw_finish(hipSuccess);
	if (!p->srcPtr.ptr || !p->dstPtr.ptr)
		return rw_finish(hipErrorInvalidValue);
	if (!fits(&p->srcPtr, &p->srcPos, e) || !fits(&p->dstPtr, &p->dstPos, e))
		return rw_finish(hipErrorInvalidPitchValue);
	const char *src = place(&p->srcPtr, &p->srcPos);
	char *dst = place(&p->dstPtr, &p->dstPos);
	size_t height = e->height, depth = e->depth;
	if (p->srcPtr.ysize == height && p->dstPtr.ysize == height && height <= SIZE_MAX / depth) { /* slices without gaps */
		height *= depth;
		depth = 1;
	}
	hipError_t r = hipSuccess;
	for (size_t z = 0; z < depth && r == hipSuccess; z++) {
		if (async)
			r = hipMemcpy2DAsync(dst, p->dstPtr.pitch, src, p->srcPtr.pitch, e->width, height, p->kind, stream);
		else
			r = hipMemcpy2D(dst, p->dstPtr.pitch, src, p->srcPtr.pitch, e->width, height, p->kind);
		src += p->srcPtr.pitch * p->srcPtr.ysize;
		dst += p->dstPtr.pitch * p->dstPtr.ysize;
	}
	return r;
}

hipError_t hipMemcpy3D(const struct hipMemcpy3DParms *p)
{
	return copy(p, NULL, 0);
}

hipError_t hipMemcpy3DAsync(const struct hipMemcpy3DParms *p, hipStream_t stream)
{
	return copy(p, stream, 1);
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

/* A rectangle of the driver API: the same copy with offsets in the rows. */
static hipError_t copy2d(const hip_Memcpy2D *p, hipStream_t stream, int async)
{
	if (!p)
		return rw_finish(hipErrorInvalidValue);
	if (p->srcMemoryType == hipMemoryTypeArray || p->dstMemoryType == hipMemoryTypeArray)
		return rw_unsupported("hipMemcpyParam2D of arrays");
	int from_host = p->srcMemoryType == hipMemoryTypeHost, to_host = p->dstMemoryType == hipMemoryTypeHost;
	const char *src = from_host ? p->srcHost : p->srcDevice;
	char *dst = to_host ? p->dstHost : p->dstDevice;
	if (p->WidthInBytes == 0 || p->Height == 0)
		return rw_finish(hipSuccess);
	if (!src || !dst)
		return rw_finish(hipErrorInvalidValue);
	size_t spitch = p->srcPitch ? p->srcPitch : p->WidthInBytes, dpitch = p->dstPitch ? p->dstPitch : p->WidthInBytes;
	if (p->srcXInBytes > spitch || p->WidthInBytes > spitch - p->srcXInBytes || p->dstXInBytes > dpitch || p->WidthInBytes > dpitch - p->dstXInBytes)
		return rw_finish(hipErrorInvalidValue);
	src += p->srcY * spitch + p->srcXInBytes;
	dst += p->dstY * dpitch + p->dstXInBytes;
	hipMemcpyKind kind = from_host ? (to_host ? hipMemcpyHostToHost : hipMemcpyHostToDevice) : (to_host ? hipMemcpyDeviceToHost : hipMemcpyDeviceToDevice);
	if (p->srcMemoryType == hipMemoryTypeUnified || p->dstMemoryType == hipMemoryTypeUnified || p->srcMemoryType == hipMemoryTypeManaged || p->dstMemoryType == hipMemoryTypeManaged)
		kind = hipMemcpyDefault;
	if (async)
		return hipMemcpy2DAsync(dst, dpitch, src, spitch, p->WidthInBytes, p->Height, kind, stream);
	return hipMemcpy2D(dst, dpitch, src, spitch, p->WidthInBytes, p->Height, kind);
}

hipError_t hipMemcpyParam2D(const hip_Memcpy2D *p)
{
	return copy2d(p, NULL, 0);
}

hipError_t hipMemcpyParam2DAsync(const hip_Memcpy2D *p, hipStream_t stream)
{
	return copy2d(p, stream, 1);
}

hipError_t hipDrvMemcpy2DUnaligned(const hip_Memcpy2D *p)
{
	return copy2d(p, NULL, 0);
}
