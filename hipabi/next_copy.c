/* Copies in batches, and of boxes between devices (HIP 7). */
#include <stdint.h>
#include <string.h>

#include "thread.h"

/* known says whether a stream is one. */
static int known(hipStream_t stream)
{
	int device;
	return hipStreamGetDevice(stream, &device) == hipSuccess;
}

/* attributes judges the attributes of a batch, each of which holds from the copy
 * that its index names. What they say of order is less than the stream keeps. */
static int attributes(const hipMemcpyAttributes *a, const size_t *from, size_t n, size_t count)
{
	if (n == 0)
		return 1;
	if (!a || !from || n > count || from[0] != 0)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (a[i].srcAccessOrder < hipMemcpySrcAccessOrderStream || a[i].srcAccessOrder > hipMemcpySrcAccessOrderAny ||
		    (i > 0 && (from[i] <= from[i - 1] || from[i] >= count)))
			return 0;
	return 1;
}

hipError_t hipMemcpyBatchAsync(void **dsts, void **srcs, size_t *sizes, size_t count, hipMemcpyAttributes *attrs, size_t *from, size_t n, size_t *failed, hipStream_t stream)
{
	if (!known(stream))
		return rw_finish(hipErrorInvalidHandle);
	if (!dsts || !srcs || !sizes || count == 0 || !attributes(attrs, from, n, count))
		return rw_finish(hipErrorInvalidValue);
	for (size_t i = 0; i < count; i++)
		if (sizes[i] == 0) {
			if (failed)
				*failed = i;
			return rw_finish(hipErrorInvalidValue);
		}
	if (failed)
		*failed = SIZE_MAX;
	for (size_t i = 0; i < count; i++)
		if (!dsts[i] || !srcs[i])
			return rw_finish(hipErrorInvalidValue);
	for (size_t i = 0; i < count; i++) {
		hipError_t e = hipMemcpyAsync(dsts[i], srcs[i], sizes[i], hipMemcpyDefault, stream);
		if (e != hipSuccess)
			return rw_finish(e);
	}
	return rw_finish(hipSuccess);
}

/* element is the bytes of an array's element, 0 if it is no array. */
static size_t element(hipArray_t array)
{
	HIP_ARRAY3D_DESCRIPTOR d;
	if (hipArray3DGetDescriptor(&d, array) != hipSuccess)
		return 0;
	switch (d.Format) {
	case HIP_AD_FORMAT_UNSIGNED_INT8:
	case HIP_AD_FORMAT_SIGNED_INT8:
		return d.NumChannels;
	case HIP_AD_FORMAT_UNSIGNED_INT16:
	case HIP_AD_FORMAT_SIGNED_INT16:
	case HIP_AD_FORMAT_HALF:
		return 2 * d.NumChannels;
	default:
		return 4 * d.NumChannels;
	}
}

/* side is one side of a batch's copy: rows and layers are in elements, and as
 * large as the copy if nothing is said. */
static int side(const hipMemcpy3DOperand *o, const hipExtent *e, size_t size, hipArray_t *array, hipPos *pos, hipPitchedPtr *ptr)
{
	if (o->type == hipMemcpyOperandTypeArray) {
		*array = o->op.array.array;
		*pos = (hipPos){o->op.array.offset.x, o->op.array.offset.y, o->op.array.offset.z};
		return *array != NULL;
	}
	size_t row = o->op.ptr.rowLength ? o->op.ptr.rowLength : e->width, height = o->op.ptr.layerHeight ? o->op.ptr.layerHeight : e->height;
	if (o->type != hipMemcpyOperandTypePointer || row > SIZE_MAX / size)
		return 0;
	*ptr = (hipPitchedPtr){o->op.ptr.ptr, row * size, row, height};
	return ptr->ptr != NULL;
}

static int box(const hipMemcpy3DBatchOp *op, hipMemcpy3DParms *p)
{
	size_t size = 1;
	memset(p, 0, sizeof *p);
	p->extent = op->extent;
	p->kind = hipMemcpyDefault;
	if (op->src.type == hipMemcpyOperandTypeArray)
		size = element(op->src.op.array.array);
	else if (op->dst.type == hipMemcpyOperandTypeArray)
		size = element(op->dst.op.array.array);
	return size && side(&op->src, &op->extent, size, &p->srcArray, &p->srcPos, &p->srcPtr) &&
		side(&op->dst, &op->extent, size, &p->dstArray, &p->dstPos, &p->dstPtr);
}

hipError_t hipMemcpy3DBatchAsync(size_t n, hipMemcpy3DBatchOp *ops, size_t *failed, unsigned long long flags, hipStream_t stream)
{
	hipError_t e = hipSuccess;
	if (flags != 0 || !ops || n == 0)
		return rw_finish(hipErrorInvalidValue);
	if (!known(stream))
		return rw_finish(hipErrorInvalidHandle);
	if (failed)
		*failed = SIZE_MAX;
	for (size_t i = 0; i < n && e == hipSuccess; i++) {
		hipMemcpy3DParms p;
		e = box(&ops[i], &p) ? hipMemcpy3DAsync(&p, stream) : hipErrorInvalidValue;
		if (e != hipSuccess && failed)
			*failed = i;
	}
	return rw_finish(e);
}

/* between are the parameters of a copy of a box between devices. Where memory is
 * its address tells, or the array. */
static hipError_t between(const hipMemcpy3DPeerParms *p, hipMemcpy3DParms *q)
{
	int n = 0;
	hipError_t e;
	if (!p)
		return hipErrorInvalidValue;
	if ((e = hipGetDeviceCount(&n)) != hipSuccess)
		return e;
	if (p->srcDevice < 0 || p->srcDevice >= n || p->dstDevice < 0 || p->dstDevice >= n)
		return hipErrorInvalidDevice;
	memset(q, 0, sizeof *q);
	q->srcArray = p->srcArray;
	q->srcPos = p->srcPos;
	q->srcPtr = p->srcPtr;
	q->dstArray = p->dstArray;
	q->dstPos = p->dstPos;
	q->dstPtr = p->dstPtr;
	q->extent = p->extent;
	q->kind = hipMemcpyDeviceToDevice;
	return hipSuccess;
}

hipError_t hipMemcpy3DPeer(hipMemcpy3DPeerParms *p)
{
	hipMemcpy3DParms q;
	hipError_t e = between(p, &q);
	return e == hipSuccess ? hipMemcpy3D(&q) : rw_finish(e);
}

hipError_t hipMemcpy3DPeerAsync(hipMemcpy3DPeerParms *p, hipStream_t stream)
{
	hipMemcpy3DParms q;
	hipError_t e = between(p, &q);
	if (e == hipSuccess && !known(stream))
		e = hipErrorInvalidValue;
	return e == hipSuccess ? hipMemcpy3DAsync(&q, stream) : rw_finish(e);
}

/* Device memory of a worker's card is no file of this machine. */
hipError_t hipMemGetHandleForAddressRange(void *handle, hipDeviceptr_t p, size_t size, hipMemRangeHandleType type, unsigned long long flags)
{
	if (!handle || !p || size == 0 || type != hipMemRangeHandleTypeDmaBufFd || flags != 0)
		return rw_finish(hipErrorInvalidValue);
	return rw_unsupported("hipMemGetHandleForAddressRange");
}
