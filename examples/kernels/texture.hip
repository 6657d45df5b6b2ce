// Textures and surfaces, as HIP's device functions read them: an object is the
// address of an image descriptor and, 12 words further, of a sampler. gfx942 and gfx950 have
// no image instructions, and there is no CPU to compare with.
#include "kernel.h"

#if defined(__HIP__)

#pragma clang diagnostic ignored "-Wunused" // on gfx942

typedef u32 words4 __attribute__((ext_vector_type(4)));
typedef u32 words8 __attribute__((ext_vector_type(8)));
typedef const __attribute__((address_space(4))) words4 *constant4;
typedef const __attribute__((address_space(4))) words8 *constant8;

typedef u32 words2 __attribute__((ext_vector_type(2)));
typedef u32 words3 __attribute__((ext_vector_type(3)));

#define COMMA ,
#if defined(__gfx90a__) || defined(__gfx1100__)
#define IMAGE(text, out, in) asm volatile(text "\n\ts_waitcnt vmcnt(0)" : out : in : "memory")
#else
#define IMAGE(text, out, in)
#endif

// sample is an image at coordinates, of which the last is a layer if layered. On gfx90a an instruction says whether there is one, and the image how many
// coordinates there are; on gfx1100 the instruction says that, too.
DEVICE static inline words4 sample(words8 image, words4 sampler, words4 c, bool layered) {
    words4 r = {};
#if defined(__gfx1100__)
#define SAMPLE(dim, at) IMAGE("image_sample_lz %0, %1, %2, %3 dmask:0xf dim:SQ_RSRC_IMG_" dim, "=v"(r), "v"(at) COMMA "s"(image) COMMA "s"(sampler))
    switch (image[3] >> 28) {
    case 8: SAMPLE("1D", c.x); break;
    case 9: SAMPLE("2D", c.xy); break;
    case 10: SAMPLE("3D", c.xyz); break;
    case 12: SAMPLE("1D_ARRAY", c.xy); break;
    case 13: SAMPLE("2D_ARRAY", c.xyz); break;
    }
#else
    if (layered)
        IMAGE("image_sample %0, %1, %2, %3 dmask:0xf da", "=v"(r), "v"(c) COMMA "s"(image) COMMA "s"(sampler));
    else
        IMAGE("image_sample %0, %1, %2, %3 dmask:0xf", "=v"(r), "v"(c) COMMA "s"(image) COMMA "s"(sampler));
#endif
    return r;
}

// load and store are of an image of two dimensions.
#if defined(__gfx1100__)
#define DIM2 " dim:SQ_RSRC_IMG_2D"
#define AT2(c) ((c).xy)
#else
#define DIM2
#define AT2(c) (c)
#endif

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
    out[global_id(x)] = sample(image, ((constant4)object)[3], at[global_id(x)], false);
}

KERNEL texture_sample_layer(u64 object, const words4 *at, words4 *out) {
    words8 image = *(constant8)object;
    out[global_id(x)] = sample(image, ((constant4)object)[3], at[global_id(x)], true);
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
    out[global_id(x)] = sample(image, ((constant4)bound())[3], at[global_id(x)], false);
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
    IMAGE("image_load %0, %1, %2 dmask:0xf" DIM2 " unorm", "=v"(r), "v"(AT2(c)) COMMA "s"(image));
    out[global_id(x)] = r;
}

KERNEL surface_write(u64 object, const words4 *at, const words4 *in) {
    words8 image = *(constant8)object;
    words4 c = at[global_id(x)], r = in[global_id(x)];
    IMAGE("image_store %0, %1, %2 dmask:0xf" DIM2 " unorm", , "v"(r) COMMA "v"(AT2(c)) COMMA "s"(image));
}

#endif
