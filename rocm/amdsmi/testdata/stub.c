/* A libamd_smi of three cards for the tests: two accelerators, the second of which
 * measures almost nothing, and a desktop card. Compile it with -DABI=25, 26 or 27.
 * The file "control" in the library's folder says what goes wrong, one thing a line;
 * what it is told to change, it writes into the file "log".
 *
 *	fail CARD FUNCTION STATUS	the function (or *) fails for the card (-1: any, and calls about none)
 *	hang CARD FUNCTION		it does not return while the line is there
 *	cards N				how many cards there are
 *	step N				figures of the firmware's table advance by N
 *	minor N				the version it calls itself
 *	processes N			so many more processes use card 0
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "zz_structs.h"

#define EXPORT __attribute__((visibility("default")))
#define NOT_SUPPORTED 2
#define CARDS 3
#define HANDLE(i) ((void *)(uintptr_t)(0x1000 + (i)))
#define CPU ((void *)0x2000)

static int number(const void *handle)
{
	uintptr_t i = (uintptr_t)handle - 0x1000;

	return i < CARDS ? (int)i : -1;
}

/* beside opens a file of the library's folder. */
static FILE *beside(const char *name, const char *mode)
{
	char path[4096];
	Dl_info self;
	char *end;

	if (!dladdr((void *)number, &self) || strlen(self.dli_fname) + strlen(name) + 2 > sizeof(path))
		return NULL;
	strcpy(path, self.dli_fname);
	end = strrchr(path, '/');
	strcpy(end ? end + 1 : path, name);
	return fopen(path, mode);
}

/* control looks a line up: it begins with word and, for cards and functions, fits. */
static int control(const char *word, int card, const char *function, long *value)
{
	FILE *f = beside("control", "r");
	char line[256], w[64], fn[128];
	int c, found = 0;
	long v;

	if (!f)
		return 0;
	while (!found && fgets(line, sizeof(line), f)) {
		v = 0;
		if (function) {
			if (sscanf(line, "%63s %d %127s %ld", w, &c, fn, &v) < 3 || strcmp(w, word) || (c != -1 && c != card) || (strcmp(fn, "*") && strcmp(fn, function)))
				continue;
		} else if (sscanf(line, "%63s %ld", w, &v) < 1 || strcmp(w, word)) {
			continue;
		}
		found = 1;
		if (value)
			*value = v;
	}
	fclose(f);
	return found;
}

static void record(const char *what, int card, long long a, long long b)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	FILE *f;

	pthread_mutex_lock(&lock);
	f = beside("log", "a");
	if (f) {
		fprintf(f, "%s %d %lld %lld\n", what, card, a, b);
		fclose(f);
	}
	pthread_mutex_unlock(&lock);
}

static int initialised;

static uint32_t enter(int card, const char *function)
{
	long status;

	while (control("hang", card, function, NULL))
		usleep(5000);
	if (control("fail", card, function, &status))
		return (uint32_t)status;
	return 0;
}

#define ENTER_ANY(card) do { uint32_t e_ = enter(card, __func__); if (e_) return e_; } while (0)
#define ENTER(h) \
	int card = number(h); \
	if (!initialised) return 32; \
	if (card < 0) return 1; \
	ENTER_ANY(card); \
	(void)card

EXPORT uint32_t amdsmi_init(uint64_t flags)
{
	ENTER_ANY(-1);
	if (flags != 2)
		return 1;
	initialised++;
	record("init", -1, initialised, 0);
	return 0;
}

EXPORT uint32_t amdsmi_shut_down(void)
{
	record("shut_down", -1, initialised, 0);
	if (!initialised)
		return 32;
	initialised--;
	return 0;
}

EXPORT uint32_t amdsmi_get_lib_version(amdsmi_version_t *v)
{
	long minor = ABI == 25 ? 3 : 1;

	control("minor", 0, NULL, &minor);
	memset(v, 0, sizeof(*v));
#if ABI == 25
	v->year = 25;
#endif
	v->major = ABI;
	v->minor = (uint32_t)minor;
	v->build = "stub";
	return 0;
}

static long cards(void)
{
	long n = CARDS;

	control("cards", 0, NULL, &n);
	return n;
}

