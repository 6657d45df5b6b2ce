/* The opening of the shared object, as the C of a small library sees it. */
#ifndef ROCWIRE_STUBS_LAZY_H
#define ROCWIRE_STUBS_LAZY_H

#pragma GCC visibility push(hidden)

typedef void (*rw_function)(void);

/* The table of the shared object's functions, NULL until everything may use it. */
extern const rw_function *rw_table;

/* The same, a little earlier: for the rw_next_ functions. Read under the lock. */
extern const rw_function *rw_opened;

/* rw_open opens the shared object if it is not open, and returns its table. It ends
 * the process if that cannot be done. */
const rw_function *rw_open(void);

/* rw_replay is called under the lock when the shared object has just been opened: it
 * passes on what happened before. */
void rw_replay(void);

void rw_lock(void);
void rw_unlock(void);

#pragma GCC visibility pop

#endif
