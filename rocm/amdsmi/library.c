#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include "library.h"

void *rocwire_amdsmi_open(const char *path, char *file, size_t size)
{
	/* Deep binding: a library of the same names that this process has loaded
	 * already, ours for example, must not get the library's calls to itself. */
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	struct link_map *map = NULL;

	if (!lib) {
		snprintf(file, size, "%s", dlerror());
		return NULL;
	}
	if (dlinfo(lib, RTLD_DI_LINKMAP, &map) || !map || !map->l_name[0]) {
		snprintf(file, size, "%s: cannot tell which file that is", path);
		dlclose(lib);
		return NULL;
	}
	snprintf(file, size, "%s", map->l_name);
	return lib;
}

uint32_t rocwire_amdsmi_call(void *fn, const uint64_t *args)
{
	/* All 64-bit calling conventions that ROCm runs on (x86-64 and AArch64 System
	 * V) pass integers and pointers in the same registers, read narrower ones
	 * from the low half, and let a function ignore arguments it does not take. */
	uint32_t (*f)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t) = fn;

	return f(args[0], args[1], args[2], args[3], args[4], args[5]);
}
