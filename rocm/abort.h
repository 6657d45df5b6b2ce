/* What becomes of the process when a library gives it up. */
#ifndef ROCM_ABORT_H
#define ROCM_ABORT_H

/* From now on a thread that calls abort stands still, and a byte is written to fd. errno, or 0. */
int rocm_catch_aborts(int fd);

#endif
