// Iterations of z = z*z + c until |z| > 2: a loop whose lanes leave one by one.
#include "kernel.h"

KERNEL mandelbrot_f32(u32 *out, i32 width, i32 height, f32 x0, f32 y0, f32 step, u32 limit) {
    i32 px = (i32)global_id(x), py = (i32)global_id(y);
    if (px >= width || py >= height)
        return;
    f32 cx = x0 + (f32)px * step, cy = y0 + (f32)py * step;
    f32 zx = 0, zy = 0;
    u32 i = 0;
    while (i < limit && zx * zx + zy * zy <= 4.0f) {
        f32 t = zx * zx - zy * zy + cx;
        zy = 2.0f * zx * zy + cy;
        zx = t;
        i++;
    }
    out[py * width + px] = i;
}
ENTRY(mandelbrot_f32, u32 *, i32, i32, f32, f32, f32, u32)

KERNEL mandelbrot_f64(u16 *out, i32 width, i32 height, f64 x0, f64 y0, f64 step, u32 limit) {
    i32 px = (i32)global_id(x), py = (i32)global_id(y);
    if (px >= width || py >= height)
        return;
    f64 cx = __builtin_fma((f64)px, step, x0), cy = __builtin_fma((f64)py, step, y0);
    f64 zx = 0, zy = 0;
    u32 i;
    for (i = 0; i < limit; i++) {
        f64 xx = zx * zx, yy = zy * zy;
        if (xx + yy > 4.0)
            break;
        zy = __builtin_fma(2.0 * zx, zy, cy);
        zx = xx - yy + cx;
    }
    out[py * width + px] = (u16)i;
}
ENTRY(mandelbrot_f64, u16 *, i32, i32, f64, f64, f64, u32)
