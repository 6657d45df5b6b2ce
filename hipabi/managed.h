/* The memory of managed variables, which a program may use before any device is. */
#ifndef ROCWIRE_HIPABI_MANAGED_H
#define ROCWIRE_HIPABI_MANAGED_H

#include <stdint.h>
#include <string.h>

#ifdef _WIN32
#include <windows.h>
#else
#include <sys/mman.h>
#endif

/* Where neither this process nor a worker's has anything: above what is reserved for
 * device addresses, below libraries and stacks. */
#define MANAGED_BEGIN 0x7e0000000000u
#define MANAGED_END 0x7e8000000000u

static inline uint64_t managed_pages(uint64_t size)
{
	return size ? (size + 4095) & ~(uint64_t)4095 : 4096;
}

#ifdef _WIN32
enum { MANAGED_ALIGN = 65536 }; /* what the system reserves begins at a multiple of it */

/* managed_map is zeroed memory at an address, or anywhere if that is 0; NULL if there
 * is none. */
static inline void *managed_map(uint64_t at, uint64_t pages)
{
	return VirtualAlloc((void *)(uintptr_t)at, pages, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

static inline void managed_free(void *p, uint64_t size)
{
	(void)size;
	VirtualFree(p, 0, MEM_RELEASE);
}
#else
#ifdef __APPLE__
enum { MANAGED_ALIGN = 16384 }; /* a page of Apple's processors */
#define MAP_FIXED_NOREPLACE 0   /* an address is a hint */
#else
enum { MANAGED_ALIGN = 4096 };
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif
#endif

/* managed_map is zeroed memory at an address, or anywhere if that is 0; NULL if there
 * is none. */
static inline void *managed_map(uint64_t at, uint64_t pages)
{
	const int prot = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	void *p = mmap((void *)(uintptr_t)at, pages, prot, flags | (at ? MAP_FIXED_NOREPLACE : 0), -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	if (at && p != (void *)(uintptr_t)at) { /* it was a hint only */
		munmap(p, pages);
		return NULL;
	}
	return p;
}

static inline void managed_free(void *p, uint64_t size)
{
	munmap(p, managed_pages(size));
}
#endif

/* managed_memory is size bytes with the contents of init, or zero; NULL if there is
 * no memory. */
static inline void *managed_memory(const void *init, uint64_t size, uint64_t align)
{
	static uint64_t next = MANAGED_BEGIN; /* called under a lock */
	uint64_t pages = managed_pages(size);
	void *p = NULL;
	if (pages < size)
		return NULL;
	if (align < MANAGED_ALIGN)
		align = MANAGED_ALIGN;
	for (int i = 0; i < 64 && !p; i++) {
		uint64_t at = (next + align - 1) & ~(align - 1);
		if (at < MANAGED_BEGIN || at > MANAGED_END || pages > MANAGED_END - at)
			break;
		next = at + pages + 4096;
		p = managed_map(at, pages);
	}
	if (!p)
		p = managed_map(0, pages);
	if (p && init)
		memcpy(p, init, size);
	return p;
}

#endif
