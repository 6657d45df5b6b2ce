/* Images of HSA's: hsa_images TEXTURE.co on a card that has them, hsa_images alone on one that has none.
 * The exit status is the number of things that were not so. */
#include "hsa_kernels.h"

enum { W = 100, H = 6, D = 3, LANES = 64 };

typedef struct { uint32_t c[4]; } four;

static const hsa_ext_image_format_t bytes = {HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT8, HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA},
	unit = {HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8, HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA},
	curve = {HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8, HSA_EXT_IMAGE_CHANNEL_ORDER_SRGBA},
	swapped = {HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8, HSA_EXT_IMAGE_CHANNEL_ORDER_BGRA},
	one = {HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT, HSA_EXT_IMAGE_CHANNEL_ORDER_R},
	none = {HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT32, HSA_EXT_IMAGE_CHANNEL_ORDER_SRGBA};

static hsa_ext_image_descriptor_t shape(hsa_ext_image_geometry_t g, size_t w, size_t h, size_t d, size_t layers, hsa_ext_image_format_t f)
{
	return (hsa_ext_image_descriptor_t){g, w, h, d, layers, f};
}

/* without is what a card without image instructions answers. */
static void without(void)
{
	uint32_t n = 9, most[3] = {9, 9, 9}, mask = 9;
	hsa_ext_image_descriptor_t d = shape(HSA_EXT_IMAGE_GEOMETRY_2D, W, H, 0, 0, bytes);
	hsa_ext_image_data_info_t info;
	hsa_ext_image_t image;
	hsa_ext_sampler_t sampler;
	hsa_ext_sampler_descriptor_t how = {0};
	OK(hsa_agent_get_info(gpu, (hsa_agent_info_t)HSA_EXT_AGENT_INFO_MAX_IMAGE_RORW_HANDLES, &n));
	OK(hsa_agent_get_info(gpu, (hsa_agent_info_t)HSA_EXT_AGENT_INFO_IMAGE_3D_MAX_ELEMENTS, most));
	SO(n == 0 && most[0] == 0 && most[2] == 0);
	OK(hsa_ext_image_get_capability(gpu, HSA_EXT_IMAGE_GEOMETRY_2D, &bytes, &mask));
	SO(mask == HSA_EXT_IMAGE_CAPABILITY_NOT_SUPPORTED);
	EXPECT(hsa_ext_image_data_get_info(gpu, &d, HSA_ACCESS_PERMISSION_RW, &info), HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED);
	EXPECT(hsa_ext_image_create(gpu, &d, &d, HSA_ACCESS_PERMISSION_RW, &image), HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED);
	EXPECT(hsa_ext_sampler_create(gpu, &how, &sampler), HSA_EXT_STATUS_ERROR_SAMPLER_DESCRIPTOR_UNSUPPORTED);
}

