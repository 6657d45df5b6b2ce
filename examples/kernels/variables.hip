// Variables of the device: constants, globals, and pointers between them,
// which the loader must relocate.
#include "kernel.h"

CONSTANT_VAR f32 coefficients[8] = {1, -0.5f, 0.25f, -0.125f, 3, 5, 7, 11};
DEVICE_VAR u32 launches = 5;
DEVICE_VAR u64 big_table[64] = {1, 2, 3, 4};
DEVICE_VAR u32 uninitialised[16];
VARIABLE(coefficients)
VARIABLE(launches)
VARIABLE(big_table)
VARIABLE(uninitialised)

DEVICE_VAR u64 *table_pointer = &big_table[2];
DEVICE_VAR u32 *const pointers[3] = {&uninitialised[1], &launches, &uninitialised[15]};

KERNEL polynomial(const f32 *in, f32 *out, u32 n) {
    u32 i = global_id(x);
    if (i >= n)
        return;
    f32 y = 0;
    for (i32 k = 7; k >= 0; k--)
        y = __builtin_fmaf(y, in[i], coefficients[k]);
    // An index of the lane's own reads the constants as data.
    out[i] = y + coefficients[i & 7];
}
ENTRY(polynomial, const f32 *, f32 *, u32)

KERNEL globals(u64 *out, u32 add) {
    u32 i = global_id(x);
    if (i == 0) {
        launches += add;
        *pointers[0] = launches * 2;
        *pointers[2] += 7;
        table_pointer[0] += 100;
    }
    if (i < 64 && i != 61) // big_table[2] changes
        out[i] = big_table[63 - i];
}
ENTRY(globals, u64 *, u32)

// Functions in a table in memory: relocations against code.
NOINLINE u32 twice(u32 v) { return v * 2; }
NOINLINE u32 square(u32 v) { return v * v; }
NOINLINE u32 negate(u32 v) { return 0 - v; }
typedef u32 (*function)(u32);
DEVICE_VAR function functions[3] = {twice, square, negate};

KERNEL function_table(const u32 *in, u32 *out, u32 n) {
    u32 i = global_id(x);
    if (i < n)
        out[i] = functions[in[i] % 3](in[i]);
}
ENTRY(function_table, const u32 *, u32 *, u32)
