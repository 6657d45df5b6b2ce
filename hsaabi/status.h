/* What is said of statuses. */
#ifndef RW_HSA_STATUS_H
#define RW_HSA_STATUS_H

#include "hsa/hsa.h"

/* rw_hsa_status_words are a status in words, NULL for what is none. */
const char *rw_hsa_status_words(hsa_status_t status);

#endif
