/* The host's log callback, and whether this process may use the library at all. */
#ifndef RW_CALLBACK_H
#define RW_CALLBACK_H

#include "accelerator.h"

/* rw_accel_register sets the callback, NULL: none. It returns when the one before is
 * not running any more, but waits no longer than a second, and not for itself. */
void rw_accel_register(LogCallbackFunc callback);

/* rw_accel_tell calls the callback; false if there is none. */
bool rw_accel_tell(const char *level, const char *message);

/* rw_accel_gone says whether this process is the child of a fork: Go's threads do not
 * survive one, so nothing behind the exports works there. */
bool rw_accel_gone(void);

#endif
