/* Objects of the program that graphs hold references to, and what a capture says
 * of itself and is told. */
#include "test.h"

#include <stdatomic.h>

static atomic_int gone;

static void destroy(void *data) { atomic_fetch_add(&gone, *(int *)data); }

static int one = 1;

static void counts(void)
{
	hipUserObject_t o;
	hipGraph_t g;
	EXPECT(hipUserObjectCreate(NULL, &one, destroy, 1, hipUserObjectNoDestructorSync), hipErrorInvalidValue);
	EXPECT(hipUserObjectCreate(&o, &one, NULL, 1, hipUserObjectNoDestructorSync), hipErrorInvalidValue);
	EXPECT(hipUserObjectCreate(&o, &one, destroy, 0, hipUserObjectNoDestructorSync), hipErrorInvalidValue);
	CHECK(hipUserObjectCreate(&o, &one, destroy, 2, hipUserObjectNoDestructorSync));
	CHECK(hipUserObjectRetain(o, 2));
	CHECK(hipUserObjectRelease(o, 3));
	ASSERT(atomic_load(&gone) == 0);
	CHECK(hipUserObjectRelease(o, 1));
	ASSERT(atomic_load(&gone) == 1);
	EXPECT(hipUserObjectRetain(NULL, 1), hipErrorInvalidValue);
	EXPECT(hipUserObjectRelease(NULL, 1), hipErrorInvalidValue);

	CHECK(hipUserObjectCreate(&o, &one, destroy, 1, hipUserObjectNoDestructorSync));
	EXPECT(hipUserObjectRetain(o, 0), hipErrorInvalidValue);
	EXPECT(hipUserObjectRelease(o, 0), hipErrorInvalidValue);
	CHECK(hipGraphCreate(&g, 0));
	CHECK(hipGraphRetainUserObject(g, o, 2, 0)); /* the program keeps its own */
	CHECK(hipUserObjectRelease(o, 1));
	ASSERT(atomic_load(&gone) == 1);
	CHECK(hipGraphReleaseUserObject(g, o, 1));
	ASSERT(atomic_load(&gone) == 1);
	CHECK(hipGraphReleaseUserObject(g, o, 1)); /* the last of all */
	ASSERT(atomic_load(&gone) == 2);
	EXPECT(hipGraphReleaseUserObject(NULL, o, 1), hipErrorInvalidValue);
	EXPECT(hipGraphReleaseUserObject(g, NULL, 1), hipErrorInvalidValue);
	CHECK(hipGraphDestroy(g));
	ASSERT(atomic_load(&gone) == 2);
}

/* A captured operation comes behind what the capture is told. */
static void capture(void)
{
	hipStream_t s;
	hipGraph_t g, same = NULL;
	hipGraphExec_t e;
	hipStreamCaptureStatus status = hipStreamCaptureStatusInvalidated;
	unsigned long long id = 0, again = 0;
	const hipGraphNode_t *deps = NULL;
	hipGraphNode_t first, second, nodes[3], from[3], to[3];
	size_t n = 9;
	int out[2] = {0, 0}, *d;
	CHECK(hipMalloc((void **)&d, sizeof out));
	CHECK(hipStreamCreate(&s));
	CHECK(hipStreamGetCaptureInfo_spt(s, &status, &id));
	ASSERT(status == hipStreamCaptureStatusNone);
	EXPECT(hipStreamGetCaptureInfo_spt(s, NULL, &id), hipErrorInvalidValue);
	EXPECT(hipStreamUpdateCaptureDependencies(s, NULL, 0, hipStreamSetCaptureDependencies), hipErrorIllegalState);

	CHECK(hipStreamBeginCapture(s, hipStreamCaptureModeGlobal));
	CHECK(hipMemsetD32Async(d, 1, 1, s));
	CHECK(hipStreamGetCaptureInfo_spt(s, &status, &id));
	ASSERT(status == hipStreamCaptureStatusActive && id != 0);
	CHECK(hipStreamGetCaptureInfo_v2_spt(s, &status, &again, &g, &deps, &n));
	ASSERT(status == hipStreamCaptureStatusActive && again == id && n == 1);
	first = deps[0];
	CHECK(hipStreamUpdateCaptureDependencies(s, NULL, 0, hipStreamSetCaptureDependencies)); /* what follows waits for nothing */
	CHECK(hipMemsetD32Async(d + 1, 2, 1, s));
	CHECK(hipStreamGetCaptureInfo_v2_spt(s, &status, &again, &g, &deps, &n));
	ASSERT(n == 1 && deps[0] != first);
	second = deps[0];
	CHECK(hipStreamUpdateCaptureDependencies(s, &first, 1, hipStreamAddCaptureDependencies)); /* for both */
	CHECK(hipStreamGetCaptureInfo_v2_spt(s, &status, &again, &g, &deps, &n));
	ASSERT(n == 2);
	CHECK(hipMemcpyAsync(out, d, sizeof out, hipMemcpyDeviceToHost, s));
	EXPECT(hipStreamUpdateCaptureDependencies(s, &first, 1, 7), hipErrorInvalidValue);
	CHECK(hipStreamEndCapture(s, &same));
	ASSERT(same == g);

	n = 3;
	CHECK(hipGraphGetNodes(g, nodes, &n));
	ASSERT(n == 3);
	n = 3;
	CHECK(hipGraphGetEdges(g, from, to, &n));
	ASSERT(n == 2 && to[0] == to[1] && from[0] != from[1]);
	ASSERT((from[0] == first && from[1] == second) || (from[0] == second && from[1] == first));
	n = 3;
	CHECK(hipGraphNodeGetDependentNodes(first, nodes, &n));
	ASSERT(n == 1 && nodes[0] == to[0]);
	n = 3;
	CHECK(hipGraphNodeGetDependentNodes(to[0], nodes, &n));
	ASSERT(n == 0);
	EXPECT(hipGraphNodeGetDependentNodes(NULL, nodes, &n), hipErrorInvalidValue);
	EXPECT(hipGraphNodeGetDependentNodes(first, nodes, NULL), hipErrorInvalidValue);

	CHECK(hipGraphInstantiate(&e, g, NULL, NULL, 0));
	CHECK(hipGraphLaunch(e, s));
	CHECK(hipStreamSynchronize(s));
	ASSERT(out[0] == 1 && out[1] == 2);
	CHECK(hipGraphExecDestroy(e));
	CHECK(hipGraphDestroy(g));
	CHECK(hipStreamDestroy(s));
	CHECK(hipFree(d));
}

int main(void)
{
	counts();
	capture();
	return result("user objects");
}
