/* AMD SMI's functions, for this library alone. Two of them have names that this library exports itself. */
#define rsmi_init rw_rsmi_init
#define rsmi_is_P2P_accessible rw_rsmi_is_P2P_accessible
#include "../stubs/zz_libamd_smi.S"