/* Two sockets: the first has two cards, the second the third card and a processor. */
EXPORT uint32_t amdsmi_get_socket_handles(uint32_t *n, void **to)
{
	ENTER_ANY(-1);
	for (uint32_t i = 0; to && i < *n && i < 2; i++)
		to[i] = (void *)(uintptr_t)(0x100 + i);
	*n = cards() ? 2 : 0;
	return 0;
}

EXPORT uint32_t amdsmi_get_processor_handles(void *socket, uint32_t *n, void **to)
{
	uintptr_t s = (uintptr_t)socket - 0x100;
	void *in[2][2] = {{HANDLE(0), HANDLE(1)}, {HANDLE(2), CPU}};

	ENTER_ANY(-1);
	if (s > 1)
		return 1;
	for (uint32_t i = 0; to && i < *n && i < 2; i++)
		to[i] = in[s][i];
	*n = 2;
	return 0;
}

EXPORT uint32_t amdsmi_get_processor_type(void *h, uint32_t *type)
{
	*type = h == CPU ? 2 : 1;
	return 0;
}

EXPORT uint32_t amdsmi_get_gpu_device_bdf(void *h, uint64_t *bdf)
{
	ENTER(h);
	*bdf = (uint64_t)(0xc1 + card) << 8;
	return 0;
}

EXPORT uint32_t amdsmi_get_gpu_device_uuid(void *h, unsigned *n, char *to)
{
	ENTER(h);
	if (*n < 38)
		return 41;
	*n = (unsigned)sprintf(to, "%02xff74a1-0000-1000-8000-0123456789ab", 0x10 + card) + 1;
	return 0;
}

EXPORT uint32_t amdsmi_get_gpu_asic_info(void *h, amdsmi_asic_info_t *a)
{
	ENTER(h);
	memset(a, 0, sizeof(*a));
	strcpy(a->market_name, card == 2 ? "AMD Radeon RX 7900 XTX" : "AMD Instinct MI300X");
	a->vendor_id = 0x1002;
	strcpy(a->vendor_name, "Advanced Micro Devices Inc. [AMD/ATI]");
	a->subvendor_id = 0x1002;
	a->device_id = card == 2 ? 0x744c : 0x74a1;
	strcpy(a->asic_serial, card == 1 ? "N/A" : "0x3D4CFFEFC6F09B1B");
	a->oam_id = card == 0 ? 5 : 0xFFFF;
	a->num_of_compute_units = card == 0 ? 304 : card == 2 ? 96 : 0xFFFFFFFF;
	a->target_graphics_version = card == 0 ? 0x942 : card == 2 ? 0x1100 : ~0ull;
#if ABI > 25
	a->subsystem_id = 0x74a1;
#endif
	return 0;
}

EXPORT uint32_t amdsmi_get_gpu_kfd_info(void *h, amdsmi_kfd_info_t *k)
{
	ENTER(h);
	memset(k, 0, sizeof(*k));
	k->kfd_id = card == 0 ? 45231 : ~0ull;
	k->node_id = card == 0 ? 2 : ~0u;
	k->current_partition_id = card == 0 ? 0 : ~0u;
	return 0;
}

EXPORT uint32_t amdsmi_get_gpu_enumeration_info(void *h, amdsmi_enumeration_info_t *e)
{
	ENTER(h);
	memset(e, 0, sizeof(*e));
	e->drm_render = 128 + (uint32_t)card;
	e->drm_card = 11 + (uint32_t)card;
	e->hip_id = (uint32_t)card;
	sprintf(e->hip_uuid, "GPU-%d", card);
	return 0;
}

EXPORT uint32_t amdsmi_get_gpu_board_info(void *h, amdsmi_board_info_t *b)
{
	ENTER(h);
	memset(b, 0, sizeof(*b));
	strcpy(b->model_number, card == 1 ? "N/A" : "102-G30211-00");
	strcpy(b->product_serial, "692432000123");
	strcpy(b->fru_id, card == 1 ? "\xff\xfe" : "113-AMDG302110");
	strcpy(b->product_name, "MI300X OAM");
	strcpy(b->manufacturer_name, "AMD");
	return 0;
}

