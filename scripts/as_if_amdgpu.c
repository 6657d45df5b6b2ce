/*
 * A preloaded library for as_if_amdgpu.sh: whoever opens or stats
 * /sys/module/amdgpu/initstate gets the file AS_IF_AMDGPU_INITSTATE instead.
 * The functions are those that Python calls on glibc.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *real(const char *path)
{
	const char *file = getenv("AS_IF_AMDGPU_INITSTATE");

	if (file && path && strcmp(path, "/sys/module/amdgpu/initstate") == 0)
		return file;
	return path;
}

static mode_t mode_of(int flags, va_list ap)
{
	return flags & (O_CREAT | __O_TMPFILE) ? va_arg(ap, mode_t) : 0;
}

int open64(const char *path, int flags, ...)
{
	int (*next)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open64");
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = mode_of(flags, ap);
	va_end(ap);
	return next(real(path), flags, mode);
}

int openat64(int dir, const char *path, int flags, ...)
{
	int (*next)(int, const char *, int, ...) = (int (*)(int, const char *, int, ...))dlsym(RTLD_NEXT, "openat64");
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = mode_of(flags, ap);
	va_end(ap);
	return next(dir, real(path), flags, mode);
}

int stat64(const char *path, struct stat64 *st)
{
	int (*next)(const char *, struct stat64 *) = (int (*)(const char *, struct stat64 *))dlsym(RTLD_NEXT, "stat64");

	return next(real(path), st);
}

int fstatat64(int dir, const char *path, struct stat64 *st, int flags)
{
	int (*next)(int, const char *, struct stat64 *, int) =
		(int (*)(int, const char *, struct stat64 *, int))dlsym(RTLD_NEXT, "fstatat64");

	return next(dir, real(path), st, flags);
}
