// Package worker serves GPUs to clients over the network.
//
// A worker is one parent process and one process for each client. The parent listens, reads a client's Hello with a time limit, answers
// management clients (purpose "smi") itself, and hands the socket of a HIP client to a session process, which from then on speaks with
// the client directly. So a fault, a leak or a crash ends one session alone, what the GPU says of a process belongs to exactly one
// client, and everything a client held is gone when its process is.
//
// Trust: nothing that arrives from the network is believed before it is checked; sizes are bounded before memory is taken, handles are
// looked up in the session's own tables, addresses must lie in the session's device memory. The parent trusts its session processes no
// more than that: they run foreign kernels, so their reports are bounded, checked, and attributed by the socket they arrive on.
// The identity in a Hello is the client's claim; it is shown, and nothing is granted because of it.
package worker
