/* HSA as a program uses it that writes packets itself: hsa VECTOR_ADD.co FAULT.co SPIN.co VARIABLES.co.
 * The exit status is the number of things that were not so. */
#include <pthread.h>

#include "hsa_kernels.h"

static hsa_status_t stop(hsa_agent_t a, void *data)
{
	(void)a;
	++*(int *)data;
	return HSA_STATUS_INFO_BREAK;
}

static void life(void)
{
	const char *words;
	uint64_t v;
	int calls = 0;
	EXPECT(hsa_shut_down(), HSA_STATUS_ERROR_NOT_INITIALIZED);
	EXPECT(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &v), HSA_STATUS_ERROR_NOT_INITIALIZED);
	EXPECT(hsa_iterate_agents(on_agent, NULL), HSA_STATUS_ERROR_NOT_INITIALIZED);
	OK(hsa_status_string(HSA_STATUS_ERROR_INVALID_AGENT, &words));
	SO(strstr(words, "INVALID_AGENT"));
	EXPECT(hsa_status_string((hsa_status_t)12345, &words), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	for (int i = 0; i < 3; i++) { /* again and again, and counted */
		OK(hsa_init());
		OK(hsa_init());
		OK(hsa_shut_down());
		OK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &v));
		OK(hsa_shut_down());
		EXPECT(hsa_shut_down(), HSA_STATUS_ERROR_NOT_INITIALIZED);
	}
	OK(hsa_init());
	EXPECT(hsa_system_get_info((hsa_system_info_t)9999, &v), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_iterate_agents(NULL, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_iterate_agents(stop, &calls), HSA_STATUS_INFO_BREAK);
	SO(calls == 1);
	OK(hsa_iterate_agents(on_agent, NULL));
	SO(cpu.handle && gpu.handle);
}

static hsa_status_t on_isa(hsa_isa_t isa, void *data)
{
	char name[64];
	hsa_isa_t same;
	bool fits = false;
	(void)data;
	OK(hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME, name));
	OK(hsa_isa_from_name(name, &same));
	SO(same.handle == isa.handle);
	OK(hsa_isa_compatible(isa, same, &fits));
	SO(fits);
	EXPECT(hsa_isa_from_name("amdgcn-amd-amdhsa--gfx000", &same), HSA_STATUS_ERROR_INVALID_ISA_NAME);
	return HSA_STATUS_SUCCESS;
}

static void agents(void)
{
	char name[64];
	uint32_t n;
	hsa_agent_t wrong[] = {{0}, {1}, {gpu.handle + 1000}, {UINT64_MAX}};
	OK(hsa_agent_get_info(gpu, HSA_AGENT_INFO_NAME, name));
	SO(strncmp(name, "gfx", 3) == 0);
	OK(hsa_agent_get_info(gpu, HSA_AGENT_INFO_WAVEFRONT_SIZE, &n));
	SO(n == 64);
	uint64_t hertz = 0;
	OK(hsa_agent_get_info(gpu, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_TIMESTAMP_FREQUENCY, &hertz));
	SO(hertz == 100000000); /* as s_memrealtime counts: not what the system's times count in */
	EXPECT(hsa_agent_get_info(gpu, (hsa_agent_info_t)0x7777, &n), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		hsa_queue_t *q;
		EXPECT(hsa_agent_get_info(wrong[i], HSA_AGENT_INFO_WAVEFRONT_SIZE, &n), HSA_STATUS_ERROR_INVALID_AGENT);
		EXPECT(hsa_amd_agent_iterate_memory_pools(wrong[i], on_pool, NULL), HSA_STATUS_ERROR_INVALID_AGENT);
		EXPECT(hsa_queue_create(wrong[i], 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0, &q), HSA_STATUS_ERROR_INVALID_AGENT);
	}
	OK(hsa_agent_iterate_isas(gpu, on_isa, NULL));
	OK(hsa_amd_agent_iterate_memory_pools(cpu, on_pool, NULL));
	OK(hsa_amd_agent_iterate_memory_pools(gpu, on_pool, &n));
	SO(fine.handle && kernarg.handle && coarse.handle);
}

