/* Calls HSA's functions with wrong arguments: hsa_garbage NAME…, and with no name says which there are. Each parameter takes each of its
 * values while the others are right, and then all are null, or as wrong as can be, together. It complains where a function answers
 * something else than it must, and where one that is refused writes anything. HSA_GARBAGE_MODULE names a code object. */
#include "zz_hsa_garbage.c"

struct objects live, stale;
_Alignas(4096) char buffers[16][MEMORY];
char file[1 << 20];
size_t file_size;

void right(const char *type, void *p)
{
	if (!strcmp(type, "hsa_agent_t"))
		*(hsa_agent_t *)p = gpu;
	else if (!strcmp(type, "hsa_signal_t"))
		*(hsa_signal_t *)p = live.signal;
	else if (!strcmp(type, "hsa_amd_pointer_info_t"))
		((hsa_amd_pointer_info_t *)p)->size = sizeof(hsa_amd_pointer_info_t);
	else if (!strcmp(type, "hsa_amd_memory_access_desc_t"))
		*(hsa_amd_memory_access_desc_t *)p = (hsa_amd_memory_access_desc_t){HSA_ACCESS_PERMISSION_RW, gpu};
	else if (!strcmp(type, "hsa_amd_svm_attribute_pair_t"))
		*(hsa_amd_svm_attribute_pair_t *)p = (hsa_amd_svm_attribute_pair_t){HSA_AMD_SVM_ATTRIB_READ_MOSTLY, 1};
	else if (!strcmp(type, "hsa_pitched_ptr_t"))
		*(hsa_pitched_ptr_t *)p = (hsa_pitched_ptr_t){live.memory, 64, 256};
	else if (!strcmp(type, "hsa_dim3_t"))
		*(hsa_dim3_t *)p = (hsa_dim3_t){4, 2, 2};
	else if (!strcmp(type, "hsa_ext_image_format_t"))
		*(hsa_ext_image_format_t *)p = (hsa_ext_image_format_t){HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT, HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA};
	else if (!strcmp(type, "hsa_ext_image_descriptor_t"))
		*(hsa_ext_image_descriptor_t *)p = (hsa_ext_image_descriptor_t){.geometry = HSA_EXT_IMAGE_GEOMETRY_2D, .width = 16, .height = 16,
			.format = {HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT, HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA}};
	else if (!strcmp(type, "hsa_ext_image_region_t"))
		((hsa_ext_image_region_t *)p)->range = (hsa_dim3_t){2, 2, 1};
	else if (!strcmp(type, "hsa_ext_sampler_descriptor_t") || !strcmp(type, "hsa_ext_sampler_descriptor_v2_t"))
		; /* zeros are one */
	else if (!strcmp(type, "hsa_amd_ipc_memory_t"))
		(void)hsa_amd_ipc_memory_create(live.memory, MEMORY, p);
}

static hsa_status_t first_region(hsa_region_t r, void *out) { return *(hsa_region_t *)out = r, HSA_STATUS_INFO_BREAK; }
static hsa_status_t first_isa(hsa_isa_t i, void *out) { return *(hsa_isa_t *)out = i, HSA_STATUS_INFO_BREAK; }
static hsa_status_t first_cache(hsa_cache_t c, void *out) { return *(hsa_cache_t *)out = c, HSA_STATUS_INFO_BREAK; }
static hsa_status_t first_wavefront(hsa_wavefront_t w, void *out) { return *(hsa_wavefront_t *)out = w, HSA_STATUS_INFO_BREAK; }

