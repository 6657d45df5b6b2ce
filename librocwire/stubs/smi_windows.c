/* What amd_smi.dll does before anything is opened: nothing. */
#include "lazy_windows.h"

void rw_catch_up(void)
{
	rw_table = rw_opened;
}
