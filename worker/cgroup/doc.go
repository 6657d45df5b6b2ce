// Package cgroup gives every session process a control group (version 2) of its own, below one that its parent may divide: the kernel then holds
// the session to its memory and its threads, whatever runs in it, counts what nobody else sees (memory files that are mapped nowhere), and ends it with
// all it has started.
//
//	D                  delegated to the worker: by systemd (Delegate=yes), a container's own, or named
//	└── rocwire-PID    locked by the worker as long as it lives
//	    ├── worker     the worker itself, where it was in D: only leaves hold processes
//	    ├── session-1
//	    └── session-2
//
// Which controllers there are is the machine's matter. A group without any still ends a session as a whole.
package cgroup