/* make has every object there, whatever the last call has destroyed. */
static void make(void)
{
	uint64_t v[64];
	void *p;
	hsa_amd_pointer_info_t info = {.size = sizeof info};
	hsa_ext_image_descriptor_t image;
	hsa_ext_sampler_descriptor_t sampler = {0};
	if (hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, v) != HSA_STATUS_SUCCESS) {
		OK(hsa_init());
		live = (struct objects){0};
		gpu.handle = 0;
		look();
	}
	live.agent = gpu, live.amd_memory_pool = coarse;
	hsa_agent_iterate_regions(gpu, first_region, &live.region);
	hsa_agent_iterate_isas(gpu, first_isa, &live.isa);
	hsa_agent_iterate_caches(gpu, first_cache, &live.cache);
	hsa_isa_iterate_wavefronts(live.isa, first_wavefront, &live.wavefront);
	if (hsa_amd_signal_value_pointer(live.signal, (void *)&p) != HSA_STATUS_SUCCESS)
		OK(hsa_signal_create(0, 0, NULL, &live.signal));
	hsa_signal_store_relaxed(live.signal, 0);
	if (hsa_amd_queue_set_priority(live.queue, HSA_AMD_QUEUE_PRIORITY_NORMAL) != HSA_STATUS_SUCCESS)
		OK(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0, &live.queue));
	if (!live.memory || hsa_amd_pointer_info(live.memory, &info, NULL, NULL, NULL) != HSA_STATUS_SUCCESS || info.sizeInBytes < MEMORY)
		OK(hsa_amd_memory_pool_allocate(coarse, MEMORY, 0, (void **)&live.memory));
	if (hsa_amd_vmem_get_alloc_properties_from_handle(live.amd_vmem_alloc_handle, (void *)v, (void *)(v + 1)) != HSA_STATUS_SUCCESS)
		OK(hsa_amd_vmem_handle_create(coarse, VMEM, MEMORY_TYPE_NONE, 0, &live.amd_vmem_alloc_handle));
	OK(hsa_amd_vmem_address_reserve((void **)&live.reserved, VMEM, 0, 0));
	OK(hsa_code_object_reader_create_from_memory(file, file_size, &live.code_object_reader));
	OK(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &live.unfrozen));
	if (hsa_executable_get_info(live.executable, HSA_EXECUTABLE_INFO_STATE, v) != HSA_STATUS_SUCCESS) {
		OK(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &live.executable));
		OK(hsa_executable_load_agent_code_object(live.executable, gpu, live.code_object_reader, NULL, NULL));
		OK(hsa_executable_freeze(live.executable, NULL));
		OK(hsa_executable_get_symbol_by_name(live.executable, "coefficients", &gpu, &live.executable_symbol));
	}
	if (hsa_code_symbol_get_info(live.code_symbol, HSA_CODE_SYMBOL_INFO_TYPE, v) != HSA_STATUS_SUCCESS) {
		OK(hsa_code_object_deserialize(file, file_size, NULL, &live.code_object));
		OK(hsa_code_object_get_symbol(live.code_object, "coefficients", &live.code_symbol));
	}
	memset(&image, 0, sizeof image);
	right("hsa_ext_image_descriptor_t", &image);
	OK(hsa_ext_image_create(gpu, &image, live.memory, HSA_ACCESS_PERMISSION_RW, &live.ext_image));
	OK(hsa_ext_sampler_create(gpu, &sampler, &live.ext_sampler));
	live.callback_data.handle = (uintptr_t)buffers[12];
}

/* retire makes what is there into what is no more. */
static void retire(void)
{
	make();
	stale = live;
	stale.agent.handle = stale.isa.handle = stale.cache.handle = stale.wavefront.handle = stale.region.handle = stale.amd_memory_pool.handle = 0;
	live = (struct objects){0};
	make(); /* so that what takes its place is not the same */
	OK(hsa_signal_destroy(stale.signal));
	OK(hsa_queue_destroy(stale.queue));
	OK(hsa_ext_image_destroy(gpu, stale.ext_image));
	OK(hsa_ext_sampler_destroy(gpu, stale.ext_sampler));
	OK(hsa_amd_memory_pool_free(stale.memory));
	OK(hsa_amd_vmem_handle_release(stale.amd_vmem_alloc_handle));
	OK(hsa_code_object_reader_destroy(stale.code_object_reader));
	OK(hsa_executable_destroy(stale.executable));
	OK(hsa_executable_destroy(stale.unfrozen));
	OK(hsa_code_object_destroy(stale.code_object));
}

static int choices(char letter)
{
	switch (letter) {
	case 'h': case 'o': return 7;
	case 'q': case 't': case 'f': return 5;
	case 'a': return 9;
	case 'm': return 6;
	case 'z': case 'i': return 8;
	case 'b': return 4;
	case 'w': return 3;
	default: return 2; /* c, n, x, d */
	}
}

static int answered; /* by something else than HSA_STATUS_ERROR */

