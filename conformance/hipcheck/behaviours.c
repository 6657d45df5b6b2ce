/* The groups that a table cannot say. */
#include "groups.h"

const struct group behaviours[] = {
	{"last error", last_error, 0, 0},
	{"streams", streams, 0, 0},
	{"default stream", default_stream, 0, 0},
	{"events", events, 0, 0},
	{"capture", capture, 1, 0},
	{"capture states", capture_states, 0, 0},
	{"graph", graph, 0, 0},
	{"graph update", graph_update, 0, 0},
	{"pool", pool, 0, 0},
	{"memory", memory, 0, 0},
	{"copies", copies, 0, 0},
	{"pointer", pointer, 1, 0},
	{"attributes", attributes, 1, 0},
	{"functions", functions_of, 0, 0},
	{"modules", modules, 0, 0},
	{"launch", launch, 0, 0},
	{"faults", faults, 0, 0},
	{"fault wild store", fault_store, 0, 0},
	{"fault wild load", fault_load, 0, 0},
	{"fault trap", fault_trap, 0, 0},
	{"fault in a graph", fault_graph, 0, 0},
	{0},
};
