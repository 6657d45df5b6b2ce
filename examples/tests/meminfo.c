/* How much memory a device has, and how much of what is free HIP_HIDDEN_FREE_MEM
 * hides. It is read when the program first uses HIP. */
#include <stdlib.h>
#include "test.h"

static const size_t hide = (size_t)64 << 20;

int main(void)
{
	size_t before = 0, after = 0, total = 0, n = (size_t)16 << 20;
	void *p;
	setenv("HIP_HIDDEN_FREE_MEM", "64", 1);
	CHECK(hipMemGetInfo(&before, &total));
	ASSERT(total > hide && before > 0 && before <= total - hide);
	CHECK(hipMalloc(&p, n));
	CHECK(hipMemGetInfo(&after, &total));
	ASSERT(after <= total - hide - n);
	CHECK(hipFree(p));
	/* either may be left out, as with AMD's library */
	total = 0;
	CHECK(hipMemGetInfo(NULL, &total));
	ASSERT(total > hide);
	CHECK(hipMemGetInfo(&after, NULL));
	ASSERT(after <= total - hide);
	CHECK(hipMemGetInfo(NULL, NULL));
	setenv("HIP_HIDDEN_FREE_MEM", "0", 1); /* too late */
	CHECK(hipMemGetInfo(&after, &total));
	ASSERT(after <= total - hide);
	puts("ok");
	return 0;
}
