/* The real library: opening it and calling its functions. */
#ifndef ROCWIRE_AMDSMI_LIBRARY_H
#define ROCWIRE_AMDSMI_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

/* rocwire_amdsmi_open loads the library at path, or found under that name, and
 * writes the file it was loaded from into file. On failure it returns null and
 * writes there what dlerror said, truncated. */
void *rocwire_amdsmi_open(const char *path, char *file, size_t size);

/* rocwire_amdsmi_call calls fn with up to six arguments, each an integer or a
 * pointer, and returns its amdsmi_status_t. */
uint32_t rocwire_amdsmi_call(void *fn, const uint64_t *args);

#endif