EXPORT uint32_t amdsmi_get_gpu_vbios_info(void *h, amdsmi_vbios_info_t *v)
{
	ENTER(h);
	memset(v, 0, sizeof(*v));
	strcpy(v->name, "AMD MI300X_HW_SRIOV_CVS_1VF");
	strcpy(v->build_date, "2023/09/23 08:06");
	strcpy(v->part_number, "113-M3000100-102");
	strcpy(v->version, "022.040.003.041");
#if ABI > 25
	strcpy(v->boot_firmware, "00.01.02");
#endif
	return 0;
}

EXPORT uint32_t amdsmi_get_gpu_driver_info(void *h, amdsmi_driver_info_t *d)
{
	ENTER(h);
	memset(d, 0, sizeof(*d));
	strcpy(d->driver_version, "6.12.12");
	strcpy(d->driver_date, "2015/01/01 00:00");
	strcpy(d->driver_name, "amdgpu");
	return 0;
}

EXPORT uint32_t amdsmi_get_gpu_vram_info(void *h, amdsmi_vram_info_t *v)
{
	ENTER(h);
	memset(v, 0, sizeof(*v));
	v->vram_type = card == 2 ? 22 : 4;
#if ABI == 25
	v->vram_vendor = card == 1 ? 10 : 5;
#else
	strcpy(v->vram_vendor, card == 1 ? "N/A" : "Hynix");
#endif
	v->vram_size = card == 2 ? 24576 : 196592;
	v->vram_bit_width = card == 1 ? ~0u : card == 2 ? 384 : 8192;
	v->vram_max_bandwidth = card == 1 ? ~0ull : 5300;
	return 0;
}

EXPORT uint32_t amdsmi_get_gpu_cache_info(void *h, amdsmi_gpu_cache_info_t *c)
{
	ENTER(h);
	if (card == 1)
		return NOT_SUPPORTED;
	memset(c, 0, sizeof(*c));
	c->num_cache_types = 2;
	c->cache[0].cache_properties = 1 | 2 | 16;
	c->cache[0].cache_size = 32;
	c->cache[0].cache_level = 1;
	c->cache[0].max_num_cu_shared = 1;
	c->cache[0].num_cache_instance = 304;
	c->cache[1].cache_properties = 1 | 2 | 16;
	c->cache[1].cache_size = 4096;
	c->cache[1].cache_level = 2;
	c->cache[1].max_num_cu_shared = 38;
	c->cache[1].num_cache_instance = 8;
	return 0;
}

EXPORT uint32_t amdsmi_get_pcie_info(void *h, amdsmi_pcie_info_t *p)
{
	ENTER(h);
	memset(p, card == 1 ? 0xFF : 0, sizeof(*p));
	if (card == 1)
		return 0;
	p->pcie_static.max_pcie_width = 16;
	p->pcie_static.max_pcie_speed = card == 2 ? 16 : 32000; /* one release says GT/s, the others MT/s */
	p->pcie_static.pcie_interface_version = 0;
	p->pcie_static.slot_type = card == 2 ? 2 : 1;
	p->pcie_static.max_pcie_interface_version = card == 2 ? 4 : 5;
	p->pcie_metric.pcie_width = 16;
	p->pcie_metric.pcie_speed = 32000;
	p->pcie_metric.pcie_bandwidth = card == 2 ? ~0u : 8000;
	p->pcie_metric.pcie_replay_count = 3;
	p->pcie_metric.pcie_l0_to_recovery_count = 1;
	p->pcie_metric.pcie_replay_roll_over_count = 0;
	p->pcie_metric.pcie_nak_sent_count = 7;
	p->pcie_metric.pcie_nak_received_count = 0xFFFFFFFF;
	return 0;
}

EXPORT uint32_t amdsmi_get_gpu_topo_numa_affinity(void *h, int32_t *n)
{
	ENTER(h);
	*n = card == 1 ? -1 : card;
	return 0;
}

EXPORT uint32_t amdsmi_topo_get_numa_node_number(void *h, uint32_t *n)
{
	ENTER(h);
	*n = (uint32_t)card;
	return 0;
}

