/* The opening of rocwire.dll, as the C of a small library sees it. */
#ifndef ROCWIRE_STUBS_LAZY_WINDOWS_H
#define ROCWIRE_STUBS_LAZY_WINDOWS_H

typedef void (*rw_function)(void);

/* The table of rocwire.dll's functions; NULL while it is not open, or something that
 * happened has yet to be told to it: then the next call does that first. */
extern const rw_function *_Atomic rw_table;

/* The same as soon as it is open. */
extern const rw_function *_Atomic rw_opened;

/* rw_open opens rocwire.dll if it is not open, tells it what there is to tell, and
 * returns its table. It ends the process if that cannot be done. */
const rw_function *rw_open(void);

/* rw_catch_up tells rocwire.dll what happened, and makes rw_table rw_opened. One
 * thread at a time calls it. */
void rw_catch_up(void);

#endif
