// Package confine is the boundary that the operating system draws around a session process: what a client reaches that has taken one over.
//
// It is drawn in three places, because each can do what the others cannot:
//
//   - by the thread that starts session processes ([Boundary.Thread]): it leaves the machine's network, drops its capabilities' bounding set,
//     gives up new privileges and confines itself to the files a session needs (Landlock). Session processes are born with that, and none
//     of it costs them a microsecond.
//   - at the fork ([Boundary.Prepare]): a user of its own for every living session, a PID namespace, an environment with nothing but what a
//     runtime reads, the parent's death.
//   - in the session process ([Enter]), before it reads anything of a client: no memory that others may read, limits, and a filter of system calls
//     for all threads.
//
// A parent that may not change users gets user namespaces instead, where the kernel lets it make them. What is not to be had on a machine is left
// out, and [Boundary.Summary] says so: the worker logs it at its start.
//
// A system call that is not allowed fails with EPERM; it does not kill. A library that only tries what a kernel offers goes on, and a call
// that was forgotten here costs one function instead of all sessions.
package confine