#if ABI > 25
EXPORT uint32_t amdsmi_get_cpu_affinity_with_scope(void *h, uint32_t n, uint64_t *set, uint32_t scope)
{
	ENTER(h);
	if (n < 3 || scope)
		return 1;
	set[0] = ~0ull;
	set[2] = 0x3 | 1ull << 63;
	return 0;
}
#endif

EXPORT uint32_t amdsmi_get_gpu_virtualization_mode(void *h, uint32_t *mode)
{
	ENTER(h);
	*mode = 1;
	return 0;
}

EXPORT uint32_t amdsmi_get_power_cap_info(void *h, uint32_t sensor, amdsmi_power_cap_info_t *p)
{
	ENTER(h);
	if (sensor || card == 1)
		return NOT_SUPPORTED;
	memset(p, 0, sizeof(*p));
	p->power_cap = p->default_power_cap = p->max_power_cap = 750000000;
	return 0;
}

EXPORT uint32_t amdsmi_get_power_info(void *h, amdsmi_power_info_t *p)
{
	ENTER(h);
	memset(p, 0xFF, sizeof(*p));
	if (card == 1) {
		p->current_socket_power = 0xFFFF;
		return 0;
	}
	p->current_socket_power = card == 0 ? 421 : 0xFFFF;
	p->average_socket_power = card == 2 ? 88 : 0xFFFF;
	p->gfx_voltage = 850;
	p->soc_voltage = 0xFFFF;
	return 0;
}

EXPORT uint32_t amdsmi_get_energy_count(void *h, uint64_t *count, float *unit, uint64_t *stamp)
{
	static uint64_t calls;

	ENTER(h);
	if (card)
		return NOT_SUPPORTED;
	*count = 1000000 + __sync_add_and_fetch(&calls, 1);
	*unit = 15.3f;
	*stamp = 1;
	return 0;
}

EXPORT uint32_t amdsmi_get_gpu_activity(void *h, amdsmi_engine_usage_t *e)
{
	ENTER(h);
	memset(e, 0, sizeof(*e));
	e->gfx_activity = card == 1 ? 0xFFFF : 97;
	e->umc_activity = card == 1 ? 0xFFFF : 41;
	e->mm_activity = 0xFFFF;
	return 0;
}

EXPORT uint32_t amdsmi_get_gpu_memory_total(void *h, uint32_t kind, uint64_t *n)
{
	ENTER(h);
	if (kind == 1 && card == 1)
		return NOT_SUPPORTED;
	*n = kind == 1 && card == 2 ? 256ull << 20 : kind == 2 ? 540ull << 30 : card == 2 ? 24ull << 30 : 196592ull << 20;
	return 0;
}

EXPORT uint32_t amdsmi_get_gpu_memory_usage(void *h, uint32_t kind, uint64_t *n)
{
	ENTER(h);
	if (kind == 1 && card == 1)
		return NOT_SUPPORTED;
	*n = kind == 1 ? 12ull << 20 : kind == 2 ? 20ull << 20 : 12ull << 30;
	return 0;
}

EXPORT uint32_t amdsmi_get_clock_info(void *h, uint32_t kind, amdsmi_clk_info_t *c)
{
	ENTER(h);
	if (kind == 2 || kind == 5 || (card == 1 && kind))
		return NOT_SUPPORTED;
	memset(c, 0, sizeof(*c));
	c->clk = card == 1 ? 0xFFFFFFFF : kind == 4 ? 1300 : 2100;
	c->min_clk = card == 1 ? 0xFFFFFFFF : kind == 4 ? 900 : 500;
	c->max_clk = card == 1 ? 0xFFFFFFFF : kind == 4 ? 1300 : 2100;
	c->clk_locked = card == 1 ? 0xFF : 0;
	c->clk_deep_sleep = card == 1 ? 0xFF : kind == 3;
	return 0;
}

EXPORT uint32_t amdsmi_get_temp_metric(void *h, uint32_t sensor, uint32_t figure, int64_t *t)
{
	static const int now[] = {45, 61, 52};

	ENTER(h);
	if (sensor > 2 || card == 1 || (card == 0 && sensor == 0))
		return NOT_SUPPORTED;
	*t = figure == 0 ? now[sensor] : figure == 5 ? 100 : figure == 7 ? 110 : 0;
	if (card == 2 && sensor == 2 && figure == 0)
		*t *= 1000;
	return 0;
}

