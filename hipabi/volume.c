/* Memory in three dimensions: volumes, a slice of rows after another. */
#include "thread.h"

hipError_t hipMalloc3D(hipPitchedPtr *p, hipExtent extent)
{
	void *at = NULL;
	size_t pitch = 0;
	if (!p)
		return rw_finish(hipErrorInvalidValue);
	size_t rows = extent.height * extent.depth;
	if (extent.depth && extent.height > SIZE_MAX / extent.depth)
		rows = SIZE_MAX; /* which there is no memory for */
	hipError_t e = hipMallocPitch(&at, &pitch, extent.width, rows);
	if (e == hipSuccess) {
		p->ptr = at;
		p->pitch = pitch;
		p->xsize = extent.width;
		p->ysize = extent.height;
	}
	return e;
}
