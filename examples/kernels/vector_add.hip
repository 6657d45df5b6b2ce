// Vector addition: the kernel of examples/hello_hip.
#include "kernel.h"

KERNEL vector_add(const f32 *a, const f32 *b, f32 *c, i32 n) {
    i32 i = (i32)global_id(x);
    if (i < n)
        c[i] = a[i] + b[i];
}
ENTRY(vector_add, const f32 *, const f32 *, f32 *, i32)
