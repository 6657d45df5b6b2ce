/* The functions of programs compiled for a default stream per thread
 * (-fgpu-default-stream=per-thread): as those without _spt, the default stream
 * being the calling thread's own. */
#include "thread.h"

static hipStream_t own(hipStream_t s)
{
	return s ? s : hipStreamPerThread;
}

/* finished waits for the thread's stream when issuing went well. */
static hipError_t finished(hipError_t e)
{
	return e == hipSuccess ? hipStreamSynchronize(hipStreamPerThread) : e;
}

hipError_t hipMemcpy_spt(void *dst, const void *src, size_t n, hipMemcpyKind kind)
{
	return hipMemcpyWithStream(dst, src, n, kind, hipStreamPerThread);
}

hipError_t hipMemcpyAsync_spt(void *dst, const void *src, size_t n, hipMemcpyKind kind, hipStream_t s)
{
	return hipMemcpyAsync(dst, src, n, kind, own(s));
}

hipError_t hipMemcpy2D_spt(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height, hipMemcpyKind kind)
{
	return finished(hipMemcpy2DAsync(dst, dpitch, src, spitch, width, height, kind, hipStreamPerThread));
}

hipError_t hipMemcpy2DAsync_spt(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height, hipMemcpyKind kind, hipStream_t s)
{
	return hipMemcpy2DAsync(dst, dpitch, src, spitch, width, height, kind, own(s));
}

hipError_t hipMemcpy3D_spt(const struct hipMemcpy3DParms *p)
{
	return finished(hipMemcpy3DAsync(p, hipStreamPerThread));
}

hipError_t hipMemcpy3DAsync_spt(const hipMemcpy3DParms *p, hipStream_t s)
{
	return hipMemcpy3DAsync(p, own(s));
}

hipError_t hipMemcpy2DToArray_spt(hipArray_t dst, size_t x, size_t y, const void *src, size_t pitch, size_t width, size_t height, hipMemcpyKind kind)
{
	return finished(hipMemcpy2DToArrayAsync(dst, x, y, src, pitch, width, height, kind, hipStreamPerThread));
}

hipError_t hipMemcpy2DToArrayAsync_spt(hipArray_t dst, size_t x, size_t y, const void *src, size_t pitch, size_t width, size_t height, hipMemcpyKind kind, hipStream_t s)
{
	return hipMemcpy2DToArrayAsync(dst, x, y, src, pitch, width, height, kind, own(s));
}

hipError_t hipMemcpy2DFromArray_spt(void *dst, size_t pitch, hipArray_const_t src, size_t x, size_t y, size_t width, size_t height, hipMemcpyKind kind)
{
	return finished(hipMemcpy2DFromArrayAsync(dst, pitch, src, x, y, width, height, kind, hipStreamPerThread));
}

hipError_t hipMemcpy2DFromArrayAsync_spt(void *dst, size_t pitch, hipArray_const_t src, size_t x, size_t y, size_t width, size_t height, hipMemcpyKind kind, hipStream_t s)
{
	return hipMemcpy2DFromArrayAsync(dst, pitch, src, x, y, width, height, kind, own(s));
}

hipError_t hipMemcpyFromSymbol_spt(void *dst, const void *symbol, size_t n, size_t offset, hipMemcpyKind kind)
{
	return finished(hipMemcpyFromSymbolAsync(dst, symbol, n, offset, kind, hipStreamPerThread));
}

hipError_t hipMemcpyFromSymbolAsync_spt(void *dst, const void *symbol, size_t n, size_t offset, hipMemcpyKind kind, hipStream_t s)
{
	return hipMemcpyFromSymbolAsync(dst, symbol, n, offset, kind, own(s));
}

hipError_t hipMemcpyToSymbol_spt(const void *symbol, const void *src, size_t n, size_t offset, hipMemcpyKind kind)
{
	return finished(hipMemcpyToSymbolAsync(symbol, src, n, offset, kind, hipStreamPerThread));
}

hipError_t hipMemcpyToSymbolAsync_spt(const void *symbol, const void *src, size_t n, size_t offset, hipMemcpyKind kind, hipStream_t s)
{
	return hipMemcpyToSymbolAsync(symbol, src, n, offset, kind, own(s));
}