EXPORT uint32_t amdsmi_get_gpu_fan_rpms(void *h, uint32_t fan, int64_t *v)
{
	ENTER(h);
	if (card != 2 || fan)
		return NOT_SUPPORTED;
	*v = 1200;
	return 0;
}

EXPORT uint32_t amdsmi_get_gpu_fan_speed(void *h, uint32_t fan, int64_t *v)
{
	ENTER(h);
	if (card != 2 || fan)
		return NOT_SUPPORTED;
	*v = 51;
	return 0;
}

EXPORT uint32_t amdsmi_get_gpu_fan_speed_max(void *h, uint32_t fan, uint64_t *v)
{
	ENTER(h);
	if (card != 2 || fan)
		return NOT_SUPPORTED;
	*v = 255;
	return 0;
}

EXPORT uint32_t amdsmi_get_gpu_metrics_info(void *h, amdsmi_gpu_metrics_t *m)
{
	static uint64_t reads;
	long step = 0;
	uint64_t n;

	ENTER(h);
	if (card == 2)
		return NOT_SUPPORTED;
	memset(m, 0xFF, sizeof(*m));
	m->common_header.format_revision = 1;
	m->common_header.content_revision = 6;
	if (card == 1)
		return 0;
	control("step", 0, NULL, &step);
	n = __sync_add_and_fetch(&reads, (uint64_t)step);
	m->temperature_hotspot = 61;
	m->temperature_vrsoc = 47;
	m->temperature_hbm[0] = 50;
	m->temperature_hbm[1] = 51;
	m->indep_throttle_status = 0x10;
	m->current_socket_power = 421;
	m->vcn_activity[0] = 3;
	m->gfxclk_lock_status = 2;
	m->current_gfxclks[0] = 2100;
	m->current_gfxclks[1] = 2090;
	m->current_socclks[0] = 1000;
	m->current_uclk = 1300;
	m->accumulation_counter = 1000 + n;
	m->prochot_residency_acc = 5;
	m->ppt_residency_acc = 100 + n / 2;
	m->socket_thm_residency_acc = 0;
	m->vr_thm_residency_acc = ~0ull;
	m->hbm_thm_residency_acc = 0;
	m->num_partition = 1;
	m->xcp_stats[0].gfx_busy_inst[0] = 97;
	m->xcp_stats[0].gfx_busy_inst[1] = 88;
	m->xcp_stats[0].jpeg_busy[0] = 0;
	m->xcp_stats[0].gfx_below_host_limit_acc[0] = n;
	return 0;
}

EXPORT uint32_t amdsmi_get_gpu_perf_level(void *h, uint32_t *p)
{
	ENTER(h);
	*p = card == 1 ? 0x100 : 8;
	return 0;
}

EXPORT uint32_t amdsmi_is_gpu_power_management_enabled(void *h, bool *b)
{
	ENTER(h);
	*b = true;
	return 0;
}

EXPORT uint32_t amdsmi_get_violation_status(void *h, amdsmi_violation_status_t *v)
{
	ENTER(h);
	if (card == 2)
		return NOT_SUPPORTED;
	memset(v, 0xFF, sizeof(*v));
	if (card == 1)
		return 0;
	v->per_ppt_pwr = 25;
	v->active_ppt_pwr = 1;
	v->per_prochot_thrm = 0;
	v->active_prochot_thrm = 0;
#if ABI > 25
	v->per_gfx_clk_below_host_limit_pwr[0][0] = 12;
	v->per_gfx_clk_below_host_limit_pwr[0][1] = 0;
	v->active_gfx_clk_below_host_limit_pwr[0][0] = 1;
	v->active_gfx_clk_below_host_limit_pwr[0][1] = 0;
#endif
	return 0;
}

