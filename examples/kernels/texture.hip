// Textures and surfaces, as HIP's device functions read them: an object is the
// address of an image descriptor and, 12 words further, of a sampler. gfx942 has
// no image instructions, and there is no CPU to compare with.
#include "kernel.h"

#if defined(__HIP__)

#pragma clang diagnostic ignored "-Wunused" // on gfx942

typedef u32 words4 __attribute__((ext_vector_type(4)));
typedef u32 words8 __attribute__((ext_vector_type(8)));
typedef const __attribute__((address_space(4))) words4 *constant4;
typedef const __attribute__((address_space(4))) words8 *constant8;

#if defined(__gfx90a__)
#define IMAGE(text, out, in) asm volatile(text "\n\ts_waitcnt vmcnt(0)" : out : in : "memory")
#else
#define IMAGE(text, out, in)
#endif
#define COMMA ,

// reference is a texture reference, HIP's textureReference: the host writes it.
DEVICE_VAR struct texture_reference {
    u32 fields[18];
    u64 object;
    u32 channels, format;
} reference;

// small is too small to be one.
DEVICE_VAR u32 small[4];

// The object that the reference is bound to.
DEVICE static inline u64 bound(void) {
    return *(const __attribute__((address_space(4))) u64 *)(u64)&reference.object;
}

// What these read has 4 components, where an image has fewer of them 0, 0, 1.
// Coordinates are 4 a thread.
KERNEL texture_sample(u64 object, const words4 *at, words4 *out) {
    words8 image = *(constant8)object;
    words4 sampler = ((constant4)object)[3], c = at[global_id(x)], r = {};
    IMAGE("image_sample %0, %1, %2, %3 dmask:0xf", "=v"(r), "v"(c) COMMA "s"(image) COMMA "s"(sampler));
    out[global_id(x)] = r;
}

KERNEL texture_sample_layer(u64 object, const words4 *at, words4 *out) {
    words8 image = *(constant8)object;
    words4 sampler = ((constant4)object)[3], c = at[global_id(x)], r = {};
    IMAGE("image_sample %0, %1, %2, %3 dmask:0xf da", "=v"(r), "v"(c) COMMA "s"(image) COMMA "s"(sampler));
    out[global_id(x)] = r;
}

KERNEL texture_fetch(u64 object, const words4 *at, words4 *out) {
    words4 buffer = *(constant4)object, r = {};
    u32 i = at[global_id(x)].x;
    IMAGE("buffer_load_format_xyzw %0, %1, %2, 0 idxen", "=v"(r), "v"(i) COMMA "s"(buffer));
    out[global_id(x)] = r;
}

// The same by the reference.
KERNEL reference_sample(const words4 *at, words4 *out) {
    words8 image = *(constant8)bound();
    words4 sampler = ((constant4)bound())[3], c = at[global_id(x)], r = {};
    IMAGE("image_sample %0, %1, %2, %3 dmask:0xf", "=v"(r), "v"(c) COMMA "s"(image) COMMA "s"(sampler));
    out[global_id(x)] = r;
}

KERNEL reference_fetch(const words4 *at, words4 *out) {
    words4 buffer = *(constant4)bound(), r = {};
    u32 i = at[global_id(x)].x;
    IMAGE("buffer_load_format_xyzw %0, %1, %2, 0 idxen", "=v"(r), "v"(i) COMMA "s"(buffer));
    out[global_id(x)] = r;
}

KERNEL surface_read(u64 object, const words4 *at, words4 *out) {
    words8 image = *(constant8)object;
    words4 c = at[global_id(x)], r = {};
    IMAGE("image_load %0, %1, %2 dmask:0xf unorm", "=v"(r), "v"(c) COMMA "s"(image));
    out[global_id(x)] = r;
}

KERNEL surface_write(u64 object, const words4 *at, const words4 *in) {
    words8 image = *(constant8)object;
    words4 c = at[global_id(x)], r = in[global_id(x)];
    IMAGE("image_store %0, %1, %2 dmask:0xf unorm", , "v"(r) COMMA "v"(c) COMMA "s"(image));
}

#endif
