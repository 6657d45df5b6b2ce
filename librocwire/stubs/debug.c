/* What a debugger looks for in HSA's library: the list of the code objects that are
 * loaded, as the dynamic linker keeps one of libraries (struct r_debug). It is empty:
 * simulated cards have no debugger. */
#include <link.h>

struct r_debug _amdgpu_r_debug;
