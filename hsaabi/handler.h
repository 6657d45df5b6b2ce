/* The thread that calls handlers. */
#ifndef RW_HSA_HANDLER_H
#define RW_HSA_HANDLER_H

#include "signal.h"

/* rw_hsa_handlers_end ends it with all handlers, once the one that is being called has returned. */
void rw_hsa_handlers_end(void);

#endif