static void call(const struct function *f, const int *v, bool open)
{
	const char *why = NULL, *words;
	static char before[sizeof buffers];
	int nulls = 0, foreign = 0, n = (int)strlen(f->letters);
	for (int i = 0; i < n; i++) {
		nulls += v[i] == 1 && f->needed[i] == '!';
		foreign += v[i] != 0 && (f->letters[i] == 'h' || f->letters[i] == 'q');
	}
	if (open)
		make();
	long st;
	if (f->kind == REFUSED) { /* once for what the buffers are filled with, and then for what becomes of it */
		f->run(v);
		memcpy(before, buffers, sizeof buffers);
	}
	st = f->run(v);
	if (st == NO_STATUS) {
		answered++;
		return;
	}
	if (hsa_status_string((hsa_status_t)st, &words) != HSA_STATUS_SUCCESS)
		why = "that is no status";
	else if (!open && f->kind != EARLY && st != HSA_STATUS_ERROR_NOT_INITIALIZED)
		why = "before hsa_init";
	else if (open && nulls && st != HSA_STATUS_ERROR_INVALID_ARGUMENT)
		why = "of null it should be HSA_STATUS_ERROR_INVALID_ARGUMENT";
	else if (open && foreign && (st == HSA_STATUS_SUCCESS || st == HSA_STATUS_INFO_BREAK))
		why = "of a handle of nothing";
	else if (open && f->kind == REFUSED && !nulls && st != HSA_STATUS_ERROR)
		why = "what is not there answers HSA_STATUS_ERROR";
	else if (f->kind == REFUSED && memcmp(before, buffers, sizeof buffers))
		why = "it wrote";
	if (open && st != HSA_STATUS_ERROR)
		answered++;
	bool verbose = getenv("HSA_GARBAGE_VERBOSE") != NULL;
	if (!why && !verbose)
		return;
	printf("%s%s(", why ? "WRONG " : "", f->name);
	for (int i = 0; i < n; i++)
		printf(" %c%d", f->letters[i], v[i]);
	printf(" ) = %#lx%s%s\n", (unsigned long)st, why ? ": " : "", why ? why : "");
	failures += why != NULL;
}

static void all(const struct function *f, bool open)
{
	int v[16] = {0}, n = (int)strlen(f->letters);
	call(f, v, open);
	for (int p = 0; p < n; p++) {
		for (int k = 1; k < choices(f->letters[p]); k++) {
			memset(v, 0, sizeof v);
			v[p] = k;
			call(f, v, open);
		}
	}
	for (int last = 0; last < 2 && n > 0; last++) { /* all null, and all as wrong as can be */
		for (int p = 0; p < n; p++)
			v[p] = last && f->letters[p] != 'x' ? choices(f->letters[p]) - 1 : 1;
		call(f, v, open);
	}
}

static int garbage(const struct function *f)
{
	int before = failures;
	answered = 0;
	printf("%s\n", f->name);
	if (f->kind != EARLY)
		all(f, false);
	retire();
	all(f, true);
	if (f->kind == WORKS && !answered) {
		printf("WRONG %s answered nothing but HSA_STATUS_ERROR\n", f->name);
		failures++;
	}
	make(); /* the library lives */
	hsa_signal_store_relaxed(live.signal, 4711);
	SO(hsa_signal_load_relaxed(live.signal) == 4711);
	OK(hsa_memory_copy(live.memory, buffers[0], 4096));
	while (hsa_shut_down() == HSA_STATUS_SUCCESS)
		;
	live = stale = (struct objects){0};
	return failures - before;
}

int main(int argc, char **argv)
{
	const struct function *f = functions;
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 1) {
		for (; f->name; f++)
			printf("%s\n", f->name);
		return 0;
	}
	FILE *in = fopen(getenv("HSA_GARBAGE_MODULE"), "rb");
	if (!in)
		return 99;
	file_size = fread(file, 1, sizeof file, in);
	fclose(in);
	for (int i = 1; i < argc; i++)
		for (f = functions; f->name; f++)
			if (!strcmp(f->name, argv[i]) && !garbage(f))
				printf("hsa garbage: %s ok\n", f->name);
	return failures > 99 ? 99 : failures;
}
