package main

import "runtime"

// maxThreads is how many threads run Go at once. What can be kept for each of them is, so that
// memory grows with their number, and a machine with 8 cards has some hundred cores, all of
// which have other things to do.
const maxThreads = 2

// saveMemory keeps the program small, which has its place beside the work it watches.
// GOMAXPROCS says otherwise. Profiles of memory, which take some themselves, are
// only kept where they can be asked for.
func saveMemory(getenv func(string) string, profiles bool) {
	if getenv("GOMAXPROCS") == "" && runtime.GOMAXPROCS(0) > maxThreads {
		runtime.GOMAXPROCS(maxThreads)
	}
	if !profiles {
		runtime.MemProfileRate = 0
	}
}
