/* What libamd_smi and libhsa-runtime64 do before anything is opened: nothing that could be passed on. */
#include "lazy.h"

void rw_replay(void)
{
}
