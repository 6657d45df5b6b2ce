/* What libamd_smi does before anything is opened: nothing that could be passed on. */
#include "lazy.h"

void rw_replay(void)
{
}