/* A process that uses card 0, one the driver lists everywhere, and on card 0 many. */
EXPORT uint32_t amdsmi_get_gpu_process_list(void *h, uint32_t *n, amdsmi_proc_info_t *list)
{
	uint32_t have, room = *n;
	long many = 0;

	ENTER(h);
	if (card == 1)
		return NOT_SUPPORTED;
	control("processes", 0, NULL, &many);
	have = 2 + (card == 0 ? (uint32_t)many : 0);
	*n = have;
	if (have > room)
		return ABI == 25 ? 57 : 39;
	for (uint32_t i = 0; i < have; i++) {
		amdsmi_proc_info_t *p = &list[i];
		int busy = i > 0 && card == 0;

		memset(p, 0, sizeof(*p));
		p->pid = 5000 - i;
		strcpy(p->name, i ? "/usr/bin/python3.12" : "idle");
		p->mem = busy ? 8ull << 30 : 0;
		p->memory_usage.vram_mem = busy ? 8ull << 30 : 0;
		p->memory_usage.gtt_mem = busy ? 3ull << 20 : 0;
		p->engine_usage.gfx = busy ? 1500000000 : 0;
		if (busy)
			strcpy(p->container_name, "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");
#if ABI > 25
		p->cu_occupancy = busy ? 120 : 0xFFFFFFFF;
#endif
#if ABI > 26
		p->evicted_time = busy ? 250 : 0;
		p->sdma_usage = busy ? 1000000 : 0;
#endif
	}
	return 0;
}

EXPORT uint32_t amdsmi_get_fw_info(void *h, amdsmi_fw_info_t *f)
{
	static const struct { uint32_t id; uint64_t version; } have[] = {{77, 0x00557b00}, {7, 177}, {30, 0x0036021d}, {999, 1}};

	ENTER(h);
	if (card == 1)
		return NOT_SUPPORTED;
	memset(f, 0, sizeof(*f));
	f->num_fw_info = 4;
	for (int i = 0; i < 4; i++) {
		f->fw_info_list[i].fw_id = have[i].id;
		f->fw_info_list[i].fw_version = have[i].version;
	}
	return 0;
}

EXPORT uint32_t amdsmi_get_gpu_total_ecc_count(void *h, amdsmi_error_count_t *e)
{
	ENTER(h);
	if (card)
		return NOT_SUPPORTED;
	memset(e, 0, sizeof(*e));
	e->correctable_count = 12;
	e->uncorrectable_count = 1;
	return 0;
}

EXPORT uint32_t amdsmi_get_gpu_ecc_count(void *h, uint64_t block, amdsmi_error_count_t *e)
{
	ENTER(h);
	if (card)
		return NOT_SUPPORTED;
	memset(e, 0, sizeof(*e));
	if (block == 1)
		e->correctable_count = 12;
	if (block == 4)
		e->uncorrectable_count = 1;
	return block == 2 ? NOT_SUPPORTED : 0;
}

EXPORT uint32_t amdsmi_get_gpu_ecc_enabled(void *h, uint64_t *bits)
{
	ENTER(h);
	if (card)
		return NOT_SUPPORTED;
	*bits = 1 | 2 | 4;
	return 0;
}

EXPORT uint32_t amdsmi_get_gpu_ras_feature_info(void *h, amdsmi_ras_feature_t *f)
{
	ENTER(h);
	if (card)
		return NOT_SUPPORTED;
	memset(f, 0, sizeof(*f));
	f->ras_eeprom_version = 0x30000;
	f->ecc_correction_schema_flag = 2 | 4 | 8;
	return 0;
}

EXPORT uint32_t amdsmi_get_gpu_bad_page_threshold(void *h, uint32_t *n)
{
	ENTER(h);
	if (card)
		return NOT_SUPPORTED;
	*n = 587;
	return 0;
}

EXPORT uint32_t amdsmi_get_gpu_bad_page_info(void *h, uint32_t *n, amdsmi_retired_page_record_t *p)
{
	ENTER(h);
	if (card == 1)
		return NOT_SUPPORTED;
	if (card == 2) {
		*n = 0;
		return 0;
	}
	for (uint32_t i = 0; p && i < 2; i++) {
		p[i].page_address = 0x1000 * (i + 1);
		p[i].page_size = 4096;
		p[i].status = i;
	}
	*n = 2;
	return 0;
}

