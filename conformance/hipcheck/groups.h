/* The groups of behaviours.c, one or some a file. */
#ifndef GROUPS_H
#define GROUPS_H
#include "hipcheck.h"
void last_error(void), streams(void), default_stream(void), events(void), capture(void), capture_states(void), graph(void), graph_update(void),
	pool(void), memory(void), copies(void), pointer(void), attributes(void), functions_of(void), modules(void), launch(void), faults(void),
	fault_store(void), fault_load(void), fault_trap(void), fault_graph(void);
#endif