/* extensions are told of cards, as their bits tell them; the processor has none. */
static void extensions(void)
{
	uint8_t bits[128];
	uint16_t numbers[] = {0, 1, 2, 3, 512, 513, 514, 515}, unknown[] = {4, 511, 516, 65535}, minor;
	hsa_agent_t wrong = {gpu.handle + 1000};
	bool has;
	OK(hsa_agent_get_info(gpu, HSA_AGENT_INFO_EXTENSIONS, bits));
	SO(bits[HSA_EXTENSION_IMAGES / 8] >> HSA_EXTENSION_IMAGES % 8 & 1);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		uint16_t x = numbers[i];
		bool bit = bits[x / 8] >> x % 8 & 1;
		has = !bit, minor = 77;
		OK(hsa_agent_extension_supported(x, gpu, 1, 0, &has));
		SO(has == bit);
		has = !bit;
		OK(hsa_agent_major_extension_supported(x, gpu, 1, &minor, &has));
		SO(has == bit && minor == (bit ? 0 : 77));
		has = true;
		OK(hsa_agent_extension_supported(x, gpu, 1, 1, &has));
		SO(!has);
		has = true;
		OK(hsa_agent_extension_supported(x, gpu, 2, 0, &has));
		SO(!has);
		has = true;
		OK(hsa_agent_major_extension_supported(x, gpu, 2, &minor, &has));
		SO(!has);
		has = true;
		OK(hsa_agent_extension_supported(x, cpu, 1, 0, &has));
		SO(!has);
		has = true;
		EXPECT(hsa_agent_extension_supported(x, wrong, 1, 0, &has), HSA_STATUS_ERROR_INVALID_AGENT);
		SO(!has); /* said before the agent is looked at */
	}
	for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
		has = true;
		EXPECT(hsa_agent_extension_supported(unknown[i], wrong, 1, 0, &has), HSA_STATUS_ERROR_INVALID_ARGUMENT);
		EXPECT(hsa_agent_major_extension_supported(unknown[i], wrong, 1, &minor, &has), HSA_STATUS_ERROR_INVALID_ARGUMENT);
		SO(has); /* and nothing is said of what there is no number of */
	}
	EXPECT(hsa_agent_extension_supported(1, gpu, 1, 0, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_agent_major_extension_supported(1, gpu, 1, NULL, &has), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

/* A card's coherency type is what was set; the processor has none. */
static void coherency(void)
{
	hsa_agent_t wrong = {gpu.handle + 1000};
	hsa_amd_coherency_type_t t = 7, bad = 2;
	OK(hsa_amd_coherency_get_type(gpu, &t));
	SO(t == HSA_AMD_COHERENCY_TYPE_NONCOHERENT);
	OK(hsa_amd_coherency_set_type(gpu, HSA_AMD_COHERENCY_TYPE_COHERENT));
	OK(hsa_amd_coherency_get_type(gpu, &t));
	SO(t == HSA_AMD_COHERENCY_TYPE_COHERENT);
	EXPECT(hsa_amd_coherency_set_type(gpu, bad), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_amd_coherency_set_type(gpu, (hsa_amd_coherency_type_t)-1), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_amd_coherency_set_type(wrong, bad), HSA_STATUS_ERROR_INVALID_AGENT); /* agents first */
	EXPECT(hsa_amd_coherency_set_type(cpu, bad), HSA_STATUS_ERROR_INVALID_ARGUMENT); /* then the type, then whether it is a card */
	EXPECT(hsa_amd_coherency_set_type(cpu, HSA_AMD_COHERENCY_TYPE_COHERENT), HSA_STATUS_ERROR_INVALID_AGENT);
	EXPECT(hsa_amd_coherency_get_type(cpu, &t), HSA_STATUS_ERROR_INVALID_AGENT);
	EXPECT(hsa_amd_coherency_get_type(gpu, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	OK(hsa_amd_coherency_get_type(gpu, &t));
	SO(t == HSA_AMD_COHERENCY_TYPE_COHERENT); /* what was refused changed nothing */
	OK(hsa_amd_coherency_set_type(gpu, HSA_AMD_COHERENCY_TYPE_NONCOHERENT));
}

/* What copies and fills memory of one card has done it when it says so: by returning, or by its signal. */
static void made(void)
{
	const size_t size = 32 << 20, words = size / 4;
	uint32_t *p, *q;
	hsa_signal_t done;
	hsa_dim3_t at = {0, 0, 0}, box = {(uint32_t)(size / 1024), 1024, 1};
	OK(hsa_amd_memory_pool_allocate(coarse, size, 0, (void **)&p));
	OK(hsa_amd_memory_pool_allocate(coarse, size, 0, (void **)&q));
	OK(hsa_signal_create(1, 0, NULL, &done));
	for (uint32_t i = 1; i < 20; i += 4) {
		OK(hsa_amd_memory_fill(p, i, words));
		SO(p[0] == i && p[words - 1] == i);
		OK(hsa_memory_copy(q, p, size));
		SO(q[0] == i && q[words - 1] == i);
		p[0] = p[words - 1] = i + 1;
		OK(hsa_amd_memory_async_copy(q, gpu, p, gpu, size, 0, NULL, done));
		SO(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_ACTIVE) == 0);
		SO(q[0] == i + 1 && q[words - 1] == i + 1);
		p[0] = p[words - 1] = i + 2;
		hsa_signal_store_relaxed(done, 1);
		hsa_pitched_ptr_t from = {p, size / 1024, size}, to = {q, size / 1024, size};
		OK(hsa_amd_memory_async_copy_rect(&to, &at, &from, &at, &box, gpu, 0, 0, NULL, done));
		SO(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_ACTIVE) == 0);
		SO(q[0] == i + 2 && q[words - 1] == i + 2);
		hsa_signal_store_relaxed(done, 1);
	}
	OK(hsa_signal_destroy(done));
	OK(hsa_amd_memory_pool_free(p));
	OK(hsa_amd_memory_pool_free(q));
}

/* Logging is of packets that the library makes for copies and fills: it makes none, so its stream stays empty. */
static void logging(void)
{
	uint8_t flags[8] = {1 << HSA_AMD_LOG_FLAG_BLIT_KERNEL_PKTS};
	char *p, *q;
	FILE *log = tmpfile();
	SO(log != NULL);
	EXPECT(hsa_amd_enable_logging(NULL, log), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	OK(hsa_amd_enable_logging(flags, log));
	OK(hsa_amd_memory_pool_allocate(coarse, 1 << 16, 0, (void **)&p));
	OK(hsa_amd_memory_pool_allocate(coarse, 1 << 16, 0, (void **)&q));
	OK(hsa_amd_memory_fill(p, 0x01020304, 1 << 14));
	OK(hsa_memory_copy(q, p, 1 << 16));
	SO(q[0] == 4 && q[65535] == 1);
	OK(hsa_amd_memory_pool_free(p));
	OK(hsa_amd_memory_pool_free(q));
	flags[0] = 0;
	OK(hsa_amd_enable_logging(flags, NULL));
	SO(ftell(log) == 0 && fseek(log, 0, SEEK_END) == 0 && ftell(log) == 0);
	fclose(log);
}

static void memory(void)
{
	char *p = NULL, *q = NULL;
	void *twin;
	char *mine = aligned_alloc(4096, 8192);
	hsa_amd_pointer_info_t info = {.size = sizeof info};
	uint32_t access, n;
	hsa_agent_t *who;
	EXPECT(hsa_amd_memory_pool_allocate(coarse, 0, 0, (void **)&p), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_amd_memory_pool_allocate(coarse, UINT64_MAX, 0, (void **)&p), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_amd_memory_pool_allocate(coarse, (size_t)1 << 46, 0, (void **)&p), HSA_STATUS_ERROR_INVALID_ALLOCATION);
	EXPECT(hsa_amd_memory_pool_allocate((hsa_amd_memory_pool_t){7}, 64, 0, (void **)&p), HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
	OK(hsa_amd_memory_pool_allocate(coarse, 1 << 20, 0, (void **)&p));
	OK(hsa_amd_memory_pool_allocate(fine, 5000, 0, (void **)&q));
	memset(q, 7, 5000);
	OK(hsa_memory_copy(p + 100, q, 5000));
	OK(hsa_amd_memory_fill(p, 0x01020304, 25));
	OK(hsa_memory_copy(q, p, 5000));
	SO(q[0] == 4 && q[99] == 1 && q[100] == 7);
	EXPECT(hsa_amd_memory_fill(p + 1, 0, 1), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	OK(hsa_amd_agent_memory_pool_get_info(cpu, coarse, HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS, &access));
	SO(access == HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT);
	OK(hsa_amd_agents_allow_access(1, &cpu, NULL, p));
	EXPECT(hsa_amd_agents_allow_access(0, &cpu, NULL, p), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_amd_agents_allow_access(1, &cpu, NULL, mine), HSA_STATUS_ERROR);
	OK(hsa_amd_pointer_info(p + 4097, &info, malloc, &n, &who));
	SO(info.type == HSA_EXT_POINTER_TYPE_HSA && info.agentBaseAddress == p && info.sizeInBytes == 1 << 20 && info.agentOwner.handle == gpu.handle);
	SO(n == 2 && who[0].handle == gpu.handle && who[1].handle == cpu.handle);
	free(who);
	OK(hsa_amd_pointer_info_set_userdata(p, mine));
	OK(hsa_amd_pointer_info(p, &info, NULL, NULL, NULL));
	SO(info.userData == mine);
	OK(hsa_amd_pointer_info(mine, &info, NULL, NULL, NULL));
	SO(info.type == HSA_EXT_POINTER_TYPE_UNKNOWN);
	OK(hsa_amd_memory_lock(mine, 8192, &gpu, 1, &twin));
	SO(twin == mine);
	OK(hsa_amd_memory_lock(mine, 4096, NULL, 0, &twin));
	OK(hsa_amd_pointer_info(mine + 5000, &info, NULL, NULL, NULL));
	SO(info.type == HSA_EXT_POINTER_TYPE_LOCKED && info.hostBaseAddress == mine);
	OK(hsa_amd_memory_unlock(mine));
	OK(hsa_amd_memory_unlock(mine));
	EXPECT(hsa_amd_memory_unlock(mine), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_amd_memory_pool_free(p + 64), HSA_STATUS_ERROR_INVALID_ALLOCATION);
	OK(hsa_amd_memory_pool_free(p));
	EXPECT(hsa_amd_memory_pool_free(p), HSA_STATUS_ERROR_INVALID_ALLOCATION);
	OK(hsa_amd_memory_pool_free(q));
	OK(hsa_amd_memory_pool_free(NULL));
	free(mine);
}

static void *later(void *arg)
{
	usleep(20000);
	hsa_signal_store_screlease(*(hsa_signal_t *)arg, 5);
	return NULL;
}

static void *destroys(void *arg)
{
	usleep(20000);
	OK(hsa_signal_destroy(*(hsa_signal_t *)arg));
	return NULL;
}

static atomic_int called;

static bool handler(hsa_signal_value_t v, void *arg)
{
	(void)v;
	return atomic_fetch_add((atomic_int *)arg, 1) < 2; /* three times */
}

static void signals(void)
{
	hsa_signal_t s, t, wrong[] = {{0}, {8}, {(uint64_t)(uintptr_t)&s}, {UINT64_MAX}};
	hsa_signal_value_t v, *at, values[] = {1, 5};
	hsa_signal_condition_t conds[] = {HSA_SIGNAL_CONDITION_EQ, HSA_SIGNAL_CONDITION_GTE};
	pthread_t thread;
	hsa_agent_t twice[] = {cpu, cpu};
	OK(hsa_signal_create(3, 0, NULL, &s));
	EXPECT(hsa_signal_create(3, 2, twice, &t), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_signal_create(3, 1, NULL, &t), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	hsa_signal_add_relaxed(s, 4);
	SO(hsa_signal_load_relaxed(s) == 7);
	hsa_signal_subtract_scacq_screl(s, 1);
	hsa_signal_and_scacquire(s, 12);
	hsa_signal_or_screlease(s, 1);
	hsa_signal_xor_relaxed(s, 4);
	SO(hsa_signal_load_scacquire(s) == 1);
	SO(hsa_signal_exchange_scacq_screl(s, -9) == 1);
	SO(hsa_signal_cas_scacq_screl(s, 4, 5) == -9 && hsa_signal_cas_relaxed(s, -9, 6) == -9);
	SO(hsa_signal_load_relaxed(s) == 6);
	OK(hsa_amd_signal_value_pointer(s, (volatile hsa_signal_value_t **)&at));
	SO(*at == 6);
	SO(hsa_signal_wait_scacquire(s, HSA_SIGNAL_CONDITION_EQ, 0, 2000000, HSA_WAIT_STATE_BLOCKED) == 6);
	SO(hsa_signal_wait_scacquire(s, HSA_SIGNAL_CONDITION_LT, 7, UINT64_MAX, HSA_WAIT_STATE_ACTIVE) == 6);
	pthread_create(&thread, NULL, later, &s);
	SO(hsa_signal_wait_scacquire(s, HSA_SIGNAL_CONDITION_EQ, 5, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) == 5);
	pthread_join(thread, NULL);
	OK(hsa_signal_create(0, 0, NULL, &t));
	pthread_create(&thread, NULL, later, &t);
	SO(hsa_amd_signal_wait_any(2, (hsa_signal_t[]){s, t}, (hsa_signal_condition_t[]){0, 0}, (hsa_signal_value_t[]){77, 5}, UINT64_MAX, HSA_WAIT_STATE_BLOCKED,
		   &v) == 1);
	SO(v == 5);
	pthread_join(thread, NULL);
	SO(hsa_amd_signal_wait_any(2, (hsa_signal_t[]){s, t}, conds, (hsa_signal_value_t[]){77, 78}, 2000000, HSA_WAIT_STATE_BLOCKED, &v) == UINT32_MAX);
	hsa_signal_store_relaxed(s, 1);
	SO(hsa_amd_signal_wait_all(2, (hsa_signal_t[]){s, t}, conds, values, UINT64_MAX, HSA_WAIT_STATE_BLOCKED, NULL) == 0);
	OK(hsa_amd_signal_async_handler(t, HSA_SIGNAL_CONDITION_EQ, 9, handler, &called));
	EXPECT(hsa_amd_signal_async_handler(t, HSA_SIGNAL_CONDITION_EQ, 9, NULL, &called), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	usleep(5000);
	SO(atomic_load(&called) == 0);
	hsa_signal_store_relaxed(t, 9);
	for (int i = 0; i < 20000 && atomic_load(&called) < 3; i++)
		usleep(1000);
	usleep(5000);
	SO(atomic_load(&called) == 3);
	pthread_create(&thread, NULL, destroys, &t); /* under who waits for it */
	hsa_signal_wait_scacquire(t, HSA_SIGNAL_CONDITION_EQ, 1000, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
	pthread_join(thread, NULL);
	EXPECT(hsa_signal_destroy(t), HSA_STATUS_ERROR_INVALID_SIGNAL);
	SO(hsa_signal_load_relaxed(t) == 0);
	hsa_signal_store_relaxed(t, 1);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		EXPECT(hsa_signal_destroy(wrong[i]), wrong[i].handle ? HSA_STATUS_ERROR_INVALID_SIGNAL : HSA_STATUS_ERROR_INVALID_ARGUMENT);
		EXPECT(hsa_amd_signal_async_handler(wrong[i], HSA_SIGNAL_CONDITION_EQ, 9, handler, &called), HSA_STATUS_ERROR_INVALID_SIGNAL);
		SO(hsa_signal_load_relaxed(wrong[i]) == 0);
		hsa_signal_add_relaxed(wrong[i], 1);
	}
	OK(hsa_signal_destroy(s));
	hsa_signal_t *many = malloc(40000 * sizeof *many); /* more than there was room for at first */
	for (int i = 0; i < 40000; i++)
		OK(hsa_signal_create(i, 0, NULL, &many[i]));
	for (int i = 0; i < 40000; i++) {
		SO(hsa_signal_load_relaxed(many[i]) == i);
		OK(hsa_signal_destroy(many[i]));
	}
	free(many);
}

enum { N = 4096, PRODUCERS = 4, EACH = 100 };

static struct {
	hsa_queue_t *q;
	struct kernel k;
	void *args;
	hsa_signal_t done;
} shared;

static void *produces(void *unused)
{
	(void)unused;
	hsa_kernel_dispatch_packet_t p = packet(&shared.k, shared.args, 64, 64, shared.done);
	for (int i = 0; i < EACH; i++)
		submit(shared.q, &p);
	return NULL;
}

static void dispatches(const char *path)
{
	hsa_executable_t x = load(path);
	struct kernel k = find(x, "vector_add.kd");
	float *a;
	hsa_signal_t done, first;
	hsa_amd_profiling_dispatch_time_t when;
	OK(hsa_amd_memory_pool_allocate(coarse, 3 * N * sizeof *a, 0, (void **)&a));
	float *host;
	OK(hsa_amd_memory_pool_allocate(fine, 3 * N * sizeof *a, 0, (void **)&host));
	for (int i = 0; i < N; i++)
		host[i] = (float)i, host[N + i] = 2 * (float)i;
	OK(hsa_memory_copy(a, host, 2 * N * sizeof *a));
	struct {
		float *a, *b, *c;
		int32_t n;
	} arg = {a, a + N, a + 2 * N, N};
	void *args = arguments(&k, &arg, sizeof arg, N, 256);
	OK(hsa_signal_create(1, 0, NULL, &done));
	OK(hsa_signal_create(1, 0, NULL, &first));
	hsa_queue_t *q = queue(64);
	SO(q->size == 64);
	hsa_kernel_dispatch_packet_t p = packet(&k, args, N, 256, done);
	submit(q, &p);
	SO(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) == 0);
	OK(hsa_amd_profiling_get_dispatch_time(gpu, done, &when));
	SO(when.end > when.start && when.start > 0);
	OK(hsa_memory_copy(host + 2 * N, a + 2 * N, N * sizeof *a));
	for (int i = 0; i < N; i++)
		SO(host[2 * N + i] == 3 * (float)i);

	/* A copy behind a kernel that is behind a barrier, all of which wait for one signal. */
	hsa_signal_t copied;
	OK(hsa_signal_create(1, 0, NULL, &copied));
	hsa_signal_store_relaxed(done, 1);
	OK(hsa_amd_memory_fill(a + 2 * N, 0, N));
	hsa_barrier_and_packet_t wait = {.header = HSA_PACKET_TYPE_BARRIER_AND | 1 << HSA_PACKET_HEADER_BARRIER, .dep_signal = {{0}, first}};
	submit(q, &wait);
	submit(q, &p);
	OK(hsa_amd_memory_async_copy(host + 2 * N, cpu, a + 2 * N, gpu, N * sizeof *a, 1, &done, copied));
	memset(host + 2 * N, 0, N * sizeof *a);
	usleep(10000);
	SO(hsa_signal_load_scacquire(done) == 1 && hsa_signal_load_scacquire(copied) == 1);
	hsa_signal_subtract_relaxed(first, 1);
	SO(hsa_signal_wait_scacquire(copied, HSA_SIGNAL_CONDITION_EQ, 0, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) == 0);
	SO(host[3 * N - 1] == 3 * (float)(N - 1));

	/* Either of two signals, and a value. */
	OK(hsa_amd_profiling_get_dispatch_time(gpu, done, &when));
	const uint64_t kernel_end = when.end;
	hsa_signal_store_relaxed(first, 2);
	hsa_signal_store_relaxed(copied, 2);
	hsa_signal_store_relaxed(done, 1);
	hsa_barrier_or_packet_t either = {.header = HSA_PACKET_TYPE_BARRIER_OR, .dep_signal = {first, copied}, .completion_signal = done};
	submit(q, &either);
	usleep(3000);
	SO(hsa_signal_load_relaxed(done) == 1);
	hsa_signal_store_relaxed(copied, 0);
	SO(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_EQ, 0, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) == 0);
	OK(hsa_amd_profiling_get_dispatch_time(gpu, done, &when)); /* times are taken of barriers, too */
	SO(when.start > 0 && when.end >= when.start && when.start > kernel_end);
	hsa_signal_store_relaxed(done, 1);
	hsa_amd_barrier_value_packet_t value = {.header = {.header = HSA_PACKET_TYPE_VENDOR_SPECIFIC, .AmdFormat = HSA_AMD_PACKET_TYPE_BARRIER_VALUE},
		.signal = first, .value = 0x30, .mask = 0xf0, .cond = HSA_SIGNAL_CONDITION_GTE, .completion_signal = done};
	submit(q, &value);
	usleep(3000);
	SO(hsa_signal_load_relaxed(done) == 1);
	hsa_signal_store_relaxed(first, 0x1234);
	SO(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_EQ, 0, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) == 0);

	/* Several producers, and more packets than the ring has room for. */
	pthread_t threads[PRODUCERS];
	shared.q = q, shared.k = k, shared.args = args, shared.done = done;
	hsa_signal_store_relaxed(done, PRODUCERS * EACH);
	for (int i = 0; i < PRODUCERS; i++)
		pthread_create(&threads[i], NULL, produces, NULL);
	for (int i = 0; i < PRODUCERS; i++)
		pthread_join(threads[i], NULL);
	SO(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_EQ, 0, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) == 0);
	SO(atomic_load(&queue_error) == 0);

	/* What has no packets. */
	uint32_t mask[10] = {0}, all[10] = {0}, none = 0;
	OK(hsa_amd_queue_cu_get_mask(q, 320, all));
	SO(all[0] == UINT32_MAX);
	EXPECT(hsa_amd_queue_cu_set_mask(q, 31, mask), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	mask[0] = 3;
	OK(hsa_amd_queue_cu_set_mask(q, 32, &none)); /* all */
	OK(hsa_amd_queue_cu_get_mask(q, 320, all));
	SO(all[0] == UINT32_MAX);
	OK(hsa_amd_queue_cu_set_mask(q, 32, mask));
	OK(hsa_amd_queue_cu_get_mask(q, 320, all));
	SO(all[0] == 3 && all[1] == 0);
	hsa_signal_store_relaxed(done, 1);
	submit(q, &p);
	SO(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_EQ, 0, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) == 0);
	OK(hsa_queue_destroy(q));
	EXPECT(hsa_queue_destroy(q), HSA_STATUS_ERROR_INVALID_QUEUE);
	EXPECT(hsa_queue_create(gpu, 100, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0, &q), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_queue_create(gpu, 1 << 30, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0, &q), HSA_STATUS_ERROR_INVALID_QUEUE_CREATION);
	EXPECT(hsa_queue_create(cpu, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0, &q), HSA_STATUS_ERROR_INVALID_QUEUE_CREATION);
	OK(hsa_executable_destroy(x));
	EXPECT(hsa_executable_destroy(x), HSA_STATUS_ERROR_INVALID_EXECUTABLE);
	OK(hsa_amd_memory_pool_free(a));
	OK(hsa_amd_memory_pool_free(host));
	OK(hsa_amd_memory_pool_free(args));
	OK(hsa_signal_destroy(done));
	OK(hsa_signal_destroy(first));
	OK(hsa_signal_destroy(copied));
}

/* fails submits a packet that must end its queue with an error. */
static void fails(const void *what, hsa_status_t want)
{
	hsa_queue_t *q = queue(64);
	atomic_store(&queue_error, 0);
	submit(q, what);
	for (int i = 0; i < 20000 && atomic_load(&queue_error) == 0; i++)
		usleep(1000);
	EXPECT(atomic_load(&queue_error), want);
	OK(hsa_queue_destroy(q));
	atomic_store(&queue_error, 0);
}

static hsa_amd_event_t event;
static atomic_int events;

static hsa_status_t on_event(const hsa_amd_event_t *e, void *data)
{
	*(hsa_amd_event_t *)data = *e;
	atomic_fetch_add(&events, 1);
	return HSA_STATUS_SUCCESS;
}

/* Memory that is locked in parts which overlap is reached until the last of them is unlocked. */
static void locks(const char *vector_add)
{
	hsa_executable_t x = load(vector_add);
	struct kernel add = find(x, "vector_add.kd");
	char *mine = aligned_alloc(4096, 4 * 4096);
	void *twin;
	hsa_signal_t done;
	hsa_amd_pointer_info_t info = {.size = sizeof info};
	OK(hsa_signal_create(1, 0, NULL, &done));
	memset(mine, 0, 4 * 4096);
	OK(hsa_amd_memory_lock(mine + 4096, 4096, NULL, 0, &twin));
	OK(hsa_amd_memory_lock(mine, 2 * 4096, NULL, 0, &twin)); /* and before it */
	OK(hsa_amd_memory_lock(mine + 5000, 2 * 4096, NULL, 0, &twin)); /* and behind */
	OK(hsa_amd_memory_lock(mine + 4096, 8192, NULL, 0, &twin)); /* longer than before */
	OK(hsa_amd_memory_lock(mine + 6000, 8, NULL, 0, &twin));
	OK(hsa_amd_pointer_info(mine + 4096 + 8191, &info, NULL, NULL, NULL));
	SO(info.type == HSA_EXT_POINTER_TYPE_LOCKED);
	void *in_turn[] = {mine, mine + 4096, mine + 4096, mine + 6000};
	hsa_queue_t *q = queue(64);
	uint32_t *p = (uint32_t *)(mine + 6000);
	struct {
		void *a, *b, *c;
		uint32_t n;
	} sets = {p, p + 1, p + 2, 1};
	void *args = arguments(&add, &sets, sizeof sets, 64, 64);
	for (int i = 0; i < 4; i++) {
		OK(hsa_amd_memory_unlock(in_turn[i]));
		p[0] = 0x3f800000; /* 1.0 */
		p[2] = 0;
		hsa_kernel_dispatch_packet_t k = packet(&add, args, 64, 64, done);
		submit(q, &k);
		SO(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) == 0);
		SO(p[2] == 0x3f800000);
		hsa_signal_store_screlease(done, 1);
	}
	OK(hsa_amd_memory_unlock(mine + 5000));
	for (int i = 0; i < 4; i++)
		EXPECT(hsa_amd_memory_unlock(in_turn[i]), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_amd_memory_unlock(mine + 5000), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	OK(hsa_amd_pointer_info(mine + 6000, &info, NULL, NULL, NULL));
	SO(info.type == HSA_EXT_POINTER_TYPE_UNKNOWN);
	OK(hsa_queue_destroy(q));
	OK(hsa_amd_memory_pool_free(args));
	OK(hsa_signal_destroy(done));
	OK(hsa_executable_destroy(x));
	free(mine);
}

/* A kernel that waits for another one of its queue, which needs not wait for it; one with the barrier bit waits for both. */
static void beside(const char *vector_add, const char *spin)
{
	hsa_executable_t x = load(vector_add), y = load(spin);
	struct kernel add = find(x, "vector_add.kd"), until = find(y, "spin_until.kd");
	uint32_t *p;
	hsa_signal_t done;
	OK(hsa_amd_memory_pool_allocate(fine, 4096, 0, (void **)&p));
	memset(p, 0, 4096);
	OK(hsa_signal_create(3, 0, NULL, &done));
	p[1] = p[2] = 0x3f800000; /* 1.0 */
	struct {
		void *flag, *out;
	} waits = {p, p + 100};
	struct {
		void *a, *b, *c;
		uint32_t n;
	} sets = {p + 1, p + 2, p, 1}, last = {p + 100, p + 101, p + 200, 1};
	void *wargs = arguments(&until, &waits, sizeof waits, 1, 1), *sargs = arguments(&add, &sets, sizeof sets, 64, 64), *largs = arguments(&add, &last, sizeof last, 64, 64);
	hsa_queue_t *q = queue(64);
	hsa_kernel_dispatch_packet_t w = packet(&until, wargs, 1, 1, done), s = packet(&add, sargs, 64, 64, done), l = packet(&add, largs, 64, 64, done);
	w.header = s.header = HSA_PACKET_TYPE_KERNEL_DISPATCH;
	submit(q, &w);
	usleep(2000);
	/* Memory is taken back while a kernel executes: it may wait for what this thread does next. */
	void *gone;
	OK(hsa_amd_memory_pool_allocate(coarse, 4096, 0, &gone));
	OK(hsa_amd_memory_pool_free(gone));
	OK(hsa_amd_memory_pool_allocate(fine, 4096, 0, &gone));
	OK(hsa_amd_memory_pool_free(gone));
	SO((gone = malloc(8192)) != NULL);
	OK(hsa_amd_memory_lock(gone, 8192, &gpu, 1, &(void *){NULL}));
	OK(hsa_amd_memory_unlock(gone));
	free(gone);
	hsa_amd_vmem_alloc_handle_t physical;
	OK(hsa_amd_vmem_address_reserve(&gone, 2 << 20, 0, 0));
	OK(hsa_amd_vmem_handle_create(coarse, 2 << 20, MEMORY_TYPE_NONE, 0, &physical));
	OK(hsa_amd_vmem_map(gone, 2 << 20, 0, physical, 0));
	OK(hsa_amd_vmem_unmap(gone, 2 << 20));
	OK(hsa_amd_vmem_handle_release(physical));
	OK(hsa_amd_vmem_address_free(gone, 2 << 20));
	OK(hsa_queue_destroy(queue(64)));
	submit(q, &s);
	submit(q, &l);
	SO(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) == 0);
	SO(p[100] == 0x40000000 && p[200] == 0x40000000); /* 1.0 + 1.0, which the last one has seen */
	while (hsa_queue_load_read_index_scacquire(q) != 3)
		usleep(100);
	OK(hsa_queue_destroy(q));
	OK(hsa_signal_destroy(done));
	OK(hsa_executable_destroy(x));
	OK(hsa_executable_destroy(y));
	OK(hsa_amd_memory_pool_free(p));
	OK(hsa_amd_memory_pool_free(wargs));
	OK(hsa_amd_memory_pool_free(sargs));
	OK(hsa_amd_memory_pool_free(largs));
}

static void faults(const char *path, const char *spin)
{
	hsa_executable_t x = load(path), y = load(spin);
	struct kernel k = find(x, "store_at.kd"), trap = find(x, "trap_if.kd"), forever = find(y, "spin_forever.kd");
	hsa_signal_t none = {0};
	uint32_t *p;
	OK(hsa_amd_memory_pool_allocate(coarse, 4096, 0, (void **)&p));
	OK(hsa_amd_memory_fill(p, 1, 1024));
	struct {
		uint32_t *base;
		uint64_t offset;
		uint32_t value;
	} wild = {p, (uint64_t)1 << 32, 1};
	struct {
		uint32_t *in, n;
	} traps = {p, 64};
	void *args = arguments(&k, &wild, sizeof wild, 64, 64), *targs = arguments(&trap, &traps, sizeof traps, 64, 64),
		*fargs = arguments(&forever, &p, sizeof p, 64, 64);
	hsa_kernel_dispatch_packet_t d = packet(&k, args, 64, 64, none);
	OK(hsa_amd_register_system_event_handler(on_event, &event));
	OK(hsa_amd_register_system_event_handler(on_event, &event));
	EXPECT(hsa_amd_register_system_event_handler(NULL, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	fails(&d, (hsa_status_t)HSA_STATUS_ERROR_MEMORY_FAULT);
	SO(atomic_load(&events) == 2 && event.event_type == HSA_AMD_GPU_MEMORY_FAULT_EVENT && event.memory_fault.agent.handle == gpu.handle);
	SO(event.memory_fault.virtual_address == (((uintptr_t)p + ((uint64_t)4 << 32)) & ~4095ull) && event.memory_fault.fault_reason_mask == HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT);
	d = packet(&trap, targs, 64, 64, none);
	fails(&d, HSA_STATUS_ERROR_EXCEPTION);
	SO(atomic_load(&events) == 2);
	uint64_t objects[] = {0, 64, (uint64_t)(uintptr_t)p & ~63ull, k.object + 4, (uint64_t)(uintptr_t)&d & ~63ull, UINT64_MAX & ~63ull};
	for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) {
		d = packet(&k, args, 64, 64, none);
		d.kernel_object = objects[i];
		hsa_queue_t *q = queue(64);
		atomic_store(&queue_error, 0);
		submit(q, &d);
		for (int n = 0; n < 20000 && atomic_load(&queue_error) == 0; n++)
			usleep(1000);
		SO(atomic_load(&queue_error) != 0);
		OK(hsa_queue_destroy(q));
	}
	d = packet(&k, args, 64, 64, none);
	d.workgroup_size_x = 0;
	fails(&d, HSA_STATUS_ERROR_INVALID_ISA);
	d.workgroup_size_x = 65535;
	fails(&d, HSA_STATUS_ERROR_INVALID_ISA);
	d = packet(&k, args, 64, 64, none);
	d.group_segment_size = 1 << 30;
	fails(&d, HSA_STATUS_ERROR_INVALID_ISA);
	d = packet(&k, args, 64, 64, none);
	d.header = 77;
	fails(&d, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
	d.header = HSA_PACKET_TYPE_AGENT_DISPATCH;
	fails(&d, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
	d.header = HSA_PACKET_TYPE_VENDOR_SPECIFIC;
	fails(&d, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);

	/* Queues are destroyed with what runs in them, and with what waits. */
	hsa_queue_t *q = queue(64);
	d = packet(&forever, fargs, 64, 64, none);
	submit(q, &d);
	usleep(20000);
	submit(q, &d);
	OK(hsa_queue_destroy(q));
	q = queue(64);
	hsa_signal_t never;
	OK(hsa_signal_create(1, 0, NULL, &never));
	hsa_barrier_and_packet_t wait = {.header = HSA_PACKET_TYPE_BARRIER_AND, .dep_signal = {never}};
	submit(q, &wait);
	usleep(20000);
	OK(hsa_queue_destroy(q));
	OK(hsa_signal_destroy(never));
	OK(hsa_executable_destroy(x));
	OK(hsa_executable_destroy(y));
	OK(hsa_amd_memory_pool_free(p));
	OK(hsa_amd_memory_pool_free(args));
	OK(hsa_amd_memory_pool_free(targs));
	OK(hsa_amd_memory_pool_free(fargs));
}

/* What a kernel uses is unmapped: nobody waits for it, and it faults. faults has registered who is told. */
static void unmapped(const char *spin)
{
	enum { SIZE = 2 << 20 };
	hsa_executable_t x = load(spin);
	struct kernel until = find(x, "spin_until.kd");
	hsa_amd_vmem_alloc_handle_t physical;
	hsa_amd_memory_access_desc_t rw = {HSA_ACCESS_PERMISSION_RW, gpu};
	void *p;
	OK(hsa_amd_vmem_address_reserve(&p, SIZE, 0, 0));
	OK(hsa_amd_vmem_handle_create(coarse, SIZE, MEMORY_TYPE_NONE, 0, &physical));
	OK(hsa_amd_vmem_map(p, SIZE, 0, physical, 0));
	OK(hsa_amd_vmem_set_access(p, SIZE, &rw, 1));
	OK(hsa_amd_memory_fill(p, 0, SIZE / 4));
	struct {
		void *flag, *out;
	} waits = {(char *)p + 8192, (char *)p + 12288};
	void *args = arguments(&until, &waits, sizeof waits, 1, 1);
	hsa_queue_t *q = queue(64);
	hsa_kernel_dispatch_packet_t w = packet(&until, args, 1, 1, (hsa_signal_t){0});
	atomic_store(&queue_error, 0);
	atomic_store(&events, 0);
	submit(q, &w);
	usleep(20000);
	SO(atomic_load(&queue_error) == 0);
	OK(hsa_amd_vmem_unmap(p, SIZE));
	for (int i = 0; i < 20000 && atomic_load(&queue_error) == 0; i++)
		usleep(1000);
	EXPECT(atomic_load(&queue_error), HSA_STATUS_ERROR_MEMORY_FAULT);
	SO(atomic_load(&events) == 2 && event.event_type == HSA_AMD_GPU_MEMORY_FAULT_EVENT && event.memory_fault.virtual_address == (uintptr_t)waits.flag);
	OK(hsa_queue_destroy(q));
	OK(hsa_amd_vmem_handle_release(physical));
	OK(hsa_amd_vmem_address_free(p, SIZE));
	OK(hsa_amd_memory_pool_free(args));
	OK(hsa_executable_destroy(x));
}

static hsa_status_t on_symbol(hsa_executable_t x, hsa_executable_symbol_t s, void *data)
{
	char name[256];
	uint32_t n, kind;
	(void)x;
	OK(hsa_executable_symbol_get_info(s, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH, &n));
	SO(n > 0 && n < sizeof name);
	OK(hsa_executable_symbol_get_info(s, HSA_EXECUTABLE_SYMBOL_INFO_NAME, name));
	OK(hsa_executable_symbol_get_info(s, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, &kind));
	((int *)data)[kind == HSA_SYMBOL_KIND_KERNEL]++;
	return HSA_STATUS_SUCCESS;
}

static void loader(const char *path)
{
	hsa_executable_t x = load(path);
	hsa_executable_symbol_t s;
	hsa_code_object_reader_t reader;
	hsa_ven_amd_loader_1_03_pfn_t table;
	hsa_executable_t owner;
	uint64_t at;
	uint32_t size;
	int kinds[2] = {0};
	OK(hsa_executable_get_symbol_by_name(x, "coefficients", &gpu, &s));
	OK(hsa_executable_symbol_get_info(s, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS, &at));
	OK(hsa_executable_symbol_get_info(s, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE, &size));
	SO(size == 32 && at);
	EXPECT(hsa_executable_symbol_get_info(s, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &at), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_executable_get_symbol_by_name(x, "nothing", &gpu, &s), HSA_STATUS_ERROR_INVALID_SYMBOL_NAME);
	EXPECT(hsa_executable_symbol_get_info((hsa_executable_symbol_t){5}, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, &size), HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL);
	OK(hsa_executable_iterate_symbols(x, on_symbol, kinds));
	SO(kinds[0] > 2 && kinds[1] > 1);
	OK(hsa_system_get_major_extension_table(HSA_EXTENSION_AMD_LOADER, 1, sizeof table, &table));
	OK(table.hsa_ven_amd_loader_query_executable((void *)(uintptr_t)at, &owner));
	SO(owner.handle == x.handle);
	EXPECT(table.hsa_ven_amd_loader_query_executable(&at, &owner), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	OK(hsa_executable_destroy(x));
	EXPECT(hsa_executable_symbol_get_info(s, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, &size), HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL);

	static char junk[5000] = "\177ELF";
	OK(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &x));
	OK(hsa_code_object_reader_create_from_memory(junk, sizeof junk, &reader));
	EXPECT(hsa_executable_load_agent_code_object(x, gpu, reader, NULL, NULL), HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
	EXPECT(hsa_executable_load_agent_code_object(x, cpu, reader, NULL, NULL), HSA_STATUS_ERROR_INVALID_AGENT);
	EXPECT(hsa_executable_load_agent_code_object(x, gpu, (hsa_code_object_reader_t){3}, NULL, NULL), HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER);
	OK(hsa_executable_agent_global_variable_define(x, gpu, "mine", junk));
	EXPECT(hsa_executable_agent_global_variable_define(x, gpu, "mine", junk), HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED);
	EXPECT(hsa_code_object_reader_create_from_file(-1, &reader), HSA_STATUS_ERROR_INVALID_FILE);
	EXPECT(hsa_code_object_reader_create_from_memory(junk, 0, &reader), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	OK(hsa_executable_destroy(x));
}

static hsa_status_t on_code_symbol(hsa_code_object_t c, hsa_code_symbol_t s, void *data)
{
	char name[256] = "";
	uint32_t n, kind;
	(void)c;
	OK(hsa_code_symbol_get_info(s, HSA_CODE_SYMBOL_INFO_NAME_LENGTH, &n));
	SO(n > 0 && n < sizeof name);
	OK(hsa_code_symbol_get_info(s, HSA_CODE_SYMBOL_INFO_NAME, name));
	OK(hsa_code_symbol_get_info(s, HSA_CODE_SYMBOL_INFO_TYPE, &kind));
	SO(kind == HSA_SYMBOL_KIND_VARIABLE); /* a kernel's descriptor is one */
	*(int *)data += !strcmp(name, "coefficients") || !strcmp(name, "polynomial.kd");
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t room(size_t size, hsa_callback_data_t data, void **at)
{
	*at = (void *)(uintptr_t)data.handle;
	return size > 1 << 20 ? HSA_STATUS_ERROR_OUT_OF_RESOURCES : HSA_STATUS_SUCCESS;
}

static hsa_status_t no_room(size_t size, hsa_callback_data_t data, void **at)
{
	*at = NULL;
	return size && data.handle ? HSA_STATUS_ERROR_FATAL : HSA_STATUS_SUCCESS;
}

/* The functions that were there before readers. */
static void deserialized(const char *path)
{
	static char file[1 << 20], again[1 << 20], junk[5000] = "\177ELF";
	FILE *f = fopen(path, "rb");
	size_t n = fread(file, 1, sizeof file, f), size = 0;
	hsa_code_object_t c, bad;
	hsa_code_symbol_t s;
	hsa_executable_t x;
	hsa_executable_symbol_t loaded;
	uint32_t value[64];
	void *at = NULL;
	int found = 0;
	fclose(f);
	OK(hsa_code_object_deserialize(file, n, NULL, &c));
	OK(hsa_code_object_deserialize(junk, sizeof junk, NULL, &bad)); /* what it is shows when it is used */
	EXPECT(hsa_code_object_deserialize(file, 0, NULL, &bad), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	OK(hsa_code_object_serialize(c, room, (hsa_callback_data_t){(uintptr_t)again}, NULL, &at, &size));
	SO(at == again && size == n && !memcmp(file, again, n));
	EXPECT(hsa_code_object_serialize(c, no_room, (hsa_callback_data_t){1}, NULL, &at, &size), HSA_STATUS_ERROR_FATAL);
	EXPECT(hsa_code_object_serialize(c, no_room, (hsa_callback_data_t){0}, NULL, &at, &size), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
	EXPECT(hsa_code_object_serialize(bad, room, (hsa_callback_data_t){(uintptr_t)again}, NULL, &at, &size), HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
	EXPECT(hsa_code_object_get_info(c, HSA_CODE_OBJECT_INFO_VERSION, value), HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
	EXPECT(hsa_code_object_get_info(c, HSA_CODE_OBJECT_INFO_ISA, value), HSA_STATUS_ERROR_INVALID_ISA_NAME);
	EXPECT(hsa_code_object_get_info(c, (hsa_code_object_info_t)99, value), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_code_object_get_info((hsa_code_object_t){5}, HSA_CODE_OBJECT_INFO_ISA, value), HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
	OK(hsa_code_object_iterate_symbols(c, on_code_symbol, &found));
	SO(found == 2);
	EXPECT(hsa_code_object_iterate_symbols(bad, on_code_symbol, &found), HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
	EXPECT(hsa_code_object_get_symbol(c, "nothing", &s), HSA_STATUS_ERROR_INVALID_SYMBOL_NAME);
	EXPECT(hsa_code_object_get_symbol_from_name(c, "a module", "coefficients", &s), HSA_STATUS_ERROR_INVALID_SYMBOL_NAME);
	OK(hsa_code_object_get_symbol_from_name(c, NULL, "coefficients", &s));
	OK(hsa_code_object_get_symbol(c, "coefficients", &s));
	OK(hsa_code_symbol_get_info(s, HSA_CODE_SYMBOL_INFO_VARIABLE_SIZE, value));
	SO(value[0] == 32);
	OK(hsa_code_symbol_get_info(s, HSA_CODE_SYMBOL_INFO_LINKAGE, value));
	SO(value[0] == HSA_SYMBOL_LINKAGE_PROGRAM);
	OK(hsa_code_symbol_get_info(s, HSA_CODE_SYMBOL_INFO_MODULE_NAME_LENGTH, value));
	SO(value[0] == 0);
	EXPECT(hsa_code_symbol_get_info(s, HSA_CODE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, value), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_code_symbol_get_info((hsa_code_symbol_t){5}, HSA_CODE_SYMBOL_INFO_TYPE, value), HSA_STATUS_ERROR_INVALID_CODE_SYMBOL);

	OK(hsa_executable_create(HSA_PROFILE_BASE, HSA_EXECUTABLE_STATE_UNFROZEN, NULL, &x));
	EXPECT(hsa_executable_load_code_object(x, gpu, bad, NULL), HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
	EXPECT(hsa_executable_load_code_object(x, gpu, (hsa_code_object_t){5}, NULL), HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
	EXPECT(hsa_executable_load_code_object(x, cpu, c, NULL), HSA_STATUS_ERROR_INVALID_AGENT);
	OK(hsa_executable_load_code_object(x, gpu, c, NULL));
	hsa_code_object_reader_t reader;
	OK(hsa_code_object_reader_create_from_memory(file, n, &reader));
	EXPECT(hsa_executable_load_program_code_object(x, reader, NULL, NULL), HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
	OK(hsa_code_object_reader_destroy(reader));
	EXPECT(hsa_executable_load_program_code_object(x, reader, NULL, NULL), HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER);
	OK(hsa_executable_freeze(x, NULL));
	EXPECT(hsa_executable_load_code_object(x, gpu, c, NULL), HSA_STATUS_ERROR_FROZEN_EXECUTABLE);
	OK(hsa_code_object_destroy(c)); /* what was loaded of it stays */
	EXPECT(hsa_code_object_destroy(c), HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
	EXPECT(hsa_code_symbol_get_info(s, HSA_CODE_SYMBOL_INFO_TYPE, value), HSA_STATUS_ERROR_INVALID_CODE_SYMBOL);
	OK(hsa_code_object_destroy(bad));
	OK(hsa_executable_get_symbol(x, NULL, "polynomial.kd", gpu, 0, &loaded));
	OK(hsa_executable_destroy(x));
}

static void boxes(void)
{
	uint8_t *p;
	hsa_signal_t done;
	OK(hsa_amd_memory_pool_allocate(fine, 8192, 0, (void **)&p));
	OK(hsa_signal_create(1, 0, NULL, &done));
	for (int i = 0; i < 4096; i++)
		p[i] = (uint8_t)(i * 7);
	memset(p + 4096, 0, 4096);
	hsa_pitched_ptr_t src = {p, 32, 256}, dst = {p + 4096, 64, 512};
	hsa_dim3_t from = {3, 1, 2}, to = {5, 2, 1}, box = {9, 4, 3};
	OK(hsa_amd_memory_async_copy_rect(&dst, &to, &src, &from, &box, gpu, 0, 0, NULL, done));
	SO(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) == 0);
	for (int z = 0; z < 8; z++)
		for (int y = 0; y < 8; y++)
			for (int x = 0; x < 64; x++) {
				bool in = z >= 1 && z < 4 && y >= 2 && y < 6 && x >= 5 && x < 14;
				uint8_t want = in ? (uint8_t)(((z + 1) * 256 + (y - 1) * 32 + x - 2) * 7) : 0;
				SO(p[4096 + z * 512 + y * 64 + x] == want);
			}
	src.pitch = 8;
	EXPECT(hsa_amd_memory_async_copy_rect(&dst, &to, &src, &from, &box, gpu, 0, 0, NULL, done), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_amd_memory_async_copy(p, cpu, p + 4096, gpu, 16, 0, NULL, (hsa_signal_t){0}), HSA_STATUS_ERROR_INVALID_SIGNAL);
	OK(hsa_signal_destroy(done));
	OK(hsa_amd_memory_pool_free(p));
}

static int threads(void)
{
	char line[128];
	int n = -1;
	FILE *f = fopen("/proc/self/status", "r");
	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "Threads: %d", &n) == 1)
			break;
	if (f)
		fclose(f);
	return n;
}

/* Thousands of copies that wait, for a signal of the program's and each for the one before it, take no thread each. */
static void crowd(void)
{
	enum { COPIES = 3000 };
	uint32_t *p;
	static hsa_signal_t done[COPIES];
	hsa_signal_t begin;
	OK(hsa_amd_memory_pool_allocate(fine, 2 * COPIES * sizeof *p, 0, (void **)&p));
	OK(hsa_signal_create(1, 0, NULL, &begin));
	int before = threads();
	for (uint32_t i = 0; i < COPIES; i++) {
		p[i] = i ^ 0x55aa, p[COPIES + i] = 0;
		OK(hsa_signal_create(1, 0, NULL, &done[i]));
		hsa_signal_t deps[2] = {begin, i % 2 ? done[i - 1] : begin};
		OK(hsa_amd_memory_async_copy(p + COPIES + i, gpu, p + i, cpu, sizeof *p, 2, deps, done[i]));
	}
	usleep(20000);
	SO(threads() < before + 200);
	SO(p[COPIES] == 0 && p[2 * COPIES - 1] == 0);
	hsa_signal_store_screlease(begin, 0);
	for (uint32_t i = 0; i < COPIES; i++) {
		SO(hsa_signal_wait_scacquire(done[i], HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) == 0);
		SO(p[COPIES + i] == (i ^ 0x55aa));
		OK(hsa_signal_destroy(done[i]));
	}
	OK(hsa_signal_destroy(begin));
	OK(hsa_amd_memory_pool_free(p));
}

static void *waits(void *arg)
{
	hsa_signal_wait_scacquire(*(hsa_signal_t *)arg, HSA_SIGNAL_CONDITION_EQ, 0, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
	return NULL;
}

static void *waits_for_any(void *arg)
{
	hsa_signal_condition_t equal = HSA_SIGNAL_CONDITION_EQ;
	hsa_signal_value_t zero = 0;
	SO(hsa_amd_signal_wait_any(1, arg, &equal, &zero, UINT64_MAX, HSA_WAIT_STATE_BLOCKED, NULL) == UINT32_MAX);
	return NULL;
}

/* The library ends while copies and threads wait for what nobody does: they go on, and look at nothing that is gone. */
static void ends(void)
{
	enum { COPIES = 100 };
	uint32_t *p;
	pthread_t threads[4];
	hsa_signal_t never[2], done;
	OK(hsa_amd_memory_pool_allocate(fine, 4096, 0, (void **)&p));
	OK(hsa_signal_create(COPIES, 0, NULL, &done));
	OK(hsa_signal_create(1, 0, NULL, &never[0]));
	OK(hsa_amd_signal_create(1, 0, NULL, HSA_AMD_SIGNAL_IPC, &never[1]));
	for (int i = 0; i < COPIES; i++)
		OK(hsa_amd_memory_async_copy(p + COPIES + i, gpu, p + i, cpu, sizeof *p, 1, &never[i % 2], done));
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, i < 2 ? waits : waits_for_any, &never[i % 2]);
	usleep(20000); /* all of them sleep now */
	OK(hsa_shut_down());
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	usleep(50000); /* longer than one sleeps */
}

int main(int argc, char **argv)
{
	if (argc != 5)
		return 99;
	life();
	agents();
	extensions();
	coherency();
	made();
	logging();
	memory();
	signals();
	dispatches(argv[1]);
	locks(argv[1]);
	beside(argv[1], argv[3]);
	faults(argv[2], argv[3]);
	unmapped(argv[3]);
	loader(argv[4]);
	deserialized(argv[4]);
	boxes();
	crowd();
	ends();
	printf(failures ? "hsa: %d failures\n" : "hsa: ok\n", failures);
	return failures > 99 ? 99 : failures;
}
