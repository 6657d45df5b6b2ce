package main

import "syscall"

// lookupEnv reads the environment as it is now: the process's, which each of the C libraries that a program may have keeps its own copy of.
func lookupEnv(name string) (string, bool) { return syscall.Getenv(name) }
