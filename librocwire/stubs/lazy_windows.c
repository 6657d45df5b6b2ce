/* Opens rocwire.dll, which lies beside this library, when something in it is first
 * called: never while this library is loaded or unloaded, which is when nothing may be
 * opened and nothing may wait for a thread. */
#include "lazy_windows.h"

#include <windows.h>

#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

extern const char rw_table_name[];

const rw_function *_Atomic rw_table;
const rw_function *_Atomic rw_opened;

static HMODULE object;

/* path is where rocwire.dll must be; NULL if that cannot be said. */
static const wchar_t *path(void)
{
	static wchar_t p[32768];
	static const wchar_t name[] = L"rocwire.dll";
	HMODULE self;
	if (!GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT, (const wchar_t *)rw_table_name, &self))
		return NULL;
	DWORD n = GetModuleFileNameW(self, p, sizeof p / sizeof *p);
	while (n > 0 && p[n - 1] != L'\\' && p[n - 1] != L'/')
		n--;
	if (n == 0 || n + sizeof name / sizeof *name > sizeof p / sizeof *p)
		return NULL;
	wcscpy(p + n, name);
	return p;
}

static void open_object(void)
{
	const wchar_t *p = path();
	const rw_function *t = NULL;
	object = p ? LoadLibraryExW(p, NULL, LOAD_WITH_ALTERED_SEARCH_PATH) : NULL;
	DWORD why = GetLastError();
	if (object)
		t = (const rw_function *)(const void *)GetProcAddress(object, rw_table_name);
	if (!t) {
		fprintf(stderr, object ? "rocwire: rocwire.dll is of another build\n" : "rocwire: rocwire.dll cannot be opened: error %lu\n", why);
		fflush(stderr);
		abort();
	}
	rw_opened = t;
}

const rw_function *rw_open(void)
{
	static SRWLOCK lock = SRWLOCK_INIT;
	AcquireSRWLockExclusive(&lock);
	if (!rw_opened)
		open_object();
	if (!rw_table)
		rw_catch_up();
	ReleaseSRWLockExclusive(&lock);
	return rw_opened;
}

/* end has what is on its way sent while there still are threads to do it. */
static void end(void)
{
	void (*f)(void) = object ? (void (*)(void))(void *)GetProcAddress(object, "rocwire_end") : NULL;
	if (f)
		f();
}

static int __cdecl end_int(void)
{
	end();
	return 0;
}

/* When a library is told that the process ends, all other threads are gone. So end is
 * called by the C library of the program, whichever it has, after what the program
 * itself has asked that to call. For that, this library stays loaded. */
__attribute__((constructor)) static void begin(void)
{
	typedef int(__cdecl * function)(void);
	HMODULE self, c;
	if (!GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN, (const wchar_t *)rw_table_name, &self))
		return;
	if ((c = GetModuleHandleA("msvcrt.dll"))) {
		function(__cdecl * onexit)(function) = (void *)GetProcAddress(c, "_onexit");
		if (onexit)
			onexit(end_int);
	}
	if ((c = GetModuleHandleA("ucrtbase.dll"))) {
		int(__cdecl * onexit)(void(__cdecl *)(void)) = (void *)GetProcAddress(c, "_crt_atexit");
		if (onexit)
			onexit(end);
	}
}
