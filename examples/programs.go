// Package examples lists the example programs in C: ordinary HIP programs, each of
// which tests one family of functions and says at its end that all was as it
// should be. They can judge any libamdhip64.so.6 (go run ./conformance -only hip-c).
package examples

// Program is a run of one of the programs.
type Program struct {
	Run   string // its source from the repository's root, and its argument
	Wants string // what must stand in its output; its exit status must be 0
}

// OwnWords are the runs whose Wants are rocwire's words: another library says it
// in others.
var OwnWords = map[string]bool{
	"examples/tests/errors.c": true,
}

// Programs are what is run, in this order.
var Programs = []Program{
	{"examples/hello_hip/hello_hip.c", "PASSED: 1048576 elements; c[0] = 1, c[524288] = 1572865, c[1048575] = 3145726"},
	{"examples/tests/quick.c", "quick: ok"},
	{"examples/tests/queries.c", "queries: ok"},
	{"examples/tests/function_attributes.c", "function attributes: ok"},
	{"examples/tests/api_basic.c", "ok"},
	{"examples/tests/api_more.c", "ok"},
	{"examples/tests/variants.c", "variants: ok"},
	{"examples/tests/contexts.c", "contexts: ok"},
	{"examples/tests/absent.c", "absent: ok"},
	{"examples/tests/images.c", "images: ok"},
	{"examples/tests/boxes.c", "boxes: ok"},
	{"examples/tests/arrays.c", "arrays: ok"},
	{"examples/tests/texobjects.c", "texture objects: ok"},
	{"examples/tests/array_graphs.c", "array graphs: ok"},
	{"examples/tests/first.c", "ok"},
	{"examples/tests/first.c hidden", "ok"},
	{"examples/tests/stream_values.c", "ok"},
	{"examples/tests/advice.c", "ok"},
	{"examples/tests/pointers.c", "ok"},
	{"examples/tests/host_memory.c", "host memory: ok"},
	{"examples/tests/limits.c", "ok"},
	{"examples/tests/meminfo.c", "ok"},
	{"examples/tests/errors.c", "no binary for"},
	{"examples/tests/errors.c free", "ok"},
	{"examples/tests/errors.c range", "ok"},
	{"examples/tests/errors.c one", "ok"},
	{"examples/tests/streams_events.c", "ok"},
	{"examples/tests/graphs.c", "ok"},
	{"examples/tests/graph_nodes.c", "ok"},
	{"examples/tests/graph_edit.c", "graph edit: ok"},
	{"examples/tests/graph_driver.c", "graph driver: ok"},
	{"examples/tests/graph_symbols.c", "graph symbols: ok"},
	{"examples/tests/pools.c", "pools: ok"},
	{"examples/tests/vmm.c", "virtual memory: ok"},
	{"examples/tests/shareable.c", "shareable memory: ok"},
	{"examples/tests/ipc.c", "ipc: ok"},
	{"examples/tests/userobjects.c", "user objects: ok"},
	{"examples/tests/texrefs.c", "texture references: ok"},
	{"examples/tests/threads.c", "ok"},
	{"examples/tests/registration.c", "ok"},
	{"examples/tests/fork.c", "fork: ok"},
	{"examples/tests/signal_stack.c", "signal stack: ok"},
	{"examples/tests/cooperative.c", "cooperative: ok"},
	{"examples/tests/kernel_output.c", "before 7\nthread 7 of 1\nbefore 8\nthread 8 of 1\nthread 100: abc 2.250 100%\nafter\n"},
	{"examples/tests/kernel_output.c", "\nkernel output: ok\n"},
}
