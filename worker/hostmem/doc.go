// Package hostmem is the account of the host memory that one session may take of its machine. A quota on device memory says nothing of what a
// session's own process holds, and a few bytes from a client can make a lot of that.
//
// Whoever is about to take memory that a client decides on asks first (Take), and gives back what is over (Give). What is asked for and not there is
// hipErrorOutOfMemory for that call; nothing ends.
//
// What counts, each for what it may take at most:
//
//   - host memory of the program that devices use (hipHostMalloc, hipHostRegister, managed memory), twice: the session has it, and what both sides
//     know of it;
//   - modules, from before their bytes are read until they are unloaded: the bytes, and what is known of their kernels and variables;
//   - executable graphs: each operation with its arguments, and their description while it is read;
//   - objects: streams, events, functions, textures, surfaces, arrays, pools, physical allocations, each at what the runtime keeps of it (Cost);
//   - mappings and reservations of addresses, allocations and imports: what is kept of each;
//   - calls that wait beside the line, from the 257th on: a goroutine each.
//
// What is queued is apart (Queue) and is never refused: when the streams have as much to do as they may, the session reads no further until they have
// done half of it, and the client that sends waits. Streams may wait for what comes next from the client; so when nothing ends for a while, more may be queued,
// which is taken from the account, half of it at most. Copies' buffers (Staging) are apart, too: who needs one waits for one.
//
// AMD's library does not say what it has queued; package rocm counts what its streams are told, and has the library's events say what is done. What the library
// takes for itself is not counted: its compiler, and what kernels print through and allocate. The control group holds the process to that, where there is one.
//
// Device memory of simulated cards lies in the host's memory, too, but is not counted here: that is what the quota of the cards is for. Nor is what does
// not grow with what a client does: the program, the connection's buffers, statistics, what the simulator keeps of code that it has decoded and translated, each
// bounded where it is.
package hostmem
