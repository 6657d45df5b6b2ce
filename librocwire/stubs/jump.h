/* What the small libraries with a vendor's name consist of. An export continues in
 * the shared object, where slot's entry of TABLE says. Registers and stack stay as
 * the caller left them, so it serves functions of any signature; the registers it
 * needs are free at a function's entry. The first call opens the shared object
 * (lazy.c, lazy_windows.c).
 *
 *   JUMP bind, name, slot   an export
 *   NEXT name, slot         rw_next_name: the same function, for an export that C
 *                           in the small library has; only once it is open */
#define NAME_OF(x) #x
#define NAME(x) NAME_OF(x)

#ifdef _WIN32
#include "jump_windows.h"
#elif defined(__APPLE__)
#include "jump_darwin.h"
#include "jump_unix.h"
#else
#include "jump_elf.h"
#include "jump_unix.h"
#endif
