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