EXPORT uint32_t amdsmi_get_xgmi_info(void *h, amdsmi_xgmi_info_t *x)
{
	ENTER(h);
	if (card == 2)
		return NOT_SUPPORTED;
	memset(x, 0, sizeof(*x));
	x->xgmi_lanes = 16;
	x->xgmi_hive_id = 0x3f4cffef;
	x->xgmi_node_id = 0x77 + (uint64_t)card;
	return 0;
}

EXPORT uint32_t amdsmi_get_link_metrics(void *h, amdsmi_link_metrics_t *l)
{
	int xgmi = ABI == 25 ? 1 : 2;

	ENTER(h);
	if (card == 2)
		return NOT_SUPPORTED;
	memset(l, 0, sizeof(*l));
	l->num_links = 3;
	for (int i = 0; i < 3; i++) {
		uint64_t bdf = (uint64_t)(0xc1 + i) << 8; /* the first is the card itself, the last is no XGMI */

		memcpy(&l->links[i].bdf, &bdf, sizeof(bdf));
		l->links[i].bit_rate = 32;
		l->links[i].max_bandwidth = 512;
		l->links[i].link_type = (uint32_t)(i < 2 ? xgmi : 3 - xgmi);
		l->links[i].read = 1000;
		l->links[i].write = card == 1 ? ~0ull : 2000;
	}
	return 0;
}

EXPORT uint32_t amdsmi_get_gpu_xgmi_link_status(void *h, amdsmi_xgmi_link_status_t *s)
{
	ENTER(h);
	memset(s, 0, sizeof(*s));
	s->total_links = 2;
	s->status[1] = 1;
	return card == 0 ? 0 : NOT_SUPPORTED;
}

EXPORT uint32_t amdsmi_gpu_xgmi_error_status(void *h, uint32_t *s)
{
	ENTER(h);
	*s = 0;
	return 0;
}

EXPORT uint32_t amdsmi_get_gpu_compute_partition(void *h, char *to, uint32_t n)
{
	ENTER(h);
	if (card)
		return NOT_SUPPORTED;
	snprintf(to, n, "SPX");
	return 0;
}

EXPORT uint32_t amdsmi_get_gpu_memory_partition(void *h, char *to, uint32_t n)
{
	ENTER(h);
	if (card)
		return NOT_SUPPORTED;
	snprintf(to, n, "NPS1");
	return 0;
}

EXPORT uint32_t amdsmi_get_gpu_memory_partition_config(void *h, amdsmi_memory_partition_config_t *c)
{
	ENTER(h);
	if (card)
		return NOT_SUPPORTED;
	memset(c, 0, sizeof(*c));
	*(uint32_t *)&c->partition_caps = 1 | 4;
	c->mp_mode = 1;
	return 0;
}

EXPORT uint32_t amdsmi_get_gpu_accelerator_partition_profile_config(void *h, amdsmi_accelerator_partition_profile_config_t *c)
{
	ENTER(h);
	if (card)
		return NOT_SUPPORTED;
	memset(c, 0, sizeof(*c));
	c->num_profiles = 2;
	c->num_resource_profiles = 2;
	c->resource_profiles[0].profile_index = 0;
	c->resource_profiles[0].resource_type = 0;
	c->resource_profiles[0].partition_resource = 8;
	c->resource_profiles[0].num_partitions_share_resource = 1;
	c->resource_profiles[1].profile_index = 1;
	c->resource_profiles[1].resource_type = 2;
	c->resource_profiles[1].partition_resource = 1;
	c->resource_profiles[1].num_partitions_share_resource = 2;
	for (uint32_t i = 0; i < 2; i++) {
		c->profiles[i].profile_type = i ? 5 : 1;
		c->profiles[i].num_partitions = i ? 8 : 1;
		*(uint32_t *)&c->profiles[i].memory_caps = i ? 1 | 4 : 1;
		c->profiles[i].profile_index = i;
		c->profiles[i].num_resources = 1;
		c->profiles[i].resources[0][0] = i;
	}
	return 0;
}

EXPORT uint32_t amdsmi_topo_get_link_type(void *h, void *to, uint64_t *hops, uint32_t *type)
{
	ENTER(h);
	*hops = 1;
	*type = card == 2 || number(to) == 2 ? 1 : 2;
	return 0;
}

