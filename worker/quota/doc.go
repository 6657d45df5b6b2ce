// Package quota holds a session to its share of the cards: a [Runtime] stands in
// front of the real one and refuses memory beyond a limit and delays kernels beyond
// a share of a device's time.
//
// # Memory
//
// What counts is what the session has of a device: what was granted to its client to
// place allocations in, used or not, what the runtime placed itself, physical memory
// until it was released and is mapped nowhere, arrays, and the loaded modules. What a
// memory pool keeps after hipFreeAsync is the session's until the pool gives it back,
// which the quota has it do before it refuses anything.
//
// Memory of another session counts for the one that imports it as if it had allocated
// it, as long as it has it open or mapped, and for its exporter as long as that has not
// freed it. So memory that two sessions share counts for both: it lives as long as one
// of them holds it, and if it counted for its exporter alone, sessions could hand each
// other memory, free it, and have any amount. A card's own figures count it once.
//
// An allocation that would exceed the limit is ErrorOutOfMemory, and
// hipMemGetInfo and the device's properties show the limit as the device's size. A
// limit below what the session holds already takes nothing away from it: it gets no
// more until it holds less.
//
// # Time
//
// A share s lets kernels of a session run for s seconds in each second of a device, as
// far as one knows only afterwards how long a kernel takes: what one ran over is made
// up for by the pause before the next. Kernels are timed by events around each; at most
// [MaxOutstanding] of a device are under way unmeasured, and a session that was idle
// may run for [Burst] at once. Kernels that run side by side each count in full.
// Copies do not count. Without a share below 1 nothing is measured and nothing waits.
//
// A launch that has to wait holds up everything its session sends after it, and
// nobody else.
//
// # Together
//
// What a session has together with others (package joint) is asked of who keeps that account, beside the session's own limits and under the same rules:
// memory before it is allocated, time by a little at a time. See [Joint].
//
// # Trust
//
// The runtime runs in the session's own process, next to work of a client that may be
// malicious, but that work is on the device (or in the simulator's checked memory),
// and a client's messages reach the real runtime through this one only.
package quota
