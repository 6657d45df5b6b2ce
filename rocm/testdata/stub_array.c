/* Arrays of rows in layers, whose layers lie a slice apart in memory to the library, as to AMD's. */
#include <stdlib.h>
#include <string.h>
#include "hip/hip_runtime_api.h"

struct array { size_t row, layers; char *mem; };

hipError_t hipArray3DCreate(hipArray_t *a, const HIP_ARRAY3D_DESCRIPTOR *d)
{
	struct array *x = calloc(1, sizeof(*x));

	x->row = d->Width;
	x->layers = d->Height ? d->Height : d->Depth;
	x->mem = calloc(x->layers, x->row);
	*a = (hipArray_t)x;
	return hipSuccess;
}

hipError_t hipArrayDestroy(hipArray_t a)
{
	free(((struct array *)a)->mem);
	free(a);
	return hipSuccess;
}

static hipError_t copy(const HIP_MEMCPY3D *p)
{
	int in = p->dstMemoryType == hipMemoryTypeArray;
	const struct array *a = (const struct array *)(in ? p->dstArray : p->srcArray);
	char *mem = in ? (char *)p->srcHost : p->dstHost;
	size_t pitch = in ? p->srcPitch : p->dstPitch, height = in ? p->srcHeight : p->dstHeight, y = in ? p->dstY : p->srcY;
	size_t slice = height ? pitch * height : pitch;

	mem += (in ? p->srcZ : p->dstZ) * slice + (in ? p->srcY : p->dstY) * pitch + (in ? p->srcXInBytes : p->dstXInBytes);
	if (p->Depth != 1 || y + p->Height > a->layers || p->WidthInBytes != a->row)
		return hipErrorInvalidValue;
	for (size_t i = 0; i < p->Height; i++, mem += slice)
		if (in)
			memcpy(a->mem + (y + i) * a->row, mem, a->row);
		else
			memcpy(mem, a->mem + (y + i) * a->row, a->row);
	return hipSuccess;
}

hipError_t hipDrvMemcpy3D(const HIP_MEMCPY3D *p) { return copy(p); }

hipError_t hipDrvMemcpy3DAsync(const HIP_MEMCPY3D *p, hipStream_t s)
{
	(void)s;
	return copy(p);
}