EXPORT uint32_t amdsmi_topo_get_link_weight(void *h, void *to, uint64_t *weight)
{
	ENTER(h);
	*weight = card == 2 || number(to) == 2 ? 72 : 15;
	return 0;
}

EXPORT uint32_t amdsmi_is_P2P_accessible(void *h, void *to, bool *b)
{
	ENTER(h);
	*b = number(to) != 2;
	return 0;
}

EXPORT uint32_t amdsmi_topo_get_p2p_status(void *h, void *to, uint32_t *type, amdsmi_p2p_capability_t *c)
{
	ENTER(h);
	(void)to;
	*type = 2;
	memset(c, 0xFF, sizeof(*c));
	c->is_iolink_coherent = 1;
	c->is_iolink_dma = 0;
	return 0;
}

EXPORT uint32_t amdsmi_get_minmax_bandwidth_between_processors(void *h, void *to, uint64_t *lo, uint64_t *hi)
{
	ENTER(h);
	if (card == 2 || number(to) == 2)
		return NOT_SUPPORTED;
	*lo = 50000;
	*hi = 64000;
	return 0;
}

EXPORT uint32_t amdsmi_init_gpu_event_notification(void *h)
{
	ENTER(h);
	record("event_init", card, 0, 0);
	return 0;
}

EXPORT uint32_t amdsmi_set_gpu_event_notification_mask(void *h, uint64_t mask)
{
	ENTER(h);
	record("event_mask", card, (long long)mask, 0);
	return 0;
}

EXPORT uint32_t amdsmi_stop_gpu_event_notification(void *h)
{
	ENTER(h);
	record("event_stop", card, 0, 0);
	return 0;
}

/* Events are lines "CARD KIND TEXT" of the file "events", each told once. */
EXPORT uint32_t amdsmi_get_gpu_event_notification(int timeout, uint32_t *n, amdsmi_evt_notification_data_t *to)
{
	static long told;
	uint32_t room = *n;
	char line[512];
	FILE *f;

	ENTER_ANY(-1);
	*n = 0;
	for (int waited = 0; waited <= timeout && !*n; waited += 5) {
		f = beside("events", "r");
		if (f && !fseek(f, told, SEEK_SET)) {
			int card, kind, at;

			while (*n < room && fgets(line, sizeof(line), f) && strchr(line, '\n')) {
				told = ftell(f);
				line[strcspn(line, "\n")] = 0;
				if (sscanf(line, "%d %d %n", &card, &kind, &at) < 2)
					continue;
				to[*n].processor_handle = HANDLE(card);
				to[*n].event = (uint32_t)kind;
				snprintf(to[*n].message, sizeof(to[*n].message), "%s", line + at);
				++*n;
			}
		}
		if (f)
			fclose(f);
		usleep(5000);
	}
	return *n ? 0 : 40;
}

#define SETTER(name, types, a, b) EXPORT uint32_t name types { ENTER(h); record(#name, card, (long long)(a), (long long)(b)); return 0; }

SETTER(amdsmi_set_power_cap, (void *h, uint32_t sensor, uint64_t cap), sensor, cap)
SETTER(amdsmi_set_gpu_perf_level, (void *h, uint32_t level), level, 0)
SETTER(amdsmi_set_gpu_perf_determinism_mode, (void *h, uint64_t mhz), mhz, 0)
SETTER(amdsmi_set_gpu_fan_speed, (void *h, uint32_t fan, uint64_t speed), fan, speed)
SETTER(amdsmi_reset_gpu_fan, (void *h, uint32_t fan), fan, 0)
SETTER(amdsmi_set_gpu_compute_partition, (void *h, uint32_t type), type, 0)
SETTER(amdsmi_set_gpu_memory_partition, (void *h, uint32_t type), type, 0)
SETTER(amdsmi_reset_gpu, (void *h), 0, 0)

EXPORT uint32_t amdsmi_set_gpu_clk_limit(void *h, uint32_t clock, uint32_t limit, uint64_t mhz)
{
	ENTER(h);
	record("amdsmi_set_gpu_clk_limit", card, clock * 10 + limit, (long long)mhz);
	return 0;
}