hipError_t hipMemset_spt(void *dst, int value, size_t n)
{
	return hipMemsetAsync(dst, value, n, hipStreamPerThread);
}

hipError_t hipMemsetAsync_spt(void *dst, int value, size_t n, hipStream_t s)
{
	return hipMemsetAsync(dst, value, n, own(s));
}

hipError_t hipMemset2D_spt(void *dst, size_t pitch, int value, size_t width, size_t height)
{
	return hipMemset2DAsync(dst, pitch, value, width, height, hipStreamPerThread);
}

hipError_t hipMemset2DAsync_spt(void *dst, size_t pitch, int value, size_t width, size_t height, hipStream_t s)
{
	return hipMemset2DAsync(dst, pitch, value, width, height, own(s));
}

hipError_t hipMemset3D_spt(hipPitchedPtr p, int value, hipExtent extent)
{
	return hipMemset3DAsync(p, value, extent, hipStreamPerThread);
}

hipError_t hipMemset3DAsync_spt(hipPitchedPtr p, int value, hipExtent extent, hipStream_t s)
{
	return hipMemset3DAsync(p, value, extent, own(s));
}

hipError_t hipLaunchKernel_spt(const void *f, dim3 grid, dim3 block, void **args, size_t shared, hipStream_t s)
{
	return hipLaunchKernel(f, grid, block, args, shared, own(s));
}

hipError_t hipLaunchCooperativeKernel_spt(const void *f, dim3 grid, dim3 block, void **args, uint32_t shared, hipStream_t s)
{
	return hipLaunchCooperativeKernel(f, grid, block, args, shared, own(s));
}

hipError_t hipLaunchHostFunc_spt(hipStream_t s, hipHostFn_t fn, void *data)
{
	return hipLaunchHostFunc(own(s), fn, data);
}

hipError_t hipStreamAddCallback_spt(hipStream_t s, hipStreamCallback_t fn, void *data, unsigned int flags)
{
	return hipStreamAddCallback(own(s), fn, data, flags);
}

hipError_t hipEventRecord_spt(hipEvent_t event, hipStream_t s)
{
	return hipEventRecord(event, own(s));
}

hipError_t hipStreamGetFlags_spt(hipStream_t s, unsigned int *flags)
{
	return hipStreamGetFlags(own(s), flags);
}

hipError_t hipStreamGetPriority_spt(hipStream_t s, int *priority)
{
	return hipStreamGetPriority(own(s), priority);
}

hipError_t hipStreamQuery_spt(hipStream_t s)
{
	return hipStreamQuery(own(s));
}

hipError_t hipStreamSynchronize_spt(hipStream_t s)
{
	return hipStreamSynchronize(own(s));
}

hipError_t hipStreamWaitEvent_spt(hipStream_t s, hipEvent_t event, unsigned int flags)
{
	return hipStreamWaitEvent(own(s), event, flags);
}

hipError_t hipStreamIsCapturing_spt(hipStream_t s, hipStreamCaptureStatus *status)
{
	return hipStreamIsCapturing(own(s), status);
}

hipError_t hipStreamBeginCapture_spt(hipStream_t s, hipStreamCaptureMode mode)
{
	return hipStreamBeginCapture(own(s), mode);
}

hipError_t hipStreamEndCapture_spt(hipStream_t s, hipGraph_t *graph)
{
	return hipStreamEndCapture(own(s), graph);
}

hipError_t hipGraphLaunch_spt(hipGraphExec_t exec, hipStream_t s)
{
	return hipGraphLaunch(exec, own(s));
}

hipError_t hipStreamGetCaptureInfo_spt(hipStream_t s, hipStreamCaptureStatus *status, unsigned long long *id)
{
	return hipStreamGetCaptureInfo(own(s), status, id);
}

hipError_t hipStreamGetCaptureInfo_v2_spt(hipStream_t s, hipStreamCaptureStatus *status, unsigned long long *id, hipGraph_t *graph, const hipGraphNode_t **deps, size_t *n)
{
	return hipStreamGetCaptureInfo_v2(own(s), status, id, graph, deps, n);
}