static void asked(void)
{
	uint32_t n = 0, most[3] = {0}, mask = 0;
	hsa_ext_image_descriptor_t d = shape(HSA_EXT_IMAGE_GEOMETRY_2D, W, H, 0, 0, bytes);
	hsa_ext_image_data_info_t info;
	OK(hsa_agent_get_info(gpu, (hsa_agent_info_t)HSA_EXT_AGENT_INFO_MAX_IMAGE_RD_HANDLES, &n));
	OK(hsa_agent_get_info(gpu, (hsa_agent_info_t)HSA_EXT_AGENT_INFO_IMAGE_3D_MAX_ELEMENTS, most));
	SO(n == 128 && most[0] == 16384 && most[1] == 16384 && most[2] == 8192);
	OK(hsa_amd_image_get_info_max_dim(gpu, (hsa_agent_info_t)HSA_EXT_AGENT_INFO_IMAGE_2DA_MAX_ELEMENTS, most));
	OK(hsa_amd_image_get_info_max_dim(gpu, (hsa_agent_info_t)HSA_EXT_AGENT_INFO_IMAGE_ARRAY_MAX_LAYERS, &n));
	SO(n == 8192 && most[1] == 16384);
	EXPECT(hsa_amd_image_get_info_max_dim(gpu, HSA_AGENT_INFO_WAVEFRONT_SIZE, &n), HSA_STATUS_ERROR_INVALID_ARGUMENT);

	OK(hsa_ext_image_get_capability(gpu, HSA_EXT_IMAGE_GEOMETRY_2D, &bytes, &mask));
	SO(mask == (HSA_EXT_IMAGE_CAPABILITY_READ_ONLY | HSA_EXT_IMAGE_CAPABILITY_WRITE_ONLY | HSA_EXT_IMAGE_CAPABILITY_READ_WRITE));
	OK(hsa_ext_image_get_capability(gpu, HSA_EXT_IMAGE_GEOMETRY_2D, &curve, &mask));
	SO(mask == HSA_EXT_IMAGE_CAPABILITY_READ_ONLY);
	OK(hsa_ext_image_get_capability(gpu, HSA_EXT_IMAGE_GEOMETRY_1DB, &curve, &mask));
	SO(mask == HSA_EXT_IMAGE_CAPABILITY_NOT_SUPPORTED);
	OK(hsa_ext_image_get_capability(gpu, HSA_EXT_IMAGE_GEOMETRY_2DDEPTH, &bytes, &mask));
	SO(mask == HSA_EXT_IMAGE_CAPABILITY_NOT_SUPPORTED);
	OK(hsa_ext_image_get_capability(cpu, HSA_EXT_IMAGE_GEOMETRY_2D, &bytes, &mask));
	SO(mask == HSA_EXT_IMAGE_CAPABILITY_NOT_SUPPORTED);
	EXPECT(hsa_ext_image_get_capability(gpu, (hsa_ext_image_geometry_t)99, &bytes, &mask), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_ext_image_get_capability((hsa_agent_t){7}, HSA_EXT_IMAGE_GEOMETRY_2D, &bytes, &mask), HSA_STATUS_ERROR_INVALID_AGENT);
	EXPECT(hsa_ext_image_get_capability_with_layout(gpu, HSA_EXT_IMAGE_GEOMETRY_2D, &bytes, HSA_EXT_IMAGE_DATA_LAYOUT_OPAQUE, &mask), HSA_STATUS_ERROR_INVALID_ARGUMENT);

	OK(hsa_ext_image_data_get_info(gpu, &d, HSA_ACCESS_PERMISSION_RW, &info));
	SO(info.size == 512 * H && info.alignment == 256);
	EXPECT(hsa_ext_image_data_get_info(gpu, &d, HSA_ACCESS_PERMISSION_NONE, &info), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	OK(hsa_ext_image_data_get_info_with_layout(gpu, &d, HSA_ACCESS_PERMISSION_RO, HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR, 1024, 0, &info));
	SO(info.size == 1024 * H);
	EXPECT(hsa_ext_image_data_get_info_with_layout(gpu, &d, HSA_ACCESS_PERMISSION_RO, HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR, 0, 0, &info),
		HSA_EXT_STATUS_ERROR_IMAGE_PITCH_UNSUPPORTED); /* 400 bytes */
	EXPECT(hsa_ext_image_data_get_info_with_layout(gpu, &d, HSA_ACCESS_PERMISSION_RO, HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR, 512, 512 * H + 256, &info),
		HSA_EXT_STATUS_ERROR_IMAGE_PITCH_UNSUPPORTED);
	d.format = none;
	EXPECT(hsa_ext_image_data_get_info(gpu, &d, HSA_ACCESS_PERMISSION_RO, &info), HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED);
	d = shape(HSA_EXT_IMAGE_GEOMETRY_2D, 16385, 1, 0, 0, bytes);
	EXPECT(hsa_ext_image_data_get_info(gpu, &d, HSA_ACCESS_PERMISSION_RO, &info), HSA_EXT_STATUS_ERROR_IMAGE_SIZE_UNSUPPORTED);
	d = shape(HSA_EXT_IMAGE_GEOMETRY_2D, 16, 0, 0, 0, bytes);
	EXPECT(hsa_ext_image_data_get_info(gpu, &d, HSA_ACCESS_PERMISSION_RO, &info), HSA_STATUS_ERROR);
	d = shape((hsa_ext_image_geometry_t)77, 16, 1, 0, 0, bytes);
	EXPECT(hsa_ext_image_data_get_info(gpu, &d, HSA_ACCESS_PERMISSION_RO, &info), HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED);
}

static hsa_ext_image_t make(const hsa_ext_image_descriptor_t *d, void **data)
{
	hsa_ext_image_data_info_t info = {0};
	hsa_ext_image_t image = {0};
	OK(hsa_ext_image_data_get_info(gpu, d, HSA_ACCESS_PERMISSION_RW, &info));
	OK(hsa_amd_memory_pool_allocate(coarse, info.size, 0, data));
	OK(hsa_ext_image_create(gpu, d, *data, HSA_ACCESS_PERMISSION_RW, &image));
	return image;
}

/* Parts of images in, out, from one to another, and filled. */
static void copies(void)
{
	static uint8_t in[D][H][W][4], out[D][H][W][4];
	hsa_ext_image_descriptor_t d = shape(HSA_EXT_IMAGE_GEOMETRY_3D, W, H, D, 0, bytes);
	void *mem[2];
	hsa_ext_image_t a = make(&d, &mem[0]), b = make(&d, &mem[1]);
	hsa_ext_image_region_t all = {{0, 0, 0}, {W, H, D}}, part = {{10, 2, 1}, {20, 3, 2}}, over = {{W - 1, 0, 0}, {2, 1, 1}}, empty = {{0, 0, 0}, {1, 1, 0}};
	const uint32_t colour[4] = {1, 2, 300, 4};
	for (size_t i = 0; i < sizeof in; i++)
		(&in[0][0][0][0])[i] = (uint8_t)(i * 7 + i / 251);
	OK(hsa_ext_image_import(gpu, in, 0, 0, a, &all));
	OK(hsa_ext_image_export(gpu, a, out, 0, 0, &all));
	SO(memcmp(in, out, sizeof in) == 0);
	OK(hsa_ext_image_clear(gpu, b, colour, &all));
	OK(hsa_ext_image_copy(gpu, a, &part.offset, b, &(hsa_dim3_t){1, 1, 0}, &part.range));
	OK(hsa_ext_image_export(gpu, b, out, W * 4, W * H * 4, &all));
	for (int z = 0; z < D; z++)
		for (int y = 0; y < H; y++)
			for (int x = 0; x < W; x++) {
				const uint8_t clear[4] = {1, 2, 255, 4}, *want = clear; /* 300 is no byte */
				if (x >= 1 && x < 21 && y >= 1 && y < 4 && z < 2)
					want = in[z + 1][y + 1][x + 9];
				if (memcmp(out[z][y][x], want, 4)) {
					SO(!"the part");
					x = W, y = H, z = D;
				}
			}
	EXPECT(hsa_ext_image_export(gpu, b, out, 0, 0, &over), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_ext_image_import(gpu, out, 0, 0, b, &empty), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_ext_image_clear(gpu, b, NULL, &all), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_ext_image_copy(gpu, a, &part.offset, (hsa_ext_image_t){b.handle + 16}, &part.offset, &part.range), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_ext_image_destroy((hsa_agent_t){3}, a), HSA_STATUS_ERROR_INVALID_AGENT);
	OK(hsa_ext_image_destroy(gpu, a));
	EXPECT(hsa_ext_image_destroy(gpu, a), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_ext_image_export(gpu, a, out, 0, 0, &all), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	OK(hsa_ext_image_destroy(gpu, b));

	/* layers of rows, and the curve of sRGB */
	hsa_ext_image_descriptor_t rows = shape(HSA_EXT_IMAGE_GEOMETRY_1DA, W, 0, 0, H, unit), curved = shape(HSA_EXT_IMAGE_GEOMETRY_1DA, W, 0, 0, H, curve);
	void *more[2];
	hsa_ext_image_t c = make(&rows, &more[0]), e = make(&curved, &more[1]);
	hsa_ext_image_region_t layers = {{0, 0, 0}, {W, H, 1}};
	OK(hsa_ext_image_import(gpu, in, 0, 0, c, &layers));
	OK(hsa_ext_image_copy(gpu, c, &layers.offset, e, &layers.offset, &layers.range));
	memset(out, 0, sizeof out);
	OK(hsa_ext_image_export(gpu, e, out, 0, 0, &layers));
	SO(out[0][0][0][0] == 0 && out[0][H - 1][W - 1][3] == in[0][H - 1][W - 1][3]); /* alpha has none */
	for (int i = 0; i < W; i++) /* 0.5 is 188 there */
		if (in[0][0][i][1] == 127 || in[0][0][i][1] == 128)
			SO(out[0][0][i][1] >= 187 && out[0][0][i][1] <= 189);
	EXPECT(hsa_ext_image_copy(gpu, c, &layers.offset, (hsa_ext_image_t){0}, &layers.offset, &layers.range), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	OK(hsa_ext_image_destroy(gpu, c));
	OK(hsa_ext_image_destroy(gpu, e));
	for (int i = 0; i < 2; i++) {
		OK(hsa_amd_memory_pool_free(mem[i]));
		OK(hsa_amd_memory_pool_free(more[i]));
	}
}

static hsa_queue_t *q;

/* run has a kernel of texture.hip read an image at places, with a sampler if it has one, and says what it got. */
static void run(const struct kernel *k, hsa_ext_image_t image, hsa_ext_sampler_t sampler, const four *at, four *got)
{
	struct object { uint32_t image[12], sampler[8]; } *object;
	struct { void *object, *at, *out; } arg;
	hsa_signal_t done;
	OK(hsa_amd_memory_pool_allocate(kernarg, sizeof *object, 0, (void **)&object));
	memcpy(object->image, (void *)(uintptr_t)image.handle, sizeof object->image);
	if (sampler.handle)
		memcpy(object->sampler, (void *)(uintptr_t)sampler.handle, sizeof object->sampler);
	four *buffers;
	OK(hsa_amd_memory_pool_allocate(fine, 2 * LANES * sizeof *at, 0, (void **)&buffers));
	memcpy(buffers, at, LANES * sizeof *at);
	arg.object = object, arg.at = buffers, arg.out = buffers + LANES;
	void *args = arguments(k, &arg, sizeof arg, LANES, LANES);
	OK(hsa_signal_create(1, 0, NULL, &done));
	hsa_kernel_dispatch_packet_t p = packet(k, args, LANES, LANES, done);
	submit(q, &p);
	SO(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) == 0);
	memcpy(got, buffers + LANES, LANES * sizeof *got);
	OK(hsa_signal_destroy(done));
	OK(hsa_amd_memory_pool_free(buffers));
	OK(hsa_amd_memory_pool_free(object));
	OK(hsa_amd_memory_pool_free(args));
}

static uint32_t bits(float f)
{
	uint32_t u;
	memcpy(&u, &f, sizeof u);
	return u;
}

/* Kernels read what the program wrote: by samplers, by numbers, and from a typed buffer. */
static void kernels(const char *path)
{
	hsa_executable_t x = load(path);
	struct kernel sample = find(x, "texture_sample.kd"), fetch = find(x, "texture_fetch.kd"), read = find(x, "surface_read.kd");
	static uint8_t in[H][W][4];
	four at[LANES] = {{{0}}}, got[LANES];
	void *mem, *line;
	hsa_ext_image_descriptor_t d = shape(HSA_EXT_IMAGE_GEOMETRY_2D, W, H, 0, 0, swapped);
	hsa_ext_image_t image = make(&d, &mem), seen, buffer;
	hsa_ext_image_region_t all = {{0, 0, 0}, {W, H, 1}};
	hsa_ext_sampler_t nearest, border, each;
	hsa_ext_sampler_descriptor_t how = {HSA_EXT_SAMPLER_COORDINATE_MODE_UNNORMALIZED, HSA_EXT_SAMPLER_FILTER_MODE_NEAREST, HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_EDGE};
	q = queue(64);
	for (size_t i = 0; i < sizeof in; i++)
		(&in[0][0][0])[i] = (uint8_t)(i * 11 + i / 13);
	OK(hsa_ext_image_import(gpu, in, 0, 0, image, &all));
	OK(hsa_ext_sampler_create(gpu, &how, &nearest));
	how.address_mode = HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_BORDER;
	OK(hsa_ext_sampler_create(gpu, &how, &border));
	hsa_ext_sampler_descriptor_v2_t two = {HSA_EXT_SAMPLER_COORDINATE_MODE_NORMALIZED, HSA_EXT_SAMPLER_FILTER_MODE_NEAREST,
		{HSA_EXT_SAMPLER_ADDRESSING_MODE_REPEAT, HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_EDGE, HSA_EXT_SAMPLER_ADDRESSING_MODE_REPEAT}};
	OK(hsa_ext_sampler_create_v2(gpu, &two, &each));
	how.filter_mode = 7;
	EXPECT(hsa_ext_sampler_create(gpu, &how, &border), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	how.filter_mode = 0;
	how.address_mode = 9;
	EXPECT(hsa_ext_sampler_create(gpu, &how, &border), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_ext_sampler_create(cpu, &how, &border), HSA_STATUS_ERROR_INVALID_AGENT);
	how.address_mode = HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_BORDER;
	OK(hsa_ext_sampler_create(gpu, &how, &border));

	for (int i = 0; i < LANES; i++)
		at[i] = (four){{bits((float)i + 0.5f), bits((float)(i % H) + 0.5f)}};
	at[1].c[0] = bits(-5);
	run(&sample, image, nearest, at, got);
	for (int i = 0; i < LANES; i++) {
		const uint8_t *p = in[i % H][i == 1 ? 0 : i];
		SO(got[i].c[0] == bits((float)p[2] / 255) && got[i].c[2] == bits((float)p[0] / 255) && got[i].c[3] == bits((float)p[3] / 255));
	}
	run(&sample, image, border, at, got);
	SO(got[1].c[0] == 0 && got[1].c[3] == 0 && got[2].c[1] == bits((float)in[2][2][1] / 255));
	at[2] = (four){{bits(1 + 7.5f / W), bits(9)}}; /* around in x, the edge in y */
	run(&sample, image, each, at, got);
	SO(got[2].c[0] == bits((float)in[H - 1][7][2] / 255));

	/* the same memory as integers, and as a line of numbers */
	d.format = bytes;
	OK(hsa_ext_image_create_with_layout(gpu, &d, mem, HSA_ACCESS_PERMISSION_RO, HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR, 512, 0, &seen));
	EXPECT(hsa_ext_image_create_with_layout(gpu, &d, NULL, HSA_ACCESS_PERMISSION_RO, HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR, 512, 0, &buffer), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_ext_image_create(gpu, &d, (char *)mem + 64, HSA_ACCESS_PERMISSION_RO, &buffer), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	for (int i = 0; i < LANES; i++)
		at[i] = (four){{(uint32_t)i, (uint32_t)i % H}};
	run(&read, seen, (hsa_ext_sampler_t){0}, at, got);
	for (int i = 0; i < LANES; i++)
		for (int c = 0; c < 4; c++)
			SO(got[i].c[c] == in[i % H][i][c]);
	d = shape(HSA_EXT_IMAGE_GEOMETRY_1DB, 1 << 20, 0, 0, 0, one);
	buffer = make(&d, &line);
	float *numbers;
	OK(hsa_amd_memory_pool_allocate(fine, 4 << 20, 0, (void **)&numbers));
	for (int i = 0; i < 1 << 20; i++)
		numbers[i] = (float)i / 3;
	OK(hsa_ext_image_import(gpu, numbers, 0, 0, buffer, &(hsa_ext_image_region_t){{0, 0, 0}, {1 << 20, 1, 1}}));
	for (int i = 0; i < LANES; i++)
		at[i].c[0] = (uint32_t)(i * 16411);
	at[3].c[0] = 1 << 20;
	run(&fetch, buffer, (hsa_ext_sampler_t){0}, at, got);
	for (int i = 0; i < LANES; i++)
		SO(got[i].c[0] == (i == 3 ? 0 : bits((float)(i * 16411) / 3)));

	OK(hsa_ext_sampler_destroy(gpu, nearest));
	EXPECT(hsa_ext_sampler_destroy(gpu, nearest), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_ext_sampler_destroy(gpu, (hsa_ext_sampler_t){image.handle}), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	OK(hsa_ext_sampler_destroy(gpu, border));
	OK(hsa_ext_sampler_destroy(gpu, each));
	OK(hsa_ext_image_destroy(gpu, buffer));
	OK(hsa_ext_image_destroy(gpu, seen));
	OK(hsa_ext_image_destroy(gpu, image));
	OK(hsa_amd_memory_pool_free(numbers));
	OK(hsa_amd_memory_pool_free(line));
	OK(hsa_amd_memory_pool_free(mem));
	OK(hsa_queue_destroy(q));
	OK(hsa_executable_destroy(x));
}

int main(int argc, char **argv)
{
	OK(hsa_init());
	look();
	if (argc == 2) {
		asked();
		copies();
		kernels(argv[1]);
	} else {
		without();
	}
	OK(hsa_shut_down());
	printf(failures ? "hsa images: %d not so\n" : "hsa images: ok\n", failures);
	return failures;
}
