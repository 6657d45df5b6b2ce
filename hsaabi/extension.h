/* The tables of functions that extensions are reached by. */
#ifndef RW_HSA_EXTENSION_H
#define RW_HSA_EXTENSION_H

#include "hsa/hsa.h"

extern const hsa_ven_amd_loader_1_03_pfn_t rw_hsa_loader_table;
extern const hsa_ext_images_1_pfn_t rw_hsa_image_table;

/* rw_hsa_build is what HSA_AMD_SYSTEM_INFO_BUILD_VERSION says. */
const char *rw_hsa_build(void);

#endif
